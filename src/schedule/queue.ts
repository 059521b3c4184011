/** A line of what waits: first in, first out. It knows nothing of what stands in it. */

/** Without the cost of shifting an array. */
export class Queue<T> {
  #items: T[] = [];
  #head = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  unshift(item: T): void {
    if (this.#head > 0) this.#items[--this.#head] = item;
    else this.#items.unshift(item);
  }

  /** One that was pushed lately is found soon. */
  delete(item: T): void {
    const at = this.#items.lastIndexOf(item);
    if (at >= this.#head) this.#items.splice(at, 1);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.#head < this.#items.length) this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  copy(each: (item: T) => T): Queue<T> {
    const copy = new Queue<T>();
    for (const item of this) copy.push(each(item));
    return copy;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let at = this.#head; at < this.#items.length; at++) yield this.#items[at]!;
  }
}
