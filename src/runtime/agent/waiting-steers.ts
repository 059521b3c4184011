/** What is said to an agent in the middle of its turn, until it can be told. It keeps no more than a few. */
import type { SteerHandling } from '../runtime.ts';

const STEERS_MAX = 32;

export class WaitingSteers {
  readonly #charsMax: number;
  #waiting: { text: string; about: SteerHandling }[] = [];

  constructor(charsMax = Infinity) {
    this.#charsMax = charsMax;
  }

  add(text: string, about: SteerHandling = {}): void {
    if (this.#waiting.length < STEERS_MAX) this.#waiting.push({ text: text.slice(0, this.#charsMax), about });
  }

  /** All of it that there is still a need for, as one text; undefined where there is nothing. */
  take(): string | undefined {
    const said = this.#waiting.filter(({ about }) => !about.isStale?.());
    this.#waiting = [];
    for (const { about } of said) about.given?.();
    return said.length > 0 ? said.map(({ text }) => text).join('\n\n') : undefined;
  }
}
