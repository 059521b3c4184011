/** Draws the live view on stderr and reads its keys. What it shows is frame.ts's, what it knows model.ts's. */
import { Box, render, Text, useInput, type Instance, type Key } from 'ink';
import { createElement, type ReactNode } from 'react';
import { isForeground } from '../foreground.ts';
import { renderFrame, shownRows, type FrameOptions } from './frame.ts';
import type { LiveModel } from './model.ts';
import { OpenTask } from './task.ts';
import { harmless } from '../../../report/text/plain.ts';
import { errorStream, hasColor, painter } from '../output.ts';

const FRAME_MS = 100;
/** Times go on while nothing happens, and a terminal may change its size. */
const TICK_MS = 250;

const SHOW_CURSOR = '\u001b[?25h';
const HIDE_CURSOR = '\u001b[?25l';

export interface LiveKeys {
  interrupt(): void;
  /** Where Ctrl-C does not cancel. */
  cancel?(): void;
  answer(question: string, answer: 'yes' | 'no'): void;
}

export class LiveView {
  readonly #model: LiveModel;
  readonly #keys: LiveKeys;
  readonly #paint = painter(hasColor(process.stderr));
  readonly #hasKeys = process.stdin.isTTY;
  readonly #screen: Instance;
  readonly #ticker: NodeJS.Timeout;
  #next: NodeJS.Timeout | undefined;
  #notice = '';
  #selected: string | undefined;
  #open: OpenTask | undefined;
  #isSuspended = false;
  #isCancelling = false;
  readonly #onStop = (): void => this.#suspend();
  readonly #onContinue = (): void => this.#goOn();

  constructor(model: LiveModel, keys: LiveKeys) {
    this.#model = model;
    this.#keys = keys;
    this.#screen = render(this.#frame(), {
      stdout: errorStream(),
      stdin: process.stdin,
      exitOnCtrlC: false,
      patchConsole: false,
      interactive: true,
      incrementalRendering: true,
      maxFps: 1000 / FRAME_MS,
    });
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    process.on('SIGTSTP', this.#onStop);
    process.on('SIGCONT', this.#onContinue);
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
    this.#screen.clear();
    if (this.#hasKeys) process.stdin.setRawMode(false);
    errorStream().write(SHOW_CURSOR);
    process.kill(process.pid, 'SIGSTOP');
  }

  /** In the background there is no terminal to draw on: it waits until there is. */
  #goOn(): void {
    if (!this.#isSuspended || !isForeground()) return;
    this.#isSuspended = false;
    if (this.#hasKeys) process.stdin.setRawMode(true);
    errorStream().write(HIDE_CURSOR);
    this.changed();
  }

  /** Draws soon; however much happens, not more often than that. */
  changed(): void {
    if (this.#isSuspended) return;
    this.#next ??= setTimeout(() => {
      this.#next = undefined;
      this.#screen.rerender(this.#frame());
    }, FRAME_MS);
  }

  notice(text: string): void {
    this.#notice = text;
    this.changed();
  }

  /** Takes the picture away and gives the terminal back. */
  async close(): Promise<void> {
    clearInterval(this.#ticker);
    clearTimeout(this.#next);
    process.off('SIGTSTP', this.#onStop);
    process.off('SIGCONT', this.#onContinue);
    // It ends in the background: the terminal is somebody else's now, and its keys no reason to stay.
    if (this.#isSuspended) return void process.stdin.unref();
    this.#screen.rerender(null);
    this.#screen.unmount();
    await this.#screen.waitUntilExit();
  }

  #frame(): ReactNode {
    const lines = renderFrame(this.#model, this.#options());
    const texts = lines.map((line, n) =>
      createElement(Text, { key: n, wrap: 'truncate' }, line === '' ? ' ' : harmless(line)),
    );
    const keys = this.#hasKeys
      ? [createElement(Keys, { key: 'keys', onKey: (input, key) => this.#key(input, key) })]
      : [];
    return createElement(Box, { flexDirection: 'column' }, ...texts, ...keys);
  }

  #options(): FrameOptions {
    return {
      columns: process.stderr.columns || 80,
      rows: process.stderr.rows || 24,
      nowMs: Date.now(),
      paint: this.#paint,
      hasKeys: this.#hasKeys,
      isAttached: this.#keys.cancel !== undefined,
      notice: this.#notice,
      selected: this.#selected,
      open: this.#open,
    };
  }

  #key(input: string, key: Key): void {
    if (key.ctrl && input === 'c') return this.#keys.interrupt();
    // To the whole job, as the terminal would.
    if (key.ctrl && input === 'z') return void process.kill(0, 'SIGTSTP');
    if (this.#isCancelling) return this.#confirmCancel(input);
    if (this.#keys.cancel && input === 'c') {
      this.#isCancelling = true;
      return this.notice('cancel this run? [y]es [n]o');
    }
    const { question } = this.#model;
    if (question && /^[yn]$/i.test(input))
      return this.#keys.answer(question.id, input.toLowerCase() === 'y' ? 'yes' : 'no');
    if (this.#open) this.#keyInTask(this.#open, input, key);
    else if (key.upArrow || key.downArrow) this.#choose(key.downArrow ? 1 : -1);
    else if (key.return && this.#selected !== undefined) this.#openTask(this.#selected);
    else if (key.escape) this.#selected = undefined;
    this.changed();
  }

  #confirmCancel(input: string): void {
    this.#isCancelling = false;
    if (/^y$/i.test(input)) this.#keys.cancel?.();
    this.notice(/^y$/i.test(input) ? 'cancelling: agents are asked to stop and their work is kept' : '');
  }

  #keyInTask(open: OpenTask, input: string, key: Key): void {
    const page = Math.max(1, (process.stderr.rows || 24) - 6);
    if (key.escape || input === 'q') this.#open = undefined;
    else if (input === 'd') open.toggle();
    else if (key.upArrow) open.scroll(-1);
    else if (key.downArrow) open.scroll(1);
    else if (key.pageUp) open.scroll(-page);
    else if (key.pageDown || input === ' ') open.scroll(page);
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
      cwd: process.cwd(),
      run: run.id,
      task,
      label: this.#model.row(task, Date.now())?.label ?? task,
      paint: this.#paint,
      changed: () => this.changed(),
    });
  }
}

function Keys({ onKey }: { onKey: (input: string, key: Key) => void }): null {
  useInput(onKey);
  return null;
}
