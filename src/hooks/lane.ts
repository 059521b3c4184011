/** What is to be told, one after another, by a queue with a limit. It knows nothing of hooks. */

/** A run that ends says that of what nobody could be told yet. */
const WAITING_MAX = 200;

export interface ToTell {
  act(): Promise<void>;
  /** It was left out: too many wait, or there is no time any more. */
  leave(why: string): void;
}

export class Lane {
  readonly #waiting: ToTell[] = [];
  #atWork: Promise<void> | undefined;

  add(told: ToTell): void {
    if (this.#waiting.length >= WAITING_MAX) {
      told.leave(`${WAITING_MAX} others wait to be told already`);
      return;
    }
    this.#waiting.push(told);
    this.#atWork ??= this.#work();
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#atWork) await this.#atWork;
  }

  /** Leaves out all that waits. */
  clear(why: string): void {
    for (const told of this.#waiting.splice(0)) told.leave(why);
  }

  async #work(): Promise<void> {
    for (let told = this.#waiting.shift(); told; told = this.#waiting.shift()) await told.act();
    this.#atWork = undefined;
  }
}
