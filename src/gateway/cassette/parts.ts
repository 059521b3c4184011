/**
 * The long parts of requests, each kept once: a conversation sends all of itself with every request, and a cassette
 * would grow with its square. Takes JSON apart and puts it together again.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';

/** A line of a cassette. */
export const CassettePart = z.strictObject({ part: z.int(), value: z.unknown() });
export type CassettePart = z.output<typeof CassettePart>;

const CHARS_MIN = 300;
/** Tools, messages and the texts in them; below that nothing repeats by itself. */
const DEPTH_MAX = 2;
/** Then all are forgotten, and written once more. */
const KNOWN_MAX = 100_000;
const MARK = 'bosun:part';

export class Parts {
  readonly #known = new Map<string, number>();
  readonly #values = new Map<number, unknown>();
  #last = 0;

  /** The value with marks for its long parts, and those of them that are new. */
  split(value: unknown): { value: unknown; fresh: CassettePart[] } {
    const fresh: CassettePart[] = [];
    return { value: this.#split(value, 0, fresh), fresh };
  }

  #split(value: unknown, depth: number, fresh: CassettePart[]): unknown {
    const inner = depth < DEPTH_MAX ? mapped(value, (item) => this.#split(item, depth + 1, fresh)) : value;
    if (depth === 0) return inner;
    const text = JSON.stringify(inner);
    if (text.length < CHARS_MIN) return inner;
    const hash = createHash('sha256').update(text).digest('base64url');
    const known = this.#known.get(hash);
    if (known !== undefined) return { [MARK]: known };
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(hash, ++this.#last);
    fresh.push({ part: this.#last, value: inner });
    return { [MARK]: this.#last };
  }

  /** As it was read; what it is made of came before. */
  add(part: number, value: unknown): void {
    this.#values.set(part, this.join(value));
  }

  join(value: unknown): unknown {
    const mark = (value as Record<string, unknown> | null)?.[MARK];
    if (typeof mark === 'number' && this.#values.has(mark)) return this.#values.get(mark);
    return mapped(value, (item) => this.join(item));
  }
}

function mapped(value: unknown, to: (item: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(to);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, to(item)]));
}
