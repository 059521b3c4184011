/** What agents that talk cost: how old a message is when another sandbox has it, and what a crew costs that only waits. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from './command.ts';
import { installedBosun } from './installed.ts';
import { atMost, percentile, type Bench, type Figure } from './measure.ts';
import { processorMs } from './processor.ts';
import { git, makeRepository } from './repository.ts';

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

const bosun = installedBosun();

export const bench: Bench = {
  name: 'crew',
  about: `messages between ${2 * PAIRS} agents, each in its fence, and the same agents while they wait`,
  async *figures(): AsyncIterable<Figure> {
    const repo = await makeRepository(100);
    const program = readFileSync(path.join(import.meta.dirname, 'talking-agent.pl'));
    await writeFile(path.join(repo, 'agent.pl'), program);
    await writeFile(path.join(repo, 'talk.json'), JSON.stringify(talkOf()));
    await writeFile(path.join(repo, 'wait.json'), JSON.stringify(waitOf()));
    await git(repo, 'add', '-A');
    await git(repo, 'commit', '-qm', 'a crew');
    yield* messageFigures(repo);
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

async function* messageFigures(repo: string): AsyncIterable<Figure> {
  const env = { ...process.env, BOSUN_AGENTS: String(2 * PAIRS + 1) };
  const printed = await run([bosun, 'run', 'talk.json', '--json'], { cwd: repo, env });
  const ages = printed.split('\n').flatMap((line) => {
    const { event } = (line === '' ? {} : JSON.parse(line)) as { event?: Record<string, unknown> };
    const isReaders = event?.type === 'attempt.output' && String(event.task).startsWith('reader');
    return isReaders ? String(event.text).trim().split(/\s+/).map(Number) : [];
  });
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
