/** Which files of a large diff are read, one by one: those that are wanted just now, and never many at once. */

const AT_ONCE = 2;

export class FileReads {
  readonly #read: (path: string) => Promise<void>;
  readonly #underWay = new Set<string>();
  #wanted: readonly string[] = [];

  /** `read` never rejects. */
  constructor(read: (path: string) => Promise<void>) {
    this.#read = read;
  }

  /** In place of what was wanted before: what is under way goes on, all else begins when there is room. */
  want(paths: readonly string[]): void {
    this.#wanted = paths.filter((path) => !this.#underWay.has(path));
    this.#begin();
  }

  #begin(): void {
    while (this.#underWay.size < AT_ONCE) {
      const [next, ...rest] = this.#wanted;
      if (next === undefined) return;
      this.#wanted = rest;
      this.#underWay.add(next);
      void this.#read(next).then(() => {
        this.#underWay.delete(next);
        this.#begin();
      });
    }
  }
}
