/**
 * Takes keys out of what a provider says: some repeat them. What takes their place is as long, so that lengths stay
 * true. Nothing is held back but the beginning of a key at the end of a piece.
 */

/** A key shorter than this opens nothing worth hiding, and its letters stand everywhere. */
const SECRET_CHARS_MIN = 8;
/** So much of a key at the end of all is no chance any more. */
const PART_CHARS_MIN = 8;
const STAR = 0x2a;

export class Scrub {
  readonly #texts: readonly string[];
  readonly #needles: readonly Buffer[];
  readonly #longest: number;

  constructor(secrets: readonly string[]) {
    const all = secrets.filter(({ length }) => length >= SECRET_CHARS_MIN).flatMap(formsOf);
    this.#texts = [...new Set(all)];
    this.#needles = this.#texts.map((text) => Buffer.from(text));
    this.#longest = Math.max(0, ...this.#needles.map(({ length }) => length));
  }

  isIn(text: string): boolean {
    return this.#texts.some((each) => text.includes(each));
  }

  /** Of something that is there as a whole. */
  clean(bytes: Buffer): Buffer {
    let result = bytes;
    for (const needle of this.#needles)
      for (let at = result.indexOf(needle); at !== -1; at = result.indexOf(needle, at + needle.length)) {
        if (result === bytes) result = Buffer.from(bytes); // it may be somebody else's too
        result.fill(STAR, at, at + needle.length);
      }
    return result;
  }

  /** Of something that comes piece by piece; to be called with nothing at the end. */
  cleaner(): (piece: Buffer | undefined) => Buffer | undefined {
    let kept: Buffer | undefined;
    return (piece) => {
      if (this.#longest === 0) return piece;
      if (piece === undefined) {
        const rest = kept;
        kept = undefined;
        return rest && rest.length >= PART_CHARS_MIN ? Buffer.alloc(rest.length, STAR) : rest;
      }
      const bytes = this.clean(kept ? Buffer.concat([kept, piece]) : piece);
      const keptBytes = this.#beginningAtEnd(bytes);
      kept = keptBytes > 0 ? Buffer.from(bytes.subarray(bytes.length - keptBytes)) : undefined;
      return keptBytes > 0 ? bytes.subarray(0, bytes.length - keptBytes) : bytes;
    };
  }

  /** How many bytes at the end could be the beginning of a key. */
  #beginningAtEnd(bytes: Buffer): number {
    let most = 0;
    for (const needle of this.#needles) {
      const from = Math.max(0, bytes.length - needle.length + 1);
      for (let at = bytes.indexOf(needle[0]!, from); at !== -1; at = bytes.indexOf(needle[0]!, at + 1)) {
        const count = bytes.length - at;
        if (bytes.compare(needle, 0, count, at) !== 0) continue;
        most = Math.max(most, count);
        break;
      }
    }
    return most;
  }
}

/** As it is, as JSON has it (some writers escape more than they must), and as URLs have it. */
function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const unicode = (text: string, characters: RegExp): string =>
    text.replace(characters, (one) => String.raw`\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [
    secret,
    json,
    json.replaceAll('/', String.raw`\/`),
    unicode(json, /[<>&]/g),
    unicode(json, /[<>&='+]/g),
    encodeURIComponent(secret),
  ];
}
