/** Draws the live view on stderr and reads its keys. What it shows is live-frame.ts's, what it knows live-model.ts's. */
import { Box, render, Text, useInput, type Instance } from 'ink';
import { createElement, type ReactNode } from 'react';
import { renderFrame } from './live-frame.ts';
import type { LiveModel } from './live-model.ts';
import { errorStream, hasColor, painter } from './output.ts';

const FRAME_MS = 100;
/** Times go on while nothing happens, and a terminal may change its size. */
const TICK_MS = 250;

export interface LiveKeys {
  interrupt(): void;
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
    this.#ticker = setInterval(() => this.changed(), TICK_MS);
  }

  /** Draws soon; however much happens, not more often than that. */
  changed(): void {
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
    this.#screen.rerender(null);
    this.#screen.unmount();
    await this.#screen.waitUntilExit();
  }

  #frame(): ReactNode {
    const lines = renderFrame(this.#model, {
      columns: process.stderr.columns || 80,
      rows: process.stderr.rows || 24,
      nowMs: Date.now(),
      paint: this.#paint,
      hasKeys: this.#hasKeys,
      notice: this.#notice,
    });
    const texts = lines.map((line, n) =>
      createElement(Text, { key: n, wrap: 'truncate' }, line === '' ? ' ' : line),
    );
    const keys = this.#hasKeys
      ? [createElement(Keys, { key: 'keys', onKey: (input, isCtrl) => this.#key(input, isCtrl) })]
      : [];
    return createElement(Box, { flexDirection: 'column' }, ...texts, ...keys);
  }

  #key(input: string, isCtrl: boolean): void {
    if (isCtrl && input === 'c') return this.#keys.interrupt();
    const { question } = this.#model;
    if (question && /^[yn]$/i.test(input))
      this.#keys.answer(question.id, input.toLowerCase() === 'y' ? 'yes' : 'no');
  }
}

function Keys({ onKey }: { onKey: (input: string, isCtrl: boolean) => void }): null {
  useInput((input, key) => onKey(input, key.ctrl));
  return null;
}
