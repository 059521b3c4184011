/** What stands in the log of a task, in the order in which it happened: what was printed, line by line, and what was said and done. Pure. */
import type { OutputEntry } from '../../data/output.ts';
import { PLAIN, readAnsi, type Look } from './ansi.ts';

interface Common {
  seq: number;
  atMs: number;
  attempt: number;
}

export interface LineItem extends Common {
  kind: 'line';
  stream: OutputEntry['stream'];
  text: string;
  /** What was switched on where it begins. */
  look: Look;
}

export interface ToolItem extends Common {
  kind: 'tool';
  /** Unique in the log. */
  id: string;
  name: string;
  about: string;
  input: string;
  result?: { atMs: number; text: string; isError: boolean };
}

export type Item =
  | LineItem
  | ToolItem
  /** What the agent says; what a person said to it, and when it was read. */
  | (Common & { kind: 'say'; text: string })
  | (Common & { kind: 'you'; text: string; by: string; readAtMs?: number })
  | (Common & { kind: 'mark'; text: string; tone: string })
  | (Common & { kind: 'note'; text: string; tone: string });

/** More than that of the oldest is left out. */
const ITEMS_MAX = 250_000;
const LEFT_OUT_AT_ONCE = 50_000;
const LINE_CHARS_MAX = 4000;

interface Open {
  item: LineItem | undefined;
  look: Look;
}

export class LogItems {
  items: Item[] = [];
  /** Lines that are not here any more. */
  leftOut = 0;
  #open = new Map<string, Open>();
  #changedFrom = Infinity;
  #fresh: Item[] = [];

  /** From which item on something is new; all of it has been told then. */
  takeChanged(): number {
    const from = this.#changedFrom;
    this.#changedFrom = Infinity;
    return from;
  }

  /** It looks different now. */
  touch(item: Item): void {
    for (let at = placeAfter(this.items, item.seq) - 1; at >= 0 && this.items[at]!.seq === item.seq; at--)
      if (this.items[at] === item) this.#changedFrom = Math.min(this.#changedFrom, at);
  }

  /** Once `settle` is called it is where it belongs. */
  add(item: Item): void {
    this.#fresh.push(item);
  }

  /** Printed and told come by two ways, and many at once: all that is new goes where it belongs. */
  settle(): void {
    if (this.#fresh.length === 0) return;
    const fresh = this.#fresh.toSorted((a, b) => a.seq - b.seq);
    this.#fresh = [];
    const from = placeAfter(this.items, fresh[0]!.seq);
    const after = this.items.splice(from);
    let next = 0;
    for (const item of fresh) {
      while (next < after.length && after[next]!.seq <= item.seq) this.items.push(after[next++]!);
      this.items.push(item);
    }
    for (; next < after.length; next++) this.items.push(after[next]!);
    this.#changedFrom = Math.min(this.#changedFrom, from);
    while (this.items.length > ITEMS_MAX) this.#leaveOut();
  }

  print({ seq, atMs, attempt, stream, text, droppedBytes }: OutputEntry): void {
    const key = `${attempt} ${stream}`;
    let open = this.#open.get(key);
    if (!open) this.#open.set(key, (open = { item: undefined, look: PLAIN }));
    const parts = text.split('\n');
    for (const [n, part] of parts.entries()) {
      const isEnded = n < parts.length - 1;
      if (open.item) {
        open.item.text = cut(open.item.text + part);
        this.touch(open.item);
      } else if (isEnded || part !== '') {
        open.item = { kind: 'line', seq, atMs, attempt, stream, text: cut(part), look: open.look };
        this.add(open.item);
      }
      if (!isEnded || !open.item) continue;
      open.item.text = asPrinted(open.item.text);
      open.look = readAnsi(open.item.text, open.item.look).look;
      open.item = undefined;
    }
    if (droppedBytes !== undefined) {
      const lost = `${droppedBytes.toLocaleString('en-US')} bytes are not kept: more was printed than its limit`;
      this.add({ kind: 'note', seq, atMs, attempt, text: lost, tone: 'ask' });
    }
  }

  #leaveOut(): void {
    this.items.splice(0, LEFT_OUT_AT_ONCE);
    this.leftOut += LEFT_OUT_AT_ONCE;
    this.#changedFrom = 0;
  }
}

/** How many of them, which are in their order, are not after it. */
export function placeAfter(items: readonly Item[], seq: number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.seq <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A program that goes back to the beginning of the line writes over it. */
function asPrinted(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return text.includes('\r') ? text.slice(text.lastIndexOf('\r') + 1) : text;
}

function cut(text: string): string {
  return text.length <= LINE_CHARS_MAX ? text : `${text.slice(0, LINE_CHARS_MAX - 1).toWellFormed()}…`;
}
