/**
 * Takes keys out of what a provider says: some repeat them. What takes their place is as long, so that lengths stay
 * true. Nothing is held back but the beginning of a key at the end of a piece.
 */
import { KeySpellings } from './key-spellings.ts';

/** A key shorter than this opens nothing worth hiding, and its letters stand everywhere. */
const SECRET_CHARS_MIN = 8;
/** So much of a key at the end of all is no chance any more. */
const PART_CHARS_MIN = 8;
const STAR = 0x2a;

export class Scrub {
  readonly #spellings: KeySpellings;

  constructor(secrets: readonly string[]) {
    this.#spellings = new KeySpellings(secrets.filter(({ length }) => length >= SECRET_CHARS_MIN));
  }

  isIn(text: string): boolean {
    const bytes = Buffer.from(text);
    return this.#clean(bytes).bytes !== bytes;
  }

  /** Of something that is there as a whole. */
  clean(bytes: Buffer): Buffer {
    return this.#clean(bytes).bytes;
  }

  /** Of something that comes piece by piece; to be called with nothing at the end. */
  cleaner(): (piece: Buffer | undefined) => Buffer | undefined {
    let kept: Buffer | undefined;
    let keptCharacters = 0;
    return (piece) => {
      if (piece === undefined) {
        const rest = kept;
        kept = undefined;
        return rest && keptCharacters >= PART_CHARS_MIN ? Buffer.alloc(rest.length, STAR) : rest;
      }
      const { bytes, part } = this.#clean(kept ? Buffer.concat([kept, piece]) : piece);
      keptCharacters = part?.characters ?? 0;
      kept = part && Buffer.from(bytes.subarray(part.start));
      return part ? bytes.subarray(0, part.start) : bytes;
    };
  }

  /** Also where the beginning of a key stands at the end. */
  #clean(bytes: Buffer): { bytes: Buffer; part?: { start: number; characters: number } } {
    let result = bytes;
    let part: { start: number; characters: number } | undefined;
    for (let from = 0; ;) {
      const found = this.#spellings.find(bytes, from);
      if (!found) break;
      if (found.whole) {
        if (result === bytes) result = Buffer.from(bytes); // it may be somebody else's too
        result.fill(STAR, found.start, found.end);
        part = undefined;
      } else part ??= found;
      from = found.whole ? found.end : found.start + 1;
    }
    return part ? { bytes: result, part } : { bytes: result };
  }
}
