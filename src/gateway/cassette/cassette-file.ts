/**
 * The cassette as a file: a line of JSON that says what it is, then one line per exchange, in the order in which they
 * ended; before it, lines with those parts of its request that no exchange had before. Reads and writes lines; what is on them is made and used by record.ts and replay.ts.
 */
import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { BosunError } from '../../contract/errors.ts';
import { CassettePart, Parts } from './parts.ts';

const VERSION = 1;

/** Exactly one of the three. */
const Content = z.union([
  z.strictObject({ json: z.unknown() }),
  z.strictObject({ text: z.string() }),
  z.strictObject({ base64: z.string() }),
]);
export type Content = z.output<typeof Content>;

const Fault = z.strictObject({ kind: z.string(), status: z.int(), message: z.string() });

export const Exchange = z.strictObject({
  /** Counts the requests as they were made; lines stand in the order in which answers ended. */
  n: z.int(),
  task: z.string(),
  attempt: z.int(),
  /** The name of the run, without its number. */
  run: z.string().optional(),
  provider: z.string(),
  dialect: z.enum(['anthropic', 'openai', 'gemini']),
  method: z.string(),
  /** Without credentials. */
  path: z.string(),
  request: Content,
  /** Absent where there was none. */
  response: z
    .strictObject({
      atMs: z.number(),
      status: z.int(),
      headers: z.record(z.string(), z.string()),
      ownLogin: z.literal(true).optional(),
      rejectedKey: z.string().optional(),
      /** Text, or base64 where the bytes are no UTF-8. */
      encoding: z.enum(['utf8', 'base64']),
      /** Each with the milliseconds since the request. */
      pieces: z.array(z.tuple([z.number(), z.string()])),
    })
    .optional(),
  /** How it ended, where it did not end well; `left` means that the agent went away. */
  broke: z.union([Fault, z.literal('left')]).optional(),
  /** There was no answer, though the provider got the request and may have charged for it. */
  mayCost: z.literal(true).optional(),
  endMs: z.number(),
});
export type Exchange = z.output<typeof Exchange>;

/** A cassette that is being written. Once a line cannot be written, none is any more, and `close` says so. */
export class CassetteFile {
  readonly #file: string;
  readonly #fd: number;
  readonly #parts = new Parts();
  #failure: unknown;

  constructor(file: string) {
    this.#file = file;
    this.#fd = openNew(file);
    this.#line({ cassette: 'bosun', version: VERSION });
  }

  append(exchange: Exchange): void {
    const { request } = exchange;
    if (!('json' in request)) return this.#line(exchange);
    const { value, fresh } = this.#parts.split(request.json);
    for (const part of fresh) this.#line(part);
    this.#line({ ...exchange, request: { json: value } });
  }

  /** Throws where not all is on disk. */
  close(): void {
    try {
      fsyncSync(this.#fd);
    } catch (cause) {
      this.#failure ??= cause;
    }
    closeSync(this.#fd);
    if (this.#failure === undefined) return;
    const why = (this.#failure as Error).message;
    throw new BosunError(
      'system',
      `the recording on ${this.#file} is not complete: ${why}; what the agents did is kept, record again to replay it`,
      { cause: this.#failure },
    );
  }

  #line(value: unknown): void {
    if (this.#failure !== undefined) return;
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#fd, bytes, at);
    } catch (error) {
      this.#failure = error; // the work goes on, it is worth more than its recording
    }
  }
}

const PRIVATE = 0o600;

function openNew(file: string): number {
  let fd: number;
  try {
    fd = openSync(file, 'a', PRIVATE);
  } catch (cause) {
    throw new BosunError(
      'usage',
      `cannot record on ${file}: ${(cause as Error).message}; name a file that can be written`,
      { cause },
    );
  }
  const stat = fstatSync(fd);
  const isFile = stat.isFile();
  if (stat.size > 0 || !isFile) {
    closeSync(fd);
    const why = isFile ? 'something is on it already' : 'it is not an ordinary file';
    const next = isFile ? 'name a new file, or remove this one' : 'name another';
    throw new BosunError('usage', `cannot record on ${file}: ${why}; ${next}`);
  }
  fchmodSync(fd, PRIVATE);
  return fd;
}

export function readTape(file: string): Exchange[] {
  const lines = linesOf(file);
  const header = Header.safeParse(parse(lines[0]));
  if (!header.success)
    throw new BosunError(
      'usage',
      `${file} is not a cassette: record one with \`bosun run --record ${file}\``,
    );
  if (header.data.version !== VERSION)
    throw new BosunError(
      'not-supported',
      `${file} is a cassette of version ${header.data.version}, and this bosun reads version ${VERSION}: record it again`,
    );
  const parts = new Parts();
  const exchanges = lines.slice(1).flatMap((line, n): Exchange[] => {
    const value = parse(line);
    const part = CassettePart.safeParse(value);
    if (part.success) {
      parts.add(part.data.part, part.data.value);
      return [];
    }
    const exchange = Exchange.safeParse(value);
    if (exchange.success) return [{ ...exchange.data, request: joined(exchange.data.request, parts) }];
    if (n === lines.length - 2) return []; // the engine died while it wrote: what is before is whole
    throw new BosunError(
      'usage',
      `${file} is damaged in line ${n + 2}: ${exchange.error.issues[0]?.message}; record it again`,
    );
  });
  return exchanges.toSorted((a, b) => a.n - b.n);
}

function joined(request: Content, parts: Parts): Content {
  return 'json' in request ? { json: parts.join(request.json) } : request;
}

const Header = z.looseObject({ cassette: z.literal('bosun'), version: z.int() });

function linesOf(file: string): string[] {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new BosunError('usage', `cannot replay ${file}: ${(cause as Error).message}`, { cause });
  }
  const lines: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const newline = bytes.indexOf(0x0a, at);
    const end = newline < 0 ? bytes.length : newline;
    lines.push(bytes.toString('utf8', at, end));
    at = end + 1;
  }
  return lines;
}

/** Undefined where it is no JSON. */
function parse(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? '') as unknown;
  } catch {
    return undefined;
  }
}
