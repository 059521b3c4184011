/** Draws the live view on stderr and reads its keys. What it shows is frame.ts's, what it knows model.ts's. */
import { BosunError } from '../../../contract/errors.ts';
import type { Recorded } from '../../../contract/event.ts';
import { isYesNo } from '../../../contract/question.ts';
import { fitColumns } from '../../../report/text/columns.ts';
import { spellControls } from '../../../report/text/plain.ts';
import { isForeground } from '../foreground.ts';
import { renderFrame, shownRows, type FrameOptions } from './frame.ts';
import { Keys, type Key } from './keys.ts';
import { TypedLine } from './line.ts';
import type { LiveModel, ShownQuestion } from './model.ts';
import { needsLine, shownQuestion } from './question.ts';
import { QueuedMessage } from './queued-message.ts';
import { Screen } from './screen.ts';
import { OpenTask } from './task.ts';
import { errorStream, hasColor, painter } from '../output.ts';

const FRAME_MS = 100;
const PROMPT_COLUMNS_MAX = 24;
/** Times go on while nothing happens. */
const TICK_MS = 1000;
/** The log of a task that is opened grows. */
const OPEN_TICK_MS = 250;
/** Who types a word has the next letter sooner than this. */
const WORD_MS = 1000;

export interface LiveKeys {
  interrupt(): void;
  /** Where Ctrl-C does not cancel. */
  cancel?(): void;
  /** As a person says it, or the labels of choices; throws what does not fit. */
  answer(question: string, answer: string | readonly string[]): void;
  steer(task: string, text: string): void;
  /** The run with all its tasks, where none is named. */
  pause(task?: string): void;
  unpause(task?: string): void;
}

/** What is being typed, and what becomes of it. */
interface Typing {
  line: TypedLine;
  prompt: string;
  send(text: string): void;
}

export class LiveView {
  readonly #model: LiveModel;
  readonly #keys: LiveKeys;
  readonly #paint = painter(hasColor(process.stderr));
  readonly #screen = new Screen(errorStream());
  /** Absent where stdin is no terminal. */
  readonly #keyboard: Keys | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #next: NodeJS.Timeout | undefined;
  #notice = '';
  readonly #queued = new QueuedMessage();
  #selected: string | undefined;
  #open: OpenTask | undefined;
  #isSuspended = false;
  #isCancelling = false;
  /** When something was last typed that does not answer the question, which one key answers. */
  #strayAtMs = -Infinity;
  #typing: Typing | undefined;
  /** The question that is on the screen: a key answers no other, however soon that comes. */
  #asked: ShownQuestion | undefined;
  /** The choices that are marked, of a question that takes several. */
  #marked: { question: string; labels: Set<string> } | undefined;
  readonly #onStop = (): void => this.#suspend();
  readonly #onContinue = (): void => this.#goOn();
  readonly #onResize = (): void => this.changed();

