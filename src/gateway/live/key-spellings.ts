/**
 * Finds a key that is written in another way: its characters escaped (JSON, URLs, HTML) or in the other case, all of it
 * in hex or base64, or both. It compares byte by byte and remembers nothing. Pure.
 */

/** What base64 holds of a key is found where so much of it depends on nothing else. */
const NEEDLE_CHARS_MIN = 8;
const BACKSLASHES_MAX = 8;
/** One `%25` more for each time that it was encoded. */
const PERCENTS_MAX = 4;

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;

/** From where to where; `whole` is false for a beginning of a key at the end of all bytes. */
interface FoundKey {
  start: number;
  end: number;
  whole: boolean;
  /** How many characters of the key were there. */
  characters: number;
}

export class KeySpellings {
  readonly #needles: readonly Uint8Array[];
  /** The needles that begin with a byte; most bytes begin none. */
  readonly #beginning: (readonly Uint8Array[] | undefined)[] = [];

  constructor(secrets: readonly string[]) {
    const texts = secrets.flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      ...encoded(secret),
    ]);
    this.#needles = [...new Set(texts.map(folded))].map((text) => Buffer.from(text, 'latin1'));
    for (let byte = 0; byte < 256; byte++) {
      const beginning = this.#needles.filter((needle) => FOLDED[byte] === needle[0]);
      if (beginning.length > 0) this.#beginning[byte] = beginning;
    }
  }

  /** The first at or after a position. */
  find(bytes: Uint8Array, from = 0): FoundKey | undefined {
    if (this.#needles.length === 0) return undefined;
    for (let start = from; start < bytes.length; start++) {
      const needles = this.#mayBegin(bytes, start);
      if (!needles) continue;
      let part: FoundKey | undefined;
      for (const needle of needles) {
        const found = match(bytes, start, needle);
        if (found?.whole) return found;
        if (found && found.characters >= (part?.characters ?? 0)) part = found;
      }
      if (part) return part;
    }
    return undefined;
  }

  #mayBegin(bytes: Uint8Array, start: number): readonly Uint8Array[] | undefined {
    const byte = bytes[start]!;
    if (!isEscape(byte)) return this.#beginning[byte];
    const escaped = escapedAt(bytes, start);
    if (escaped === undefined) return this.#beginning[byte];
    return escaped === 'cut' || this.#beginning[byte] ? this.#needles : this.#beginning[escaped.code];
  }
}

function match(
  bytes: Uint8Array,
  start: number,
  needle: Uint8Array,
  from = start,
  known = 0,
): FoundKey | undefined {
  let at = from;
  let part: FoundKey | undefined;
  for (let characters = known; characters < needle.length; characters++) {
    if (at === bytes.length) return { start, end: at, whole: false, characters };
    const wanted = needle[characters]!;
    const byte = bytes[at]!;
    const isItself = FOLDED[byte] === wanted;
    const escaped = isEscape(byte) ? escapedAt(bytes, at) : undefined;
    if (escaped === 'cut') part = { start, end: bytes.length, whole: false, characters };
    else if (escaped && FOLDED[escaped.code] === wanted) {
      if (!isItself) {
        at = escaped.end;
        continue;
      }
      const found = match(bytes, start, needle, escaped.end, characters + 1); // a key may hold what looks like an escape
      if (found?.whole) return found;
      part = found ?? part;
    }
    if (!isItself) return part;
    at++;
  }
  return { start, end: at, whole: true, characters: needle.length };
}

interface Escaped {
  code: number;
  end: number;
}

/** The character that an escape stands for; `cut` where the bytes end before it does. */
function escapedAt(bytes: Uint8Array, start: number): Escaped | 'cut' | undefined {
  const first = bytes[start];
  let at = start + 1;
  if (first === BACKSLASH) {
    while (bytes[at] === BACKSLASH && at - start < BACKSLASHES_MAX) at++;
    if (at === bytes.length) return 'cut';
    if (bytes[at] === BACKSLASH) return undefined;
    if (bytes[at] === 0x75) return number(bytes, at + 1, 16, 4, 4); // u
    if (bytes[at] === 0x78) return number(bytes, at + 1, 16, 2, 2); // x
    return { code: bytes[at]!, end: at + 1 };
  }
  if (first === PERCENT) {
    for (let n = 1; n < PERCENTS_MAX && bytes[at] === 0x32 && bytes[at + 1] === 0x35; n++) at += 2;
    return number(bytes, at, 16, 2, 2);
  }
  if (at === bytes.length) return 'cut';
  if (bytes[at] !== 0x23) return undefined; // #
  if (++at === bytes.length) return 'cut';
  const isHex = (bytes[at]! | 0x20) === 0x78;
  const told = isHex ? number(bytes, at + 1, 16, 1, 6) : number(bytes, at, 10, 1, 6);
  if (told === 'cut' || told === undefined) return told;
  if (told.end === bytes.length) return 'cut';
  return bytes[told.end] === 0x3b ? { ...told, end: told.end + 1 } : undefined; // ;
}

function number(
  bytes: Uint8Array,
  start: number,
  base: 10 | 16,
  least: number,
  most: number,
): Escaped | 'cut' | undefined {
  let code = 0;
  let at = start;
  for (; at - start < most; at++) {
    if (at >= bytes.length) return 'cut';
    const digit = DIGITS[bytes[at]!]!;
    if (digit >= base) break;
    code = code * base + digit;
  }
  return at - start < least || code > 0xff ? undefined : { code, end: at };
}

function isEscape(byte: number): boolean {
  return byte === BACKSLASH || byte === PERCENT || byte === AMPERSAND;
}

/** In hex, and in base64 behind any number of other bytes: the characters that depend on the key alone. */
function encoded(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    const whole = Math.floor(((before + bytes.length) * 8) / 6);
    return text.slice(Math.ceil((before * 8) / 6), whole);
  });
  return [bytes.toString('hex'), ...base64].filter(({ length }) => length >= NEEDLE_CHARS_MIN);
}

/** Lower case, and one spelling for both kinds of base64. */
function folded(text: string): string {
  return Buffer.from(Buffer.from(text).map((byte) => FOLDED[byte]!)).toString('latin1');
}

const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x41 && byte <= 0x5a) return byte + 0x20;
  if (byte === 0x2b) return 0x2d; // + and -
  return byte === 0x2f ? 0x5f : byte; // / and _
});

const DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? 255 : digit;
});
