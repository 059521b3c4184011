/**
 * How soon nothing is left of a cancelled run: 50 agents that take no notice of signals, each with a child in a
 * session of its own, run in an engine of its own, as `bosun run` starts it. The time is from the request (graceful,
 * through the library, from another process) until no live process of an agent's sandbox can be found in /proc, nor the
 * one that holds it; taken for each agent of each round, so that the 99th percentile is over all of them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bosun, type Recorded, type WorkflowSource } from '../src/index.ts';
import { below, median, percentile, progress, roundsOr, type Bench, type Figure } from './measure.ts';
import { makeRepository } from './repository.ts';
import { Sandboxes } from './sandboxes.ts';
import { scratch } from './scratch.ts';

const AGENTS = 50;
const FILES = 100;
const ROUNDS = 5;
const GOAL_MS = 1000;
const LOOK_MS = 10;
const WAIT_MS_MAX = 60_000;

const bosun = path.join(import.meta.dirname, '..', 'bin', 'bosun');

const DEAF = `
trap '' HUP INT QUIT TERM USR1 USR2
setsid sh -c 'while :; do sleep 600; done' >/dev/null 2>&1 &
echo ready
while :; do sleep 600; done
`;
const WORKFLOW: WorkflowSource = {
  name: 'deaf',
  concurrency: AGENTS,
  agents: { deaf: { runtime: 'cli', command: DEAF, scope: { write: [] } } },
  tasks: {
    task: { agent: 'deaf', prompt: 'stay', 'for-each': Array.from({ length: AGENTS }, (_, index) => index) },
  },
};

export const bench: Bench = {
  name: 'cancel',
  about: `from the request to cancel until no process is left of ${AGENTS} agents that ignore signals`,
  async *figures(): AsyncIterable<Figure> {
    const repo = await makeRepository(FILES);
    const file = path.join(scratch('workflow'), 'workflow.json');
    writeFileSync(file, JSON.stringify(WORKFLOW));
    const taken: number[] = [];
    for (let round = 0; round < roundsOr(ROUNDS); round += 1) {
      const goneMs = await cancelMs(repo, file);
      progress(
        `cancelled: the first agent gone after ${goneMs[0]!.toFixed(0)} ms, the last after ${goneMs.at(-1)!.toFixed(0)}`,
      );
      taken.push(...goneMs);
    }
    progress(
      `${taken.length} agents gone, median ${median(taken).toFixed(0)} ms, worst ${Math.max(...taken).toFixed(0)}`,
    );
    const name = `cancel to last process gone, p99 of ${AGENTS} agents`;
    yield below({ name, value: percentile(99, taken), baseline: GOAL_MS });
  },
};

/** For each agent when it was gone, the first first. */
async function cancelMs(repo: string, file: string): Promise<number[]> {
  const engine = spawn(bosun, ['run', file, '--json'], { cwd: repo, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(engine, 'exit');
  try {
    let ready = 0;
    for await (const line of createInterface(engine.stdout)) {
      const { event } = JSON.parse(line) as Recorded;
      if (event.type === 'attempt.output' && event.text?.includes('ready')) ready += 1;
      if (ready === AGENTS) break;
    }
    engine.stdout.resume();
    const sandboxes = new Sandboxes(engine.pid!);
    if (ready < AGENTS || sandboxes.count !== AGENTS)
      throw new Error(
        `${ready} agents are ready, ${sandboxes.count} sandboxes found; ${AGENTS} were started`,
      );
    const gone = await watch(sandboxes, () => new Bosun(repo).cancel());
    const [code] = (await ended) as [number | null];
    if (code !== 3) throw new Error(`bosun run ended with ${code}, not as one that was cancelled`);
    return gone;
  } finally {
    engine.kill('SIGKILL');
  }
}

async function watch(sandboxes: Sandboxes, cancel: () => Promise<unknown>): Promise<number[]> {
  const goneMs: number[] = [];
  const start = performance.now();
  const cancelled = cancel();
  cancelled.catch(() => {}); // awaited below
  while (goneMs.length < AGENTS) {
    await sleep(LOOK_MS);
    const left = sandboxes.left();
    const atMs = performance.now() - start;
    while (goneMs.length < AGENTS - left) goneMs.push(atMs);
    if (atMs > WAIT_MS_MAX) throw new Error(`${left} agents are still there after ${atMs} ms`);
  }
  await cancelled;
  return goneMs;
}
