/**
 * What agents that work together cost: how old a message is when another sandbox has it, how soon a task starts that waits
 * for a publication, what children cost beside tasks of the file, and a crew that only waits.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run, spawnMs } from './command.ts';
import { installedBosun } from './installed.ts';
import {
  atMost,
  interleave,
  median,
  percentile,
  progress,
  roundsOr,
  type Bench,
  type Figure,
} from './measure.ts';
import { processorMs } from './processor.ts';
import { git, makeRepository, repositoryOf } from './repository.ts';

const PAIRS = 50;
const MESSAGES = 20;
/** Each writer says something once a second: far more often than agents do. */
const EVERY_S = 1;
/** All of them are at work before the first writes. */
const START_S = 20;
const P50_MS_MAX = 5;
const P99_MS_MAX = 25;
const IDLE_MS = 20_000;
const IDLE_PERCENT_MAX = 2;
const PUBLICATIONS = 20;
const PUBLISHED_FILES = 5000;
/** Between two publications, so that each is measured alone. */
const PUBLISH_EVERY_S = 0.5;
const PUBLISHED_MS_MAX = 100;
const CHILDREN = 1000;
const CHILDREN_ROUNDS = 3;
const CHILDREN_RATIO_MAX = 1.3;

const bosun = installedBosun();

export const bench: Bench = {
  name: 'crew',
  about: `messages between ${2 * PAIRS} agents, publications, ${CHILDREN} children, and agents that wait`,
  async *figures(): AsyncIterable<Figure> {
    const repo = await makeRepository(100);
    const program = readFileSync(path.join(import.meta.dirname, 'talking-agent.pl'));
    await writeFile(path.join(repo, 'agent.pl'), program);
    await writeFile(path.join(repo, 'talk.json'), JSON.stringify(talkOf()));
    await writeFile(path.join(repo, 'wait.json'), JSON.stringify(waitOf()));
    await git(repo, 'add', '-A');
    await git(repo, 'commit', '-qm', 'a crew');
    await writeFile(path.join(repo, 'children.json'), JSON.stringify(childrenOf()));
    await writeFile(path.join(repo, 'tasks.json'), JSON.stringify(sameTasks()));
    yield* messageFigures(repo);
    yield* publicationFigures();
    yield* childrenFigures(repo);
    yield* idleFigures(repo);
  },
};

function talkOf(): object {
  const tasks: Record<string, object> = {};
  for (let n = 0; n < PAIRS; n += 1) {
    tasks[`reader-${n}`] = { run: `perl agent.pl read ${MESSAGES}` };
    const waitS = START_S + (n * EVERY_S) / PAIRS;
    tasks[`writer-${n}`] = { run: `perl agent.pl write reader-${n} ${MESSAGES} ${EVERY_S} ${waitS}` };
  }
  return { name: 'talk', concurrency: 2 * PAIRS, tasks };
}

/** They wait for one who could send a message, and does not: where nobody could they would be told so. */
function waitOf(): object {
  const names = Array.from({ length: 2 * PAIRS }, (_, n) => `waiter-${n}`);
  const tasks = Object.fromEntries(names.map((name) => [name, { run: 'perl agent.pl read 1' }]));
  return { name: 'wait', concurrency: 2 * PAIRS + 1, tasks: { ...tasks, silent: { run: 'sleep 600' } } };
}

function publishOf(): object {
  const tasks: Record<string, object> = {};
  for (let n = 0; n < PUBLICATIONS; n += 1) {
    const waitS = 5 + n * PUBLISH_EVERY_S;
    tasks[`publisher-${n}`] = { run: `perl agent.pl publish api-${n} ${waitS}`, publishes: [`api-${n}`] };
    tasks[`waiter-${n}`] = { needs: [`api:api-${n}`], run: 'perl agent.pl now' };
  }
  return { name: 'publish', concurrency: 2 * PUBLICATIONS, tasks };
}

const HAND = { agents: { hand: { runtime: 'cli', command: 'true' } }, concurrency: 8 };

function childrenOf(): object {
  return { name: 'children', ...HAND, tasks: { parent: { run: `perl agent.pl spawn ${CHILDREN}` } } };
}

function sameTasks(): object {
  const names = Array.from({ length: CHILDREN }, (_, n) => `child-${n}`);
  const tasks = Object.fromEntries(names.map((name) => [name, { agent: 'hand', prompt: 'x' }]));
  return { name: 'tasks', ...HAND, tasks: { parent: { run: 'true' }, ...tasks } };
}

