/** What an agent sent: read up to a limit, decompressed, and where needed completed so that the answer can be metered. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { keysIn, parseJson, shapeOf } from '../../base/parse-json.ts';

export class BodyProblem extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Decoder = (data: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
]);

/** Throws a BodyProblem. `hold` is told of every byte before it is kept, and may throw one too. */
export async function readBody(
  incoming: IncomingMessage,
  bodyBytesMax: number,
  hold: (bytes: number) => void,
): Promise<Buffer> {
  if (Number(incoming.headers['content-length'] ?? 0) > bodyBytesMax) throw tooLarge(bodyBytesMax);
  const body = await allOf(incoming, (bytes, part) => {
    if (bytes > bodyBytesMax) throw tooLarge(bodyBytesMax);
    hold(part.length);
  });
  const encoding = incoming.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return body;
  const decode = DECODERS.get(encoding);
  if (decode === undefined)
    throw new BodyProblem(415, `bosun: cannot read a body in "${encoding.slice(0, 50)}"; send it plain`);
  try {
    const plain = await decode(body, { maxOutputLength: bodyBytesMax });
    hold(plain.length);
    return plain;
  } catch (error) {
    if (error instanceof BodyProblem) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(bodyBytesMax);
    throw new BodyProblem(400, `bosun: the body is not the ${encoding} that it is said to be`);
  }
}

/** By hand: an iterator over the stream would cost more than all that is done with a small request. */
function allOf(incoming: IncomingMessage, onPart: (bytes: number, part: Buffer) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    /** Nothing once it is settled: to take the listeners off again would cost as much as all they do. */
    let parts: Buffer[] | undefined = [];
    let bytes = 0;
    const fail = (error: Error): void => {
      if (!parts) return;
      parts = undefined;
      incoming.pause();
      reject(error);
    };
    incoming.on('data', (part: Buffer) => {
      if (!parts) return;
      bytes += part.length;
      try {
        onPart(bytes, part);
        parts.push(part);
      } catch (error) {
        fail(error as Error);
      }
    });
    incoming.on('end', () => {
      if (!parts) return;
      resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
      parts = undefined;
    });
    incoming.on('error', fail);
    incoming.on('close', () => {
      if (parts) fail(new Error('the agent hung up before the end of its request'));
    });
  });
}

/** `isPlain` where every reader of these bytes sees the same values as we do. */
export function parseBody(
  body: Buffer,
  text = body.toString(),
  shape = shapeOf(text),
): { value: unknown; isPlain: boolean } {
  const value = parseJson(text, shape);
  return { value, isPlain: value !== undefined && keysIn(value) === shape.keys && isUtf8(body) };
}

/** Chat completions stream no counts unless asked to. True where the agent had not asked. */
export function askForUsage(fields: Record<string, unknown>): boolean {
  if (fields.stream !== true) return false;
  const options = fields.stream_options as Record<string, unknown> | null | undefined;
  if (options?.include_usage === true) return false;
  fields.stream_options = { ...options, include_usage: true };
  return true;
}

function tooLarge(bytesMax: number): BodyProblem {
  return new BodyProblem(413, `bosun: the request is larger than ${mb(bytesMax)}; send less`);
}

export function mb(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`;
}
