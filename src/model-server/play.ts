/** Sends one reply, or plays a fault instead. It knows nothing of dialects beyond the pieces that it is given. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { ScriptedAnswer } from './script.ts';

/** A reply as it goes over the wire. */
export interface Wire {
  status: number;
  headers: Record<string, string | number>;
  /** At least one. */
  pieces: string[];
}

export interface Manner {
  delayMs: number;
  pieceDelayMs: number;
  fault: Exclude<ScriptedAnswer['fault'], number>;
}

const SLOW_PIECE_MS = 200;
/** The longest that a connection is held in silence: nobody waits longer, and nothing is held for ever. */
const SILENCE_MS_MAX = 3_600_000;

/** Resolves when all is sent, or the other side has gone; never rejects because it has gone. */
export async function play(response: ServerResponse, wire: Wire, manner: Manner): Promise<void> {
  const { delayMs, pieceDelayMs, fault } = manner;
  if (delayMs === 0 && pieceDelayMs === 0 && fault === undefined) return sendAtOnce(response, wire);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    if (delayMs > 0) await wait(delayMs, undefined, { signal: gone.signal });
    await playFault(response, wire, manner, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

function sendAtOnce(response: ServerResponse, { status, headers, pieces }: Wire): void {
  const body = pieces.length === 1 ? pieces[0]! : pieces.join('');
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

async function playFault(
  response: ServerResponse,
  wire: Wire,
  manner: Manner,
  gone: AbortSignal,
): Promise<void> {
  const { status, headers, pieces } = wire;
  const pieceDelayMs = manner.pieceDelayMs || (manner.fault === 'slow' ? SLOW_PIECE_MS : 0);
  switch (manner.fault) {
    case 'hang':
      await wait(SILENCE_MS_MAX, undefined, { signal: gone });
      response.destroy();
      return;
    case 'cut-before':
      response.destroy();
      return;
    case 'cut':
    case 'stall':
      response.writeHead(status, headers);
      await send(response, firstHalf(pieces), pieceDelayMs, gone);
      if (manner.fault === 'stall') await wait(SILENCE_MS_MAX, undefined, { signal: gone });
      response.destroy();
      return;
    case 'garbage':
      response.writeHead(status, headers);
      response.end(Buffer.from(Array.from({ length: 512 }, (_, n) => (n * 167 + 13) % 256)));
      return;
    case 'bad-json':
      response.writeHead(status, headers);
      response.end(breakLast(pieces.length === 1 ? pieces : firstHalf(pieces)));
      return;
    default:
      response.writeHead(status, headers);
      await send(response, pieces, pieceDelayMs, gone);
      response.end();
  }
}

async function send(
  response: ServerResponse,
  pieces: string[],
  delayMs: number,
  gone: AbortSignal,
): Promise<void> {
  for (const [n, piece] of pieces.entries()) {
    if (n > 0 && delayMs > 0) await wait(delayMs, undefined, { signal: gone });
    if (!response.write(piece)) await once(response, 'drain', { signal: gone });
  }
  // What is still on its way would be lost with the connection.
  await new Promise<void>((resolve) => response.write('', () => resolve()));
}

function firstHalf(pieces: string[]): string[] {
  if (pieces.length === 1) return [pieces[0]!.slice(0, Math.ceil(pieces[0]!.length / 2))];
  return pieces.slice(0, Math.ceil(pieces.length / 2));
}

/** The last brace is what makes it JSON. */
function breakLast(pieces: string[]): string {
  return `${pieces.join('').trimEnd().slice(0, -1)}\n\n`;
}
