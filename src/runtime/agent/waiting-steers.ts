/** What is said to an agent in the middle of its turn, until it can be told. It keeps no more than a few. */

const STEERS_MAX = 32;

export class WaitingSteers {
  readonly #charsMax: number;
  #waiting: { text: string; isStale?: (() => boolean) | undefined }[] = [];

  constructor(charsMax = Infinity) {
    this.#charsMax = charsMax;
  }

  add(text: string, isStale?: () => boolean): void {
    if (this.#waiting.length < STEERS_MAX)
      this.#waiting.push({ text: text.slice(0, this.#charsMax), isStale });
  }

  /** All of it that there is still a need for, as one text; undefined where there is nothing. */
  take(): string | undefined {
    const said = this.#waiting.filter(({ isStale }) => !isStale?.()).map(({ text }) => text);
    this.#waiting = [];
    return said.length > 0 ? said.join('\n\n') : undefined;
  }
}