async function* publicationFigures(): AsyncIterable<Figure> {
  const repo = await repositoryOf(PUBLISHED_FILES);
  await writeFile(
    path.join(repo, 'agent.pl'),
    readFileSync(path.join(import.meta.dirname, 'talking-agent.pl')),
  );
  await writeFile(path.join(repo, 'publish.json'), JSON.stringify(publishOf()));
  await git(repo, 'add', '-A');
  await git(repo, 'commit', '-qm', 'publishers');
  const env = { ...process.env, BOSUN_AGENTS: String(2 * PUBLICATIONS) };
  const moments = new Map<string, number>();
  for (const { task, text } of outputsIn(
    await run([bosun, 'run', 'publish.json', '--json'], { cwd: repo, env }),
  ))
    moments.set(task, Number(text));
  const tookMs = Array.from(
    { length: PUBLICATIONS },
    (_, n) => (moments.get(`waiter-${n}`)! - moments.get(`publisher-${n}`)!) * 1000,
  );
  progress(`publications: ${tookMs.map((ms) => ms.toFixed(0)).join(' ')} ms`);
  const name = `a publication, until a task that waits for it is at work, at ${PUBLISHED_FILES} files`;
  yield atMost(1, { name, value: median(tookMs), baseline: PUBLISHED_MS_MAX });
}

async function* childrenFigures(repo: string): AsyncIterable<Figure> {
  const start = (name: string): Promise<number> => spawnMs([bosun, 'run', `${name}.json`], { cwd: repo });
  const { children, tasks } = await interleave(`${CHILDREN} children`, roundsOr(CHILDREN_ROUNDS), {
    children: () => start('children'),
    tasks: () => start('tasks'),
  });
  const name = `${CHILDREN} children of one parent`;
  yield atMost(CHILDREN_RATIO_MAX, { name, value: children, baseline: tasks });
}

/** What tasks printed. */
function outputsIn(printed: string): { task: string; text: string }[] {
  return printed.split('\n').flatMap((line) => {
    const { event } = (line === '' ? {} : JSON.parse(line)) as { event?: Record<string, unknown> };
    return event?.type === 'attempt.output' ? [{ task: String(event.task), text: String(event.text) }] : [];
  });
}

async function* messageFigures(repo: string): AsyncIterable<Figure> {
  const env = { ...process.env, BOSUN_AGENTS: String(2 * PAIRS + 1) };
  const printed = await run([bosun, 'run', 'talk.json', '--json'], { cwd: repo, env });
  const ages = outputsIn(printed)
    .filter(({ task }) => task.startsWith('reader'))
    .flatMap(({ text }) => text.trim().split(/\s+/).map(Number));
  if (ages.length !== PAIRS * MESSAGES)
    throw new Error(`${ages.length} messages arrived, not ${PAIRS * MESSAGES}`);
  for (const [percent, baseline] of [
    [50, P50_MS_MAX],
    [99, P99_MS_MAX],
  ] as const) {
    const name = `a message to another of ${2 * PAIRS} agents, p${percent}`;
    yield atMost(1, { name, value: percentile(percent, ages), baseline });
  }
}

async function* idleFigures(repo: string): AsyncIterable<Figure> {
  const env = { ...process.env, BOSUN_AGENTS: String(2 * PAIRS + 1) };
  const id = (await run([bosun, 'run', '--detach', 'wait.json'], { cwd: repo, env })).trim();
  const note = readFileSync(path.join(repo, '.git', 'bosun', 'runs', id, 'engine.json'), 'utf8');
  const { pid } = JSON.parse(note) as { pid: number };
  await allWait(repo, id);
  const before = processorMs(pid);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const value = ((processorMs(pid) - before) / IDLE_MS) * 100;
  await run([bosun, 'cancel', id, '--now'], { cwd: repo }).catch(() => {}); // exit code 3
  const name = `an engine whose ${2 * PAIRS} agents wait`;
  yield atMost(1, { name, value, baseline: IDLE_PERCENT_MAX, unit: '% of a core' });
}

/** The last of them has asked, and what their start left to do is done. */
async function allWait(repo: string, id: string): Promise<void> {
  const logs = spawn(bosun, ['logs', id, '--follow', '--json'], {
    cwd: repo,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  let waiting = 0;
  for await (const chunk of logs.stdout) {
    text += String(chunk);
    const lines = text.split('\n');
    text = lines.pop()!;
    waiting += lines.filter((line) => line.includes('"type":"wait.began"')).length;
    if (waiting >= 2 * PAIRS) break;
  }
  logs.kill();
  await once(logs, 'close');
  await new Promise((resolve) => setTimeout(resolve, 5000));
}
