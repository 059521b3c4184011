/**
 * Many runs at once: ten runs of 100 tasks in one repository, each a bosun of its own, against the same 1,000 tasks in
 * one run with as many at work; how soon a detached run has an id, and an attached one is on the screen; and what an engine
 * costs that waits for a person.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { workflowOf } from './bosun.ts';
import { run, spawnMs } from './command.ts';
import { installedBosun } from './installed.ts';
import { atMost, interleave, roundsOr, type Bench, type Figure } from './measure.ts';
import { processorMs, residentMb } from './processor.ts';
import { git, makeRepository } from './repository.ts';

const RUNS = 10;
const TASKS = 100;
const CONCURRENCY = 10;
const ROUNDS = 3;
const RATIO_MAX = 1.15;
const DETACH_ROUNDS = 11;
const DETACH_MS_MAX = 250;
const ATTACH_MS_MAX = 300;
const IDLE_MS = 20_000;
const IDLE_PERCENT_MAX = 0.3;
const IDLE_MB_MAX = 130;

const bosun = installedBosun();

export const bench: Bench = {
  name: 'many',
  about: `${RUNS} runs of ${TASKS} tasks at once, a run in the background, and one that waits for a person`,
  async *figures(): AsyncIterable<Figure> {
    const repo = await makeRepository(100);
    const write = (name: string, workflow: object): Promise<void> =>
      writeFile(path.join(repo, `${name}.json`), JSON.stringify(workflow));
    await write('one', workflowOf('apart', RUNS * TASKS, { name: 'one', concurrency: CONCURRENCY }));
    await write('part', workflowOf('apart', TASKS, { name: 'part', concurrency: CONCURRENCY / RUNS }));
    await write('ask', { name: 'ask', tasks: { ask: { approve: 'Go on?' } } });
    await git(repo, 'add', '-A');
    await git(repo, 'commit', '-qm', 'workflows');
    const start = (name: string): Promise<number> => spawnMs([bosun, 'run', `${name}.json`], { cwd: repo });
    await start('part');
    const taken = await interleave(`${RUNS * TASKS} tasks`, roundsOr(ROUNDS), {
      apart: async () => Math.max(...(await Promise.all(Array.from({ length: RUNS }, () => start('part'))))),
      together: () => start('one'),
    });
    const name = `${RUNS} runs of ${TASKS} tasks at once`;
    yield atMost(RATIO_MAX, { name, value: taken.apart, baseline: taken.together });
    yield* detachFigures(repo);
    yield* attachFigures(repo);
    yield* idleFigures(repo);
  },
};

async function* detachFigures(repo: string): AsyncIterable<Figure> {
  const detached: string[] = [];
  const { detach, version } = await interleave('in the background', roundsOr(DETACH_ROUNDS), {
    detach: async () => {
      const begin = performance.now();
      detached.push((await run([bosun, 'run', '--detach', 'ask.json'], { cwd: repo })).trim());
      return performance.now() - begin;
    },
    version: () => spawnMs([bosun, '--version'], { cwd: repo }),
  });
  for (const id of detached) await run([bosun, 'cancel', id, '--now'], { cwd: repo }).catch(() => {}); // exit code 3
  const name = 'run --detach, beyond bosun --version';
  yield atMost(1, { name, value: Math.max(0, detach - version), baseline: DETACH_MS_MAX });
}

async function* attachFigures(repo: string): AsyncIterable<Figure> {
  const id = (await run([bosun, 'run', '--detach', 'ask.json'], { cwd: repo })).trim();
  const { frame } = await interleave('attached', roundsOr(DETACH_ROUNDS), {
    frame: () => firstFrameMs([bosun, 'attach', id], repo, 'Go on?'),
  });
  await run([bosun, 'cancel', id, '--now'], { cwd: repo }).catch(() => {});
  const name = 'attach, until its first frame';
  yield atMost(1, { name, value: frame, baseline: ATTACH_MS_MAX });
}

/** In a terminal of its own, until it shows this text; then it is ended as Ctrl-C does. */
function firstFrameMs(argv: readonly string[], cwd: string, text: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    const child = spawn('script', ['-qfec', argv.join(' '), '/dev/null'], {
      cwd,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TERM: 'xterm-256color' },
    });
    let shown = '';
    let tookMs: number | undefined;
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
      if (tookMs !== undefined || !shown.includes(text)) return;
      tookMs = performance.now() - begin;
      child.stdin.write('\u0003');
    });
    child.once('error', reject);
    child.once('close', () =>
      tookMs === undefined ? reject(new Error(`it never showed ${text}: ${shown}`)) : resolve(tookMs),
    );
  });
}

async function* idleFigures(repo: string): AsyncIterable<Figure> {
  const id = (await run([bosun, 'run', '--detach', 'ask.json'], { cwd: repo })).trim();
  const note = readFileSync(path.join(repo, '.git', 'bosun', 'runs', id, 'engine.json'), 'utf8');
  const { pid } = JSON.parse(note) as { pid: number };
  await pause(5000); // what its start left to do
  const before = processorMs(pid);
  await pause(IDLE_MS);
  const percent = ((processorMs(pid) - before) / IDLE_MS) * 100;
  const unit = '% of a core';
  yield atMost(1, {
    name: 'an engine that waits for a person',
    value: percent,
    unit,
    baseline: IDLE_PERCENT_MAX,
  });
  const mb = residentMb(pid);
  yield atMost(1, { name: 'the same, in memory', value: mb, unit: 'MB', baseline: IDLE_MB_MAX });
  await run([bosun, 'cancel', id, '--now'], { cwd: repo }).catch(() => {});
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
