/**
 * How soon work goes on after a crash: a run of 10,000 tasks is killed (SIGKILL) when half of them are done, and
 * resumed. The time is from starting the command `bosun resume` until the first task of the rest is done and
 * that is in the journal, so it bounds from above when the first of them runs. Each round kills the engine again.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findHome } from '../src/store/home.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { workflowOf } from './bosun.ts';
import { installedBosun } from './installed.ts';
import { atMost, interleave, progress, roundsOr, type Bench, type Figure } from './measure.ts';
import { makeRepository } from './repository.ts';
import { scratch } from './scratch.ts';

const TASKS = 10_000;
const FILES = 100;
const ROUNDS = 5;
const GOAL_MS = 600;
const WAIT_MS_MAX = 10 * 60_000;

const bosun = installedBosun();

export const bench: Bench = {
  name: 'resume',
  about: `the first task after a kill -9 and bosun resume, with ${TASKS / 2} of ${TASKS} tasks done (some minutes)`,
  async *figures(): AsyncIterable<Figure> {
    const repo = await makeRepository(FILES);
    const file = path.join(scratch('workflow'), 'workflow.json');
    writeFileSync(file, JSON.stringify(workflowOf('apart', TASKS)));
    const run = await runUntilHalf(repo, file);
    const taken = await interleave('resumed', roundsOr(ROUNDS), { bosun: () => resumeMs(repo, run) });
    const name = `first task after resume, ${TASKS} tasks half done`;
    yield atMost(1, { name, value: taken.bosun, baseline: GOAL_MS });
  },
};

/** Runs the workflow until half of its tasks are done, then kills the engine; returns the run's id. */
async function runUntilHalf(repo: string, file: string): Promise<string> {
  const engine = start(repo, 'run', file);
  try {
    let shown = 0;
    return await waitFor(engine, async () => {
      await using store = openSqliteStore(findHome(repo)!.journal, { readOnly: true });
      const [run] = await store.runs(1);
      const done = run?.counts.done ?? 0;
      if (done >= shown + 1000) progress(`${(shown = done)} of ${TASKS} tasks done`);
      if (done < TASKS / 2) await sleep(100);
      return done >= TASKS / 2 ? run!.id : undefined;
    });
  } finally {
    await kill(engine);
  }
}

async function resumeMs(repo: string, run: string): Promise<number> {
  await using store = openSqliteStore(findHome(repo)!.journal, { readOnly: true });
  const { lastSeq } = (await store.run(run))!;
  const began = performance.now();
  const engine = start(repo, 'resume', run);
  try {
    await waitFor(engine, async () => ((await hasDoneTask(store, run, lastSeq)) ? true : undefined));
    return performance.now() - began;
  } finally {
    await kill(engine);
  }
}

/** Whether an attempt that was started after `afterSeq` is done. */
async function hasDoneTask(store: Store, run: string, afterSeq: number): Promise<boolean> {
  const recorded = await store.read(run, { afterSeq, withoutOutput: true });
  const started = new Set<string>();
  for (const { event } of recorded) {
    if (event.type === 'attempt.started') started.add(`${event.task}@${event.attempt}`);
    if (event.type !== 'attempt.finished' || event.outcome.kind !== 'done') continue;
    if (started.has(`${event.task}@${event.attempt}`)) return true;
  }
  return false;
}

function start(repo: string, ...args: string[]): ChildProcess {
  return spawn(bosun, args, { cwd: repo, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Asks again and again until there is an answer; the journal may not be there at first. */
async function waitFor<T>(engine: ChildProcess, ask: () => Promise<T | undefined>): Promise<T> {
  const said: Buffer[] = [];
  engine.stderr!.on('data', (chunk: Buffer) => said.length < 100 && said.push(chunk));
  const until = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      if (performance.now() > until) throw error;
      return undefined;
    });
    if (answer !== undefined) return answer;
    if (engine.exitCode !== null || performance.now() > until) {
      throw new Error(
        `bosun ended with ${engine.exitCode} too early: ${Buffer.concat(said).toString().slice(-2000)}`,
      );
    }
    await sleep(1);
  }
}

async function kill(engine: ChildProcess): Promise<void> {
  if (engine.exitCode !== null || engine.signalCode !== null) return;
  const gone = once(engine, 'exit');
  engine.kill('SIGKILL');
  await gone;
}
