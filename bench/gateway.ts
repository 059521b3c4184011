/**
 * What the gateway adds: the same client straight to the same provider and through a gateway, each in a process of
 * its own. Every event of a stream holds the moment it was sent; the clock is the same for all processes.
 */
import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';
import path from 'node:path';
import { startProgram } from './command.ts';
import { atMost, forScale, percentile, progress, roundsOr, type Bench, type Figure } from './measure.ts';
import { scratch } from './scratch.ts';

const ROUNDS = 5;
const STREAMS = 50;
const SMALL_MS = 3000;
const P50_MS_MAX = 2;
const P99_MS_MAX = 10;
const REQUESTS_PER_S_MIN = 2000;
/** The first request of a coding agent is some 50 KB long, with its instructions and tools; the next ones are longer. */
const CONVERSATION = [50_000, 100_000, 150_000, 200_000].map((bytes) => body('x'.repeat(bytes)));
/** How long one answer takes: the agents' first requests are spread over it, as they are after a while. */
const ANSWER_MS = 2000;
const SHORT = body('hello');
/** The client shares the cores with what is measured, so it takes nothing apart. */
const AT = Buffer.from('"at":');
const COMMA = 0x2c;

/** Where a client asks, one for each of the agents. */
type Side = RequestOptions[];

interface Delays {
  firstByteMs: number[];
  chunkMs: number[];
}

export const bench: Bench = {
  name: 'gateway',
  about: `what the gateway adds to ${STREAMS} streams at once, and how many small answers it passes on`,
  async *figures(): AsyncIterable<Figure> {
    const model = await startProgram('model-side.ts');
    const directory = scratch('gateway');
    const gateway = await startProgram('gateway-side.ts', model.said, directory, String(STREAMS));
    try {
      const { hostname, port } = new URL(model.said);
      const agents = Array.from({ length: STREAMS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
      const straight = agents.map((agent) => ({ agent, hostname, port, path: '/v1/messages' }));
      const through = Array.from({ length: STREAMS }, (_, index) => ({
        agent: new Agent({ keepAlive: true, maxSockets: 1 }),
        socketPath: path.join(directory, `${index}.sock`),
        path: '/anthropic/v1/messages',
      }));
      yield* streamFigures(straight, through);
      yield* smallFigures(straight, through);
    } finally {
      await gateway.end();
      await model.end();
    }
  },
};

async function* streamFigures(straight: Side, through: Side): AsyncIterable<Figure> {
  await streams(straight); // both sides warm
  await streams(through);
  const rounds: { straight: Delays; through: Delays }[] = [];
  for (let round = 0; round < roundsOr(ROUNDS); round += 1) {
    const delays = { straight: noDelays(), through: noDelays() };
    const sides = [
      ['straight', straight],
      ['through', through],
    ] as const;
    for (const [key, side] of round % 2 === 0 ? sides : sides.toReversed()) delays[key] = await streams(side);
    rounds.push(delays);
  }
  for (const [what, key] of [
    ['the first byte', 'firstByteMs'],
    ['a chunk', 'chunkMs'],
  ] as const)
    for (const [percent, limitMs] of [
      [50, P50_MS_MAX],
      [99, P99_MS_MAX],
    ] as const) {
      const name = `added to ${what} at ${STREAMS} streams, p${percent}`;
      const added = rounds.map((round) => {
        const [theirs, ours] = [round.straight, round.through].map((delays) =>
          percentile(percent, delays[key]),
        );
        progress(`${what}, p${percent}: straight ${theirs!.toFixed(2)}, through ${ours!.toFixed(2)} ms`);
        return ours! - theirs!;
      });
      yield atMost(1, { name, value: Math.max(0, percentile(50, added)), baseline: limitMs });
    }
}

async function* smallFigures(straight: Side, through: Side): AsyncIterable<Figure> {
  const rates = { straight: [] as number[], through: [] as number[] };
  for (let round = 0; round < roundsOr(ROUNDS); round += 1) {
    const turns = [
      async () => rates.straight.push(await smallPerS(straight)),
      async () => rates.through.push(await smallPerS(through)),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  const [ours, theirs] = [percentile(50, rates.through), percentile(50, rates.straight)];
  progress(`small answers per second: straight ${Math.round(theirs)}, through ${Math.round(ours)}`);
  const unit = 'ms per request';
  const sides = { value: 1000 / ours, unit };
  yield atMost(1, { name: 'small answers', ...sides, baseline: 1000 / REQUESTS_PER_S_MIN });
  yield forScale({ name: 'small answers, against none between', ...sides, baseline: 1000 / theirs });
}

/** Each agent has a conversation of its own: an answer, and at once the next request. */
async function streams(side: Side): Promise<Delays> {
  const delays = noDelays();
  await Promise.all(
    side.map(async (where, index) => {
      await new Promise((resolve) => setTimeout(resolve, (index * ANSWER_MS) / side.length));
      for (const payload of CONVERSATION) await stream(where, payload, delays);
    }),
  );
  return delays;
}

async function stream(where: RequestOptions, payload: Buffer, delays: Delays): Promise<void> {
  const start = performance.now();
  const incoming = await post(where, payload, 'stream');
  let isFirst = true;
  incoming.on('data', (chunk: Buffer) => {
    const now = process.hrtime.bigint();
    if (isFirst) delays.firstByteMs.push(performance.now() - start);
    isFirst = false;
    let end = 0;
    for (let at = chunk.indexOf(AT); at !== -1; at = chunk.indexOf(AT, end)) {
      end = chunk.indexOf(COMMA, at);
      delays.chunkMs.push(Number(now - BigInt(chunk.toString('latin1', at + AT.length, end))) / 1e6);
    }
  });
  await once(incoming, 'end');
}

async function smallPerS(side: Side): Promise<number> {
  const end = performance.now() + SMALL_MS;
  let count = 0;
  await Promise.all(
    side.map(async (where) => {
      while (performance.now() < end) {
        const incoming = await post(where, SHORT, 'small');
        incoming.resume();
        await once(incoming, 'end');
        count += 1;
      }
    }),
  );
  return count / (SMALL_MS / 1000);
}

async function post(where: RequestOptions, payload: Buffer, kind: string): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/json', 'content-length': payload.length, 'x-bench': kind };
  const outgoing = request({ ...where, method: 'POST', headers });
  outgoing.end(payload);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  if (incoming.statusCode !== 200) throw new Error(`answered with ${incoming.statusCode}`);
  return incoming;
}

function body(text: string): Buffer {
  const messages = [{ role: 'user', content: text }];
  return Buffer.from(JSON.stringify({ model: 'claude-opus-5-5', max_tokens: 1000, stream: true, messages }));
}

function noDelays(): Delays {
  return { firstByteMs: [], chunkMs: [] };
}
