/** Gives an answer on to the agent as it comes, at the agent's speed: it keeps nothing, and changes no byte. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ModelResponse } from './transport.ts';
import type { Waiting } from './waiting.ts';

export interface Passing {
  signal: AbortSignal;
  waiting: Waiting;
}

/** `watcher` sees every piece. Resolves with it when the last piece is written. */
export async function passOn<Watcher extends { push(chunk: Buffer): void } | undefined>(
  response: ModelResponse,
  headers: Record<string, string>,
  outgoing: ServerResponse,
  { signal, waiting }: Passing,
  watcher: Watcher,
): Promise<Watcher> {
  waiting.more();
  outgoing.writeHead(response.status, headers);
  const isFramed = frameByHand(outgoing);
  // With the first piece of the body where that is there, else without: it may take a while.
  const flushing = setImmediate(() => outgoing.flushHeaders());
  try {
    for await (const chunk of response.body) {
      clearImmediate(flushing);
      watcher?.push(chunk);
      if (!write(outgoing, chunk, isFramed)) {
        waiting.heard(); // whoever reads it may be slow
        await once(outgoing, 'drain', { signal });
      }
      waiting.more();
    }
  } finally {
    clearImmediate(flushing);
  }
  if (isFramed) outgoing.end(LAST_FRAME, 'latin1');
  else outgoing.end();
  return watcher;
}

const LAST_FRAME = '0\r\n\r\n';
const ONE_WRITE_BYTES_MAX = 16 * 1024;

/** Where the length is not known; Node would hand every piece of such a body to the system in four parts. */
function frameByHand(outgoing: ServerResponse): boolean {
  const isFramed = outgoing.chunkedEncoding;
  outgoing.chunkedEncoding = false;
  return isFramed;
}

function write(outgoing: ServerResponse, chunk: Buffer, isFramed: boolean): boolean {
  const head = isFramed ? `${chunk.length.toString(16)}\r\n` : '';
  const tail = isFramed ? '\r\n' : '';
  // As text of one byte a character Node sends it in one part, the first with the headers, which is quicker.
  if (chunk.length <= ONE_WRITE_BYTES_MAX)
    return outgoing.write(`${head}${chunk.toString('latin1')}${tail}`, 'latin1');
  if (!isFramed) return outgoing.write(chunk);
  outgoing.write(head, 'latin1');
  outgoing.write(chunk);
  return outgoing.write(tail, 'latin1');
}
