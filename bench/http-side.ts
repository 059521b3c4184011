/**
 * Clients of `bosun serve` for `http.ts`, in a process of their own and as light as can be: bare sockets that are kept
 * alive, and readers of server-sent events. `node bench/http-side.ts JOB` prints what came of it as one line of JSON.
 *
 *   ask    `connections` ask again as soon as they are answered, up to `perSecondMax` in all, or `perSecond` requests
 *          are sent whatever comes
 *   read   `readers` streams are open; what their events say of when they were printed is compared with now
 */
import { connect, type Socket } from 'node:net';
import { percentile } from './measure.ts';

export interface Asking {
  kind: 'ask';
  url: string;
  token: string;
  connections: number;
  seconds: number;
  perSecond?: number;
  perSecondMax?: number;
  method: string;
  path: string;
  body?: string;
}

export interface Asked {
  count: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

export interface ReadingEvents {
  kind: 'read';
  url: string;
  token: string;
  readers: number;
  path: string;
  /** Of moments that each is to read; without, they are idle until stdin ends. */
  moments?: number;
}

export interface ReadEvents {
  count: number;
  p50Ms: number;
  p99Ms: number;
}

type Job = Asking | ReadingEvents;

const OPEN_AT_ONCE = 50;

async function main(job: Job): Promise<void> {
  if (job.kind === 'ask') print(await ask(job));
  else await read(job);
}

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function ask(job: Asking): Promise<Asked> {
  const request = requestOf(job);
  const lines = await Promise.all(Array.from({ length: job.connections }, () => Line.open(job.url)));
  const tookMs: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + job.seconds * 1000;
  const one = async (line: Line, sinceMs: number): Promise<void> => {
    await line.exchange(request);
    tookMs.push(performance.now() - sinceMs);
  };
  if (job.perSecond === undefined) {
    let asked = 0;
    const again = async (line: Line): Promise<void> => {
      while (performance.now() < endMs) {
        const dueMs = startMs + (asked++ * 1000) / (job.perSecondMax ?? Infinity);
        await until(dueMs);
        await one(line, performance.now());
      }
    };
    await Promise.all(lines.map(again));
  } else {
    // Counted from when it was due: a server that stands still makes those wait, too, that come behind.
    const total = job.perSecond * job.seconds;
    let next = 0;
    const inTurn = async (line: Line): Promise<void> => {
      while (next < total) {
        const dueMs = startMs + (next++ * 1000) / job.perSecond!;
        const isEarly = await until(dueMs);
        await one(line, isEarly ? Math.max(dueMs, performance.now()) : dueMs);
      }
    };
    await Promise.all(lines.map(inTurn));
  }
  const perSecond = tookMs.length / ((performance.now() - startMs) / 1000);
  lines.forEach((line) => line.close());
  return {
    count: tookMs.length,
    perSecond,
    p50Ms: percentile(50, tookMs),
    p99Ms: percentile(99, tookMs),
  };
}

/** Gives whether it had to wait. */
async function until(dueMs: number): Promise<boolean> {
  const waitMs = dueMs - performance.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  return waitMs > 0;
}

async function read(job: ReadingEvents): Promise<void> {
  const agesMs: number[] = [];
  const streams: Socket[] = [];
  const wanted = job.readers * (job.moments ?? Infinity);
  const done = Promise.withResolvers<void>();
  const open = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: Number(new URL(job.url).port), host: '127.0.0.1' });
      streams.push(socket);
      socket.once('error', reject);
      socket.setEncoding('utf8');
      socket.on('close', () => done.reject(new Error('a stream ended')));
      let isOpen = false;
      let rest = '';
      socket.on('data', (piece: string) => {
        const nowMs = performance.timeOrigin + performance.now();
        if (!isOpen && !piece.startsWith('HTTP/1.1 200')) reject(new Error(piece));
        isOpen = true;
        resolve();
        if (job.moments === undefined) return;
        const lines = (rest + piece).split('\n');
        rest = lines.pop()!;
        for (const line of lines) {
          for (const moment of line.startsWith('data: ') ? momentsIn(line) : []) {
            agesMs.push(nowMs - moment);
            if (agesMs.length >= wanted) done.resolve();
          }
        }
      });
      socket.write(requestOf({ ...job, method: 'GET' }, 'accept: text/event-stream\r\n'));
    });
  for (let opened = 0; opened < job.readers; opened += OPEN_AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(OPEN_AT_ONCE, job.readers - opened) }, open));
  print({ readers: streams.length });
  if (job.moments === undefined) process.stdin.resume().once('end', () => done.resolve());
  await done.promise;
  streams.forEach((stream) => stream.removeAllListeners('close').destroy());
  process.stdin.destroy();
  if (agesMs.length > 0)
    print({ count: agesMs.length, p50Ms: percentile(50, agesMs), p99Ms: percentile(99, agesMs) });
}

/** When each line of an output event was printed, in milliseconds since 1970, as `http.ts` has its agent say it. */
function momentsIn(line: string): number[] {
  return [...line.matchAll(/at (\d+\.\d+) /g)].map((match) => Number(match[1]));
}

function requestOf(
  { url, token, method, path, body }: Pick<Asking, 'url' | 'token' | 'method' | 'path' | 'body'>,
  more = '',
): string {
  const type = body === undefined ? '' : 'content-type: application/json\r\n';
  const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  const host = new URL(url).host;
  return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n${type}${length}${more}\r\n${body ?? ''}`;
}

/** One connection, and one request on it at a time. */
class Line {
  readonly #socket: Socket;
  #received = '';
  #settled: PromiseWithResolvers<void> | undefined;

  static open(url: string): Promise<Line> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' }, () =>
        resolve(new Line(socket)),
      );
      socket.once('error', reject);
    });
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true).setEncoding('latin1'); // a character is a byte
    socket.on('data', (piece: string) => this.#take(piece));
    socket.on('close', () => this.#settled?.reject(new Error('the connection was closed')));
  }

  /** Resolves when all of the answer is there, which must be a good one. */
  exchange(request: string): Promise<void> {
    this.#settled = Promise.withResolvers<void>();
    this.#socket.write(request);
    return this.#settled.promise;
  }

  close(): void {
    this.#settled = undefined;
    this.#socket.destroy();
  }

  #take(piece: string): void {
    this.#received += piece;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/^content-length: (\d+)/im.exec(this.#received)![1]);
    if (this.#received.length < end + 4 + length) return;
    const answer = this.#received;
    this.#received = '';
    if (answer.startsWith('HTTP/1.1 2')) this.#settled!.resolve();
    else this.#settled!.reject(new Error(answer));
  }
}

await main(JSON.parse(process.argv[2]!) as Job);
