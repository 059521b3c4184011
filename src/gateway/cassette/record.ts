/**
 * A transport that writes down what goes over another one. It changes nothing of what passes; a path of this run gets
 * a name on the cassette, and secrets do not get there at all.
 */
import { performance } from 'node:perf_hooks';
import { TransportError, type ModelRequest, type ModelResponse, type Transport } from '../transport.ts';
import { asText, isStream } from './content.ts';
import { edited, type Editor } from './edits.ts';
import { editEvents, streamEvents } from './fragments.ts';
import { editorOf, questionOf, type CassetteOptions } from './question.ts';
import { secretsIn } from './scrub.ts';
import { CassetteFile, type Exchange } from './cassette-file.ts';

/** What is longer is not kept. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;
/** All others may say who somebody is, or mean nothing later. */
const HEADERS = ['content-type', 'content-encoding', 'retry-after', 'retry-after-ms', 'x-should-retry'];

/** To be disposed of once nothing is sent any more: only then is all on disk. */
export function recordingTransport(
  inner: Transport,
  file: string,
  options: CassetteOptions,
): Transport & AsyncDisposable {
  const tape = new CassetteFile(file);
  const open = new Set<Recording>();
  let count = 0;
  return {
    async send(request, signal) {
      const recording = new Recording(++count, request, options);
      open.add(recording);
      const end = (broke?: Exchange['broke'], mayCost = false): void => {
        if (open.delete(recording))
          tape.append({ ...recording.exchange(broke), ...(mayCost && { mayCost: true as const }) });
      };
      try {
        const response = await inner.send(request, signal);
        recording.answered(response);
        return { ...response, body: watch(response.body, recording, signal, end) };
      } catch (error) {
        end(howItBroke(error, signal, options), error instanceof TransportError && error.mayCost);
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      for (const recording of open) tape.append(recording.exchange('left'));
      open.clear();
      tape.close();
    },
  };
}

async function* watch(
  body: AsyncIterable<Buffer>,
  recording: Recording,
  signal: AbortSignal,
  end: (broke?: Exchange['broke']) => void,
): AsyncIterable<Buffer> {
  let broke: Exchange['broke'] = 'left'; // unless we come to the end
  try {
    for await (const chunk of body) {
      recording.heard(chunk);
      yield chunk;
    }
    broke = undefined;
  } catch (error) {
    broke = howItBroke(error, signal, recording.options);
    throw error;
  } finally {
    end(broke);
  }
}

function howItBroke(error: unknown, signal: AbortSignal, { secrets }: CassetteOptions): Exchange['broke'] {
  if (signal.aborted) return 'left';
  const { message } = error as Error;
  const scrubbed = edited(message, secretsIn(message, secrets));
  if (error instanceof TransportError) return { kind: error.kind, status: error.status, message: scrubbed };
  return { kind: 'network', status: 502, message: scrubbed };
}

/** One exchange while it lasts. */
class Recording {
  readonly options: CassetteOptions;
  readonly #n: number;
  readonly #request: ModelRequest;
  readonly #beganMs = performance.now();
  #response: { atMs: number; response: ModelResponse } | undefined;
  readonly #chunks: { atMs: number; chunk: Buffer }[] = [];
  #bytes = 0;

  constructor(n: number, request: ModelRequest, { placeOf, secrets }: CassetteOptions) {
    this.#n = n;
    this.#request = request;
    const place = placeOf(request.run, request.task, request.attempt); // now: the attempt may be gone when this ends
    this.options = { placeOf: () => place, secrets };
  }

  answered(response: ModelResponse): void {
    this.#response = { atMs: this.#nowMs(), response };
  }

  heard(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > BODY_BYTES_MAX) this.#chunks.length = 0;
    else this.#chunks.push({ atMs: this.#nowMs(), chunk });
  }

  exchange(broke: Exchange['broke']): Exchange {
    const editor = editorOf(this.#request, this.options);
    const isTooLong = this.#bytes > BODY_BYTES_MAX;
    const message = `the answer was longer than ${BODY_BYTES_MAX / 1024 ** 2} MB, so it is not on the cassette`;
    const ending = isTooLong ? { kind: 'network', status: 502, message } : broke;
    return {
      n: this.#n,
      ...questionOf(this.#request, this.options),
      ...(this.#response && { response: this.#responseOf(this.#response, editor) }),
      ...(ending !== undefined && { broke: ending }),
      endMs: this.#nowMs(),
    };
  }

  #responseOf(
    { atMs, response }: { atMs: number; response: ModelResponse },
    editor: Editor,
  ): NonNullable<Exchange['response']> {
    const { status, headers, ownLogin, rejectedKey } = response;
    return {
      atMs,
      status,
      headers: Object.fromEntries(
        HEADERS.flatMap((name) => (name in headers ? [[name, headers[name]!]] : [])),
      ),
      ...(ownLogin && { ownLogin }),
      ...(rejectedKey !== undefined && { rejectedKey }),
      ...piecesOf(this.#chunks, isStream(headers), editor),
    };
  }

  #nowMs(): number {
    return Math.round(performance.now() - this.#beganMs);
  }
}

type Chunks = { atMs: number; chunk: Buffer }[];
type Pieces = Pick<NonNullable<Exchange['response']>, 'encoding' | 'pieces'>;

/** Streams are cut at the borders of events; other texts stay as they came, if nothing in them had to change. */
function piecesOf(chunks: Chunks, isStream: boolean, editor: Editor): Pieces {
  const whole = Buffer.concat(chunks.map(({ chunk }) => chunk));
  const text = asText(whole);
  if (text === undefined)
    return { encoding: 'base64', pieces: chunks.map(({ atMs, chunk }) => [atMs, chunk.toString('base64')]) };
  if (isStream) {
    const events = streamEvents(text);
    const times = timesOf(events, chunks);
    return { encoding: 'utf8', pieces: editEvents(events, editor).map((event, n) => [times[n]!, event]) };
  }
  const clean = edited(text, editor(text));
  const parts = chunks.map(({ atMs, chunk }): [number, string | undefined] => [atMs, asText(chunk)]);
  const areWhole = (all: typeof parts): all is [number, string][] =>
    all.every(([, part]) => part !== undefined);
  if (clean === text && areWhole(parts)) return { encoding: 'utf8', pieces: parts };
  return { encoding: 'utf8', pieces: clean === '' ? [] : [[chunks.at(-1)!.atMs, clean]] };
}

/** When the last byte of each event came. */
function timesOf(events: string[], chunks: Chunks): number[] {
  let [n, heardBytes, neededBytes] = [0, chunks[0]?.chunk.length ?? 0, 0];
  return events.map((event) => {
    neededBytes += Buffer.byteLength(event);
    while (heardBytes < neededBytes && n < chunks.length - 1) heardBytes += chunks[++n]!.chunk.length;
    return chunks[n]!.atMs;
  });
}
