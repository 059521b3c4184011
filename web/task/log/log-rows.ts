/** The log of a task as rows whose heights are known, so that any of them is found without drawing the others. Pure but for how wide letters are. */
import { plainLine, spellControls } from '../../../src/report/text/plain.ts';
import { plainOf, readAnsi, type Run } from './ansi.ts';
import type { Item, LineItem, ToolItem } from './log-items.ts';
import { wrapProse, type Measure } from './wrap.ts';

export type RowKind =
  'mark' | 'say' | 'you' | 'note' | 'tool' | 'head' | 'line' | 'detail' | 'gap' | 'top' | 'end';

export interface Row {
  kind: RowKind;
  item: Item;
  /** Of an item that takes several: which one. */
  part: number;
  text: string;
}

export interface Room {
  /** Of prose, and of output in letters. */
  prosePx: number;
  columns: number;
  isWrapped: boolean;
  measure: Measure;
  heights: Record<RowKind, number>;
}

export const HEIGHTS: Room['heights'] = {
  mark: 36, say: 20, you: 20, note: 21, tool: 24, head: 24, line: 19, detail: 19, gap: 5, top: 8, end: 13,
}; // prettier-ignore
export const PHONE_HEIGHTS: Room['heights'] = {
  ...HEIGHTS, mark: 42, say: 22, you: 22, note: 24, tool: 38, line: 20, detail: 20,
}; // prettier-ignore

const DETAIL_LINES_MAX = 400;
/** Bold letters are wider than those that are measured. */
const BOLD = 0.9;

export class LogRows {
  readonly rows: Row[] = [];
  /** Where each row begins; one more says where all of it ends. */
  readonly tops: number[] = [0];
  /** The first row of each item, with what separates it from the one before. */
  readonly #firsts: number[] = [];
  readonly #room: Room;
  readonly #isOpen: (tool: ToolItem) => boolean;

  constructor(room: Room, isOpen: (tool: ToolItem) => boolean) {
    this.#room = room;
    this.#isOpen = isOpen;
  }

  /** Anew from this item on. */
  layOut(items: readonly Item[], from: number): void {
    const begin = Math.min(from, this.#firsts.length);
    this.rows.length = this.#firsts[begin] ?? this.rows.length;
    this.tops.length = this.rows.length + 1;
    this.#firsts.length = begin;
    for (let n = begin; n < items.length; n++) this.#add(items[n]!, items[n - 1]);
  }

  /** How many rows there are of the first items. */
  countOf(items: number): number {
    return this.#firsts[items] ?? this.rows.length;
  }

  firstOf(item: number): number {
    return this.#firsts[item] ?? 0;
  }

  /** Which row is at this height. */
  at(y: number): number {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle]! <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #push(kind: RowKind, item: Item, text = '', part = 0): void {
    this.rows.push({ kind, item, part, text });
    this.tops.push(this.tops.at(-1)! + this.#room.heights[kind]);
  }

  #add(item: Item, before: Item | undefined): void {
    this.#firsts.push(this.rows.length);
    const isSame = item.kind === 'line' && before?.kind === 'line' && blockOf(item) === blockOf(before);
    if (before?.kind === 'line' && !isSame) this.#push('end', before);
    switch (item.kind) {
      case 'line':
        if (!isSame) {
          const head = HEADS[item.stream];
          if (head !== undefined) this.#push('head', item, head);
          this.#push('top', item);
        }
        return this.#lines('line', item, item.text);
      case 'say':
      case 'you':
        this.#push('gap', item);
        for (const [n, line] of this.#prose(item.text).entries()) this.#push(item.kind, item, line, n);
        return this.#push('gap', item);
      case 'note':
        for (const [n, line] of this.#prose(item.text).entries()) this.#push('note', item, line, n);
        return undefined;
      case 'mark': {
        const [first = '', ...more] = this.#prose(item.text, BOLD);
        this.#push('mark', item, first);
        for (const [n, line] of more.entries()) this.#push('note', item, line, n + 1);
        return undefined;
      }
      case 'tool':
        this.#push('tool', item, plainLine(item.about));
        if (this.#isOpen(item)) this.#details(item);
        return undefined;
    }
  }

  #details(item: ToolItem): void {
    const parts = [pretty(item.input), item.result?.text ?? ''].filter((text) => text !== '');
    if (parts.length === 0) return;
    this.#push('top', item);
    const lines = parts.join('\n\n').split('\n');
    for (const line of lines.slice(0, DETAIL_LINES_MAX)) this.#lines('detail', item, plainLine(line));
    const left = lines.length - DETAIL_LINES_MAX;
    if (left > 0) this.#lines('detail', item, `… and ${left} more lines`);
    this.#push('end', item);
  }

  #lines(kind: 'line' | 'detail', item: Item, text: string): void {
    const parts = this.#room.isWrapped ? rowsOf(text, this.#room.columns) : 1;
    for (let n = 0; n < parts; n++) this.#push(kind, item, text, n);
  }

  #prose(text: string, scale = 1): string[] {
    const { measure, prosePx } = this.#room;
    const lines = text.trim().split('\n').map(plainLine);
    return lines.flatMap((line) => wrapProse(line, measure, prosePx * scale));
  }
}

const HEADS: Partial<Record<LineItem['stream'], string>> = {
  check: 'The check printed',
  setup: 'Its setup printed',
};

function blockOf({ attempt, stream }: LineItem): string {
  return `${attempt} ${stream === 'stderr' ? 'stdout' : stream}`;
}

/** How many rows a line takes. Letters of most languages are as wide as each other; some are twice that. */
function rowsOf(text: string, columns: number): number {
  if (text.length * 2 <= columns) return 1;
  const plain = plainOf(text);
  if (/^[\x20-\x7e]*$/.test(plain)) return Math.max(1, Math.ceil(plain.length / columns));
  return cutRuns([{ text: spellControls(plain.replaceAll('\t', '  ')), classes: '' }], columns).length;
}

/** What stands in one of the rows of a line. */
export function runsIn(row: Row, columns: number): readonly Run[] {
  const runs =
    row.item.kind === 'line'
      ? readAnsi(row.text.replaceAll('\t', '  '), row.item.look).runs
      : [{ text: row.text, classes: '' }];
  return columns === Infinity ? runs : (cutRuns(runs, columns)[row.part] ?? []);
}

function cutRuns(runs: readonly Run[], columns: number): Run[][] {
  const rows: Run[][] = [[]];
  let used = 0;
  for (const { text, classes } of runs) {
    let part = '';
    for (const letter of text) {
      const width = WIDE.test(letter) ? 2 : 1;
      if (used + width > columns && used > 0) {
        if (part !== '') rows.at(-1)!.push({ text: part, classes });
        rows.push([]);
        part = '';
        used = 0;
      }
      part += letter;
      used += width;
    }
    if (part !== '') rows.at(-1)!.push({ text: part, classes });
  }
  return rows;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

function pretty(input: string): string {
  try {
    const value: unknown = JSON.parse(input);
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || value === null) return input;
    return Object.entries(value)
      .map(([name, each]) => `${name}: ${typeof each === 'string' ? each : JSON.stringify(each)}`)
      .join('\n');
  } catch {
    return input;
  }
}
