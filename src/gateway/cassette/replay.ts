/** A transport that answers from a cassette alone: no network, no key. What was cut or failed does so again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentErrorKind } from '../../contract/model.ts';
import { TransportError, type ModelResponse, type Transport } from '../transport.ts';
import { holdsJson } from './content.ts';
import { Library } from './library.ts';
import { putPathsBack, type CassettePlace } from './place.ts';
import { questionOf, type CassetteOptions } from './question.ts';
import { readTape, type Exchange } from './cassette-file.ts';

export interface ReplayOptions extends CassetteOptions {
  /** Answers come as fast or slow as they were recorded; else at once. */
  timing: boolean;
}

/** Where the agent went away when it was recorded, it is given this long to do so again. */
const LEAVE_MS_MAX = 30_000;

/** Throws where the file is no cassette. */
export function replayTransport(file: string, options: ReplayOptions): Transport {
  const library = new Library(readTape(file));
  return {
    async send(request, signal) {
      const beganMs = performance.now();
      const exchange = library.take(questionOf(request, options));
      const wait = async (untilMs: number): Promise<void> => {
        if (options.timing) await pause(untilMs - (performance.now() - beganMs), signal);
        if (signal.aborted) throw left();
      };
      const { response } = exchange;
      await wait(response?.atMs ?? exchange.endMs);
      if (response === undefined) throw await fault(exchange, signal);
      const place = options.placeOf(request.run, request.task, request.attempt);
      const { status, headers, ownLogin, rejectedKey } = response;
      return {
        status,
        headers,
        replayed: true,
        ...(ownLogin && { ownLogin }),
        ...(rejectedKey !== undefined && { rejectedKey }),
        body: play(exchange, response, place, wait, signal),
      };
    },
  };
}

async function* play(
  exchange: Exchange,
  response: NonNullable<Exchange['response']>,
  place: CassettePlace | undefined,
  wait: (untilMs: number) => Promise<void>,
  signal: AbortSignal,
): ModelResponse['body'] {
  const isJson = holdsJson(response.headers);
  for (const [atMs, piece] of response.pieces) {
    await wait(atMs);
    if (response.encoding === 'base64') yield Buffer.from(piece, 'base64');
    else yield Buffer.from(putPathsBack(piece, place, isJson));
  }
  await wait(exchange.endMs);
  if (exchange.broke !== undefined) throw await fault(exchange, signal);
}

/** What ended the exchange. */
async function fault({ broke, ...exchange }: Exchange, signal: AbortSignal): Promise<TransportError> {
  const mayCost = exchange.mayCost === true;
  if (broke !== 'left' && broke !== undefined) {
    const error = new TransportError(broke.kind as AgentErrorKind, broke.status, broke.message);
    return Object.assign(error, { mayCost });
  }
  await pause(LEAVE_MS_MAX, signal);
  return Object.assign(left(), { mayCost });
}

function left(): TransportError {
  return new TransportError(
    'network',
    502,
    'the agent went away here when this was recorded, so there is no more',
  );
}

/** Ends early when the signal says so. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {});
}
