/** One task that is opened in the live view: its log as it grows, what it changed, or what it asks an owner to change. It draws nothing. */
import type { Recorded } from '../../../contract/event.ts';
import { plainLine } from '../../../report/text/plain.ts';
import { ask } from '../ask.ts';
import { EventLines } from '../../../report/lines/event-lines.ts';
import type { Paint } from '../output.ts';

/** Of what is longer, the end of a log and the beginning of a patch are shown. */
const LINES_MAX = 2000;
const PATCH_BYTES_MAX = 1024 * 1024;
/** A task that has left nothing is looked at again. */
const DIFF_AGAIN_MS = 500;

export interface OpenTaskOptions {
  run: string;
  task: string;
  /** What people call it. */
  label: string;
  paint: Paint;
  /** Whether it asks for a change of files of others, with a diff. */
  hasWanted(): boolean;
  /** There is more to show. */
  changed(): void;
}

const KINDS = ['log', 'diff', 'wanted'] as const;
type Kind = (typeof KINDS)[number];

export class OpenTask {
  readonly #options: OpenTaskOptions;
  readonly #lines: EventLines;
  readonly #log: string[] = [];
  #diff: string[] | undefined;
  #kind: Kind = 'log';
  #diffAgainMs = 0;
  #afterSeq = 0;
  #isReading = false;
  /** How far it is scrolled: in a log from its end, which is followed; in a diff from its beginning. */
  #offset = 0;

  constructor(options: OpenTaskOptions) {
    this.#options = options;
    const { paint, task, label } = options;
    this.#lines = new EventLines({ paint, withOutput: true, labels: [[task, label]] });
    this.refresh();
  }

  get id(): string {
    return this.#options.task;
  }

  get kind(): Kind {
    return this.#kind;
  }

  /** What a key leads to. */
  get nextKind(): Kind {
    const next = KINDS[(KINDS.indexOf(this.#kind) + 1) % KINDS.length]!;
    return next === 'wanted' && !this.#options.hasWanted() ? 'log' : next;
  }

  /** Reads what is new in the journal, or what the task changed once it has left something; one read at a time. */
  refresh(): void {
    if (this.#isReading || (this.#kind !== 'log' && performance.now() < this.#diffAgainMs)) return;
    this.#isReading = true;
    const reading =
      this.#kind !== 'log'
        ? this.#readDiff()
        : this.#read().catch((error: Error) => this.#log.push(plainLine(error.message)));
    void reading.finally(() => {
      this.#isReading = false;
    });
  }

  toggle(): void {
    this.show(this.nextKind);
  }

  show(kind: Kind): void {
    this.#kind = kind;
    this.#offset = 0;
    this.#diff = undefined;
    this.#diffAgainMs = 0;
    this.refresh();
  }

  /** Positive towards the end. */
  scroll(lines: number): void {
    this.#offset = Math.max(0, this.#offset + (this.#kind !== 'log' ? lines : -lines));
  }

  /** As many lines as there is room for; each is safe to print, and may be too long. */
  window(rows: number): string[] {
    const all = this.#kind !== 'log' ? (this.#diff ?? ['reading …']) : this.#log;
    const offsetMax = Math.max(0, all.length - rows);
    this.#offset = Math.min(this.#offset, offsetMax);
    const from = this.#kind !== 'log' ? this.#offset : offsetMax - this.#offset;
    return all.slice(from, from + rows);
  }

  async #read(): Promise<void> {
    const { run, task } = this.#options;
    await ask('logs', { run, task, afterSeq: this.#afterSeq }, { seen: (page) => this.#add(page) });
  }

  #add(page: Recorded[]): void {
    this.#afterSeq = page.at(-1)!.seq;
    const text = page.map((recorded) => this.#lines.render(recorded)).join('');
    if (text === '') return;
    const added = text.slice(0, -1).split('\n');
    this.#log.push(...added.slice(-LINES_MAX));
    this.#log.splice(0, this.#log.length - LINES_MAX);
    // What is read stays where it is while more comes.
    if (this.#offset > 0) this.#offset += added.length;
    this.#options.changed();
  }

  /** What is read for one kind is not shown as another. */
  async #readDiff(): Promise<void> {
    const kind = this.#kind;
    try {
      const patch = await this.#patch(kind);
      if (this.#kind !== kind) return;
      this.#diff = patch;
      this.#diffAgainMs = Infinity;
    } catch (error) {
      this.#diff = [plainLine((error as Error).message)];
      this.#diffAgainMs = performance.now() + DIFF_AGAIN_MS;
    }
    this.#options.changed();
  }

  async #patch(kind: Kind): Promise<string[]> {
    const { run, task, paint } = this.#options;
    const pieces: Buffer[] = [];
    let leftBytes = PATCH_BYTES_MAX;
    const write = (piece: Buffer): void => {
      pieces.push(piece.subarray(0, leftBytes));
      leftBytes = Math.max(0, leftBytes - piece.length);
    };
    await ask('diff', { run, task, ...(kind === 'wanted' && { wanted: true }) }, { write });
    const patch = Buffer.concat(pieces).toString();
    if (patch === '') return ['nothing was changed'];
    const lines = patch.split('\n').slice(0, LINES_MAX);
    return lines.map((line) => paintLine(plainLine(line), paint));
  }
}

function paintLine(line: string, paint: Paint): string {
  if (/^(diff |index |--- |\+\+\+ )/.test(line)) return paint('strong', line);
  if (line.startsWith('+')) return paint('good', line);
  if (line.startsWith('-')) return paint('bad', line);
  return line.startsWith('@@') ? paint('busy', line) : line;
}
