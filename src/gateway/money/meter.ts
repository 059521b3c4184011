/**
 * Watches an answer go by and finds out what it cost. It never changes, holds back or copies what passes, but for
 * the few lines that can hold counts, and parses no event without them.
 */
import { parseJson } from '../../base/parse-json.ts';
import type { Api } from '../request/route.ts';
import { hasContent, isLast, later, usageIn, type Counted } from './usage.ts';

/** One event of a stream, or one answer that is no stream; a larger one is metered by its size. */
const TEXT_BYTES_MAX = 8 * 1024 * 1024;
const BYTES_PER_TOKEN = 4;
/** A stream that says nothing still begins, ends, counts and keeps the connection alive. */
const EMPTY_EVENTS_MAX = 10;
const NEWLINE = 0x0a;
const OPENING_BRACE = 0x7b;
const DATA = Buffer.from('data:');

export interface Meter {
  push(chunk: Buffer): void;
  /** To be asked once, when no more comes. */
  seen(): Seen;
}

interface Seen {
  /** Undefined where the answer did not say. */
  tokens: Counted | undefined;
  /** What was written so far, at least, judged by what went by. */
  outputGuess: number;
  /** The counts are those that the provider gives at the end. */
  isFinal: boolean;
  /** The counts say that nothing was written, and so does what went by. */
  isEmpty: boolean;
  /** How long the answer was. */
  bytes: number;
}

export function meterFor(api: Api, contentType: string): Meter {
  return contentType.includes('text/event-stream') ? new StreamMeter(api) : new BodyMeter(api);
}

class StreamMeter implements Meter {
  readonly #api: Api;
  readonly #key: Buffer;
  /** The beginning of a line whose end has not come yet. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  #bytes = 0;
  #events = 0;
  #tokens: Counted | undefined;
  #isFinal = false;

  constructor(api: Api) {
    this.#api = api;
    this.#key = Buffer.from(api === 'generate' ? '"usageMetadata"' : '"usage"');
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    let from = 0;
    /** Where the key is next, looked up once and not per line. */
    let keyAt = -2;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      if (this.#lineBytes > 0) this.#endOfLine(chunk.subarray(from, end));
      else if (startsWithData(chunk, from, end)) {
        this.#events += 1;
        if (keyAt === -2 || (keyAt !== -1 && keyAt < from)) keyAt = chunk.indexOf(this.#key, from);
        if (keyAt !== -1 && keyAt < end) this.#consider(chunk.subarray(from, end));
      }
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(from === 0 ? chunk : chunk.subarray(from));
  }

  seen(): Seen {
    if (this.#lineBytes > 0) this.#endOfLine(Buffer.alloc(0));
    const isEmpty = this.#isFinal && this.#tokens?.isEmpty === true && this.#events <= EMPTY_EVENTS_MAX;
    const outputGuess = this.#events; // an event holds a token at least
    return { tokens: this.#tokens, outputGuess, isFinal: this.#isFinal, isEmpty, bytes: this.#bytes };
  }

  #keep(part: Buffer): void {
    this.#lineBytes += part.length;
    if (this.#lineBytes <= TEXT_BYTES_MAX) this.#line.push(part);
    else this.#line = [];
  }

  #endOfLine(rest: Buffer): void {
    const line = Buffer.concat([...this.#line, rest]);
    this.#line = [];
    this.#lineBytes = 0;
    if (!startsWithData(line, 0, line.length)) return;
    this.#events += 1;
    this.#consider(line);
  }

  /** `"usage":null` is in every event of some streams, and nothing to parse. */
  #consider(line: Buffer): void {
    for (let at = line.indexOf(this.#key); at !== -1; at = line.indexOf(this.#key, at + 1)) {
      if (!isObjectNext(line, at + this.#key.length)) continue;
      const event = parseJson(line.toString('utf8', DATA.length));
      if (event === undefined) return; // cut in the middle, or not what it seems to be
      this.#tokens = later(this.#api, this.#tokens, usageIn(this.#api, event));
      this.#isFinal ||= isLast(this.#api, event);
      return;
    }
  }
}

class BodyMeter implements Meter {
  readonly #api: Api;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= TEXT_BYTES_MAX) this.#parts.push(chunk);
    else this.#parts = [];
  }

  seen(): Seen {
    // undefined where it was cut in the middle, or is not what it seems to be
    const all = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    const answer = parseJson(all.toString());
    const tokens = usageIn(this.#api, answer);
    const isEmpty = tokens?.isEmpty === true && !hasContent(this.#api, answer);
    const outputGuess = this.#api === 'embeddings' ? 0 : Math.ceil(this.#bytes / BYTES_PER_TOKEN);
    return { tokens, outputGuess, isFinal: tokens !== undefined, isEmpty, bytes: this.#bytes };
  }
}

function startsWithData(bytes: Buffer, from: number, end: number): boolean {
  return end - from > DATA.length && bytes.compare(DATA, 0, DATA.length, from, from + DATA.length) === 0;
}

/** Whether `: {` follows, with any space. */
function isObjectNext(bytes: Buffer, from: number): boolean {
  let at = from;
  while (at < bytes.length && (bytes[at] === 0x3a || bytes[at] === 0x20)) at++;
  return bytes[at] === OPENING_BRACE;
}