  constructor(model: LiveModel, keys: LiveKeys) {
    this.#model = model;
    this.#keys = keys;
    if (process.stdin.isTTY)
      this.#keyboard = new Keys(
        process.stdin,
        (key) => this.#key(key),
        (text) => this.#text(text),
      );
    this.#tickEvery(TICK_MS);
    this.#draw();
    errorStream().on('resize', this.#onResize);
    process.on('SIGTSTP', this.#onStop);
    process.on('SIGCONT', this.#onContinue);
  }

  #tickEvery(ms: number): void {
    clearInterval(this.#ticker);
    this.#ticker = setInterval(() => this.#tick(), ms);
  }

  #tick(): void {
    if (this.#isSuspended) return this.#goOn();
    this.#open?.refresh();
    this.changed();
  }

  /** Ctrl-Z: the terminal is given back as it was. Agents go on meanwhile; the engine hears them afterwards. */
  #suspend(): void {
    this.#isSuspended = true;
    clearTimeout(this.#next);
    this.#next = undefined;
    this.#screen.suspend();
    this.#keyboard?.suspend();
    process.kill(process.pid, 'SIGSTOP');
  }

  /** In the background there is no terminal to draw on: it waits until there is. */
  #goOn(): void {
    if (!this.#isSuspended || !isForeground()) return;
    this.#isSuspended = false;
    this.#keyboard?.resume();
    this.#screen.resume();
    this.changed();
  }

  /** Draws soon; however much happens, not more often than that. */
  changed(): void {
    if (this.#isSuspended) return;
    this.#next ??= setTimeout(() => {
      this.#next = undefined;
      this.#draw();
    }, FRAME_MS);
  }

  notice(text: string): void {
    this.#notice = text;
    this.#queued.forget();
    this.changed();
  }

  seen(events: readonly Recorded[]): void {
    const told = this.#queued.seen(events);
    if (told !== undefined) this.notice(told);
    this.changed();
  }

  /** Takes the picture away and gives the terminal back. */
  close(): void {
    clearInterval(this.#ticker);
    clearTimeout(this.#next);
    process.off('SIGTSTP', this.#onStop);
    process.off('SIGCONT', this.#onContinue);
    errorStream().off('resize', this.#onResize);
    // It ends in the background: the terminal is somebody else's now, and its keys no reason to stay.
    this.#keyboard?.close(this.#isSuspended);
    this.#screen.close(this.#isSuspended);
  }

  #draw(): void {
    this.#asked = shownQuestion(this.#model, { open: this.#open, selected: this.#selected });
    this.#screen.draw(renderFrame(this.#model, this.#options()));
  }

  #options(): FrameOptions {
    return {
      columns: this.#screen.columns,
      rows: this.#screen.rows,
      nowMs: Date.now(),
      paint: this.#paint,
      hasKeys: this.#keyboard !== undefined,
      isAttached: this.#keys.cancel !== undefined,
      notice: this.#notice,
      selected: this.#selected,
      open: this.#open,
      typing: this.#typing && { prompt: this.#typing.prompt, text: this.#typing.line.text },
      marked: this.#marked?.question === this.#asked?.id ? this.#marked?.labels : undefined,
    };
  }

  #key(key: Key): void {
    if (key === 'ctrl-c') return this.#keys.interrupt();
    // To the whole job, as the terminal would.
    if (key === 'ctrl-z') return void process.kill(0, 'SIGTSTP');
    if (this.#typing) return this.#typeKey(this.#typing, key);
    if (this.#isCancelling) return this.#confirmCancel(key);
    if (this.#keys.cancel && key === 'c') {
      this.#isCancelling = true;
      return this.notice('cancel this run? [y]es [n]o');
    }
    if (this.#keyForQuestion(key)) return this.changed();
    if (key === 'p') return this.#pause(this.#open?.id);
    if (key === 's') return this.#steer(this.#open?.id ?? this.#selected);
    if (key === '?') return this.notice(this.#keysInWords());
    if (this.#open) {
      if (!this.#keyInTask(this.#open, key)) return this.#unknownKey(key);
    } else if (key === 'up' || key === 'down') this.#choose(key === 'down' ? 1 : -1);
    else if (key === 'enter' && this.#selected !== undefined) this.#openTask(this.#selected);
    else if (key === 'escape') this.#selected = undefined;
    else return this.#unknownKey(key);
    this.changed();
  }

  #keysInWords(): string {
    const cancel = this.#keys.cancel ? 'c cancel' : 'Ctrl-C stop';
    return `keys: ↑↓ enter open · esc back · d diff · p pause · s message · ${cancel}`;
  }

  /** Only what prints is worth a word. */
  #unknownKey(key: Key): void {
    if ([...key].length !== 1 || key === ' ') return;
    if (this.#asked && isYesNo(this.#asked)) return this.#stray();
    const { choices = [] } = this.#asked ?? {};
    const isNumber = /^[0-9]$/.test(key) && choices.length > 0;
    this.notice(
      isNumber
        ? `there is no choice ${key}, only 1–${Math.min(9, choices.length)}`
        : `${key} does nothing here · ? shows the keys`,
    );
  }

  /** Somebody types words at a question that one key answers. */
  #stray(): void {
    this.#strayAtMs = performance.now();
    this.notice('one key answers: stop typing for a second, then press y or n');
  }

  /** Whether the key was meant for the question that is shown. */
  #keyForQuestion(key: Key): boolean {
    const question = this.#asked;
    if (!question || !this.#model.isAsked(question.id)) return false;
    const { id, choices = [], several } = question;
    if (key === 'd' && question.diff !== undefined && !this.#open) {
      this.#openTask(question.task);
      this.#open!.show('wanted');
      return true;
    }
    if (this.#marked?.question !== id) this.#marked = undefined;
    if (isYesNo(question)) {
      if (!/^[yn]$/i.test(key)) return false;
      if (performance.now() - this.#strayAtMs < WORD_MS) {
        this.#stray(); // the y of "maybe" is no answer
        return true;
      }
      this.#answer(id, key.toLowerCase() === 'y' ? 'yes' : 'no');
      return true;
    }
    if (key === 'a' && needsLine(question)) {
      this.#type(`answer to ${shortLabel(question.label)}`, (text) => this.#answer(id, text));
      return true;
    }
    if (key === 'enter' && this.#marked) {
      this.#answer(id, [...this.#marked.labels]);
      return true;
    }
    const choice = /^[1-9]$/.test(key) ? choices[Number(key) - 1] : undefined;
    if (!choice) return false;
    if (several) this.#mark(id, choice.label);
    else this.#answer(id, [choice.label]);
    return true;
  }

  #mark(question: string, label: string): void {
    this.#marked ??= { question, labels: new Set() };
    const { labels } = this.#marked;
    if (!labels.delete(label)) labels.add(label);
    if (labels.size === 0) this.#marked = undefined;
  }

  #answer(question: string, answer: string | readonly string[]): void {
    this.#marked = undefined;
    try {
      this.#keys.answer(question, answer);
    } catch (error) {
      if (!(error instanceof BosunError)) throw error;
      this.notice(error.message);
    }
  }

  /** A line to type, in place of the keys. */
  #type(prompt: string, send: (text: string) => void): void {
    this.#typing = { line: new TypedLine(), prompt, send };
    this.notice('');
  }

  #typeKey({ line, send }: Typing, key: Key): void {
    const state = line.press(key);
    if (state !== 'typing') this.#typing = undefined;
    if (state === 'sent') send(line.text);
    this.changed();
  }

  #text(text: string): void {
    if (!this.#typing && this.#asked && isYesNo(this.#asked)) return this.#stray();
    this.#typing?.line.add(text);
    this.changed();
  }

  /** The opened task, else the run: paused, or let go on. */
  #pause(task: string | undefined): void {
    if (task !== undefined && !this.#model.isPaused(task) && this.#model.isPaused())
      return this.notice('the whole run is paused; esc, then p continues it');
    if (this.#model.isPaused(task)) this.#keys.unpause(task);
    else this.#keys.pause(task);
    this.notice('');
  }

  /** The agent of the task that is opened or chosen, else the only one that takes messages. */
  #steer(task: string | undefined): void {
    const { hearers } = this.#model;
    const named = hearers.find(({ id }) => id === task);
    const found = named ?? (hearers.length === 1 ? hearers[0] : undefined);
    if (!found)
      return this.notice(
        hearers.length === 0
          ? 'no agent is running that a message could be sent to'
          : `choose an agent first (↑↓): ${hearers.map(({ label }) => label).join(', ')}`,
      );
    const { id, label } = found;
    this.#type(`to ${shortLabel(label)}`, (text) => {
      this.#keys.steer(id, text);
      this.notice('');
      this.#notice = this.#queued.queue(id, label);
    });
  }

  #confirmCancel(key: Key): void {
    const isYes = /^y$/i.test(key);
    this.#isCancelling = false;
    if (isYes) this.#keys.cancel?.();
    this.notice(isYes ? 'cancelling: agents are asked to stop and their work is kept' : '');
  }

  /** Whether it is a key of an opened task. */
  #keyInTask(open: OpenTask, key: Key): boolean {
    const page = Math.max(1, this.#screen.rows - 6);
    if (key === 'escape' || key === 'q') this.#closeTask();
    else if (key === 'd') open.toggle();
    else if (key === 'up') open.scroll(-1);
    else if (key === 'down') open.scroll(1);
    else if (key === 'page-up') open.scroll(-page);
    else if (key === 'page-down' || key === ' ') open.scroll(page);
    else return false;
    return true;
  }

  #choose(by: 1 | -1): void {
    const ids = shownRows(this.#model, this.#options()).rows.map(({ id }) => id);
    const at = this.#selected === undefined ? -1 : ids.indexOf(this.#selected);
    const next = at === -1 ? (by === 1 ? 0 : ids.length - 1) : at + by;
    this.#selected = ids[Math.min(ids.length - 1, Math.max(0, next))];
  }

  #openTask(task: string): void {
    const { run } = this.#model;
    if (!run) return;
    this.#open = new OpenTask({
      run: run.id,
      task,
      label: this.#model.row(task, Date.now())?.label ?? task,
      paint: this.#paint,
      hasWanted: () => this.#model.questionFor(task)?.diff !== undefined,
      changed: () => this.changed(),
    });
    this.#tickEvery(OPEN_TICK_MS);
  }

  #closeTask(): void {
    this.#open = undefined;
    this.#tickEvery(TICK_MS);
  }
}

/** Before a line that is typed. */
function shortLabel(label: string): string {
  return fitColumns(spellControls(label), PROMPT_COLUMNS_MAX);
}
