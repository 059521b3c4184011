/**
 * A request as far as it has to be judged: without its long texts, which are most of its bytes and of which nothing is
 * asked. To make strings of them would take longer than all the rest. It reads bytes, and judges nothing.
 */

/** Names of texts that no rule looks into (reach.ts, estimate.ts), and of encoded files. */
const NAMES = new Set(['text', 'content', 'description', 'thinking', 'data']);
const NAME_BYTES_MAX = 11;
const LONG_BYTES_MIN = 1024;
/** To read a smaller one takes no time. */
const BODY_BYTES_MIN = 16 * 1024;
/** It is quicker to walk to the end of a short string than to look for it. */
const SHORT_BYTES_MAX = 48;
/** In a text that is full of quotes it takes longer to jump to the next one than to walk there. */
const JUMPS_MAX = 64;
const [QUOTE, BACKSLASH, COLON, SPACE] = [0x22, 0x5c, 0x3a, 0x20];

export interface WithoutTexts {
  /** JSON where all of it is: with an empty string in place of a long text. */
  json: string;
  /** Nothing is left out. */
  isWhole: boolean;
}

/**
 * All readers of JSON agree on where a string ends, so they see the same around it; whether what is left out is a text
 * as JSON wants it is the provider's to say.
 */
export function withoutTexts(body: Buffer): WithoutTexts {
  if (body.length < BODY_BYTES_MIN) return { json: body.toString(), isWhole: true };
  let json = '';
  let kept = 0;
  let [nameFrom, nameEnd] = [-1, -1];
  for (let at = 0; at < body.length; at += 1) {
    if (body[at] !== QUOTE) continue;
    const from = at + 1;
    at = endOfString(body, from);
    if (at === -1) break;
    if (at - from >= LONG_BYTES_MIN && isValueOf(body, nameEnd, from) && isText(body, nameFrom, nameEnd)) {
      json += body.toString('utf8', kept, from);
      kept = at;
    }
    [nameFrom, nameEnd] = [from, at];
  }
  return { json: json + body.toString('utf8', kept), isWhole: kept === 0 };
}

/** Where the quote is that ends what begins at `from`; -1 where there is none. */
function endOfString(body: Buffer, from: number): number {
  const near = walk(body, from, Math.min(body.length, from + SHORT_BYTES_MAX));
  if (body[near] === QUOTE) return near;
  let start = near;
  for (let jumps = 0; jumps < JUMPS_MAX; jumps += 1) {
    const at = body.indexOf(QUOTE, start);
    if (at === -1) return -1;
    let slashes = 0;
    while (at - slashes > near && body[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
    start = at + 1;
  }
  const far = walk(body, start, body.length);
  return far < body.length ? far : -1;
}

/** To the first quote that is not escaped; to `end`, or past what is escaped there, where there is none before. */
function walk(body: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Whether the string that begins at `from` follows the one that ends at `nameEnd` as its value. */
function isValueOf(body: Buffer, nameEnd: number, from: number): boolean {
  if (nameEnd === -1 || body[nameEnd + 1] !== COLON) return false;
  return from === nameEnd + 3 || (from === nameEnd + 4 && body[nameEnd + 2] === SPACE);
}

function isText(body: Buffer, from: number, end: number): boolean {
  return end - from <= NAME_BYTES_MAX && NAMES.has(body.toString('latin1', from, end));
}
