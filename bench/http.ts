/**
 * What `bosun serve` can take: runs that are asked for, looks at one, requests while a hundred agents are at work, and
 * readers of events, many of one agent and a thousand that only wait. Server and clients share the machine.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { run } from './command.ts';
import type { Asked, Asking, ReadEvents, ReadingEvents } from './http-side.ts';
import { installedBosun } from './installed.ts';
import { atMost, below, progress, type Bench, type Figure } from './measure.ts';
import { processorMs, residentMb } from './processor.ts';
import { git, makeRepository } from './repository.ts';
import { startServing, type Served } from './served.ts';

const CONNECTIONS = 20;
const SECONDS = 8;
const GETS_PER_SECOND = 3000;
const POSTS_PER_SECOND = 500;
/** A token may ask 5,000 times a second: beyond that it would be the limit that is measured. */
const ASKED_PER_SECOND_MAX = 4500;
const AGENTS = 100;
/** While agents are at work: far more often than people and scripts ask, and less than the server can take. */
const LOOKS_PER_SECOND = 100;
const P99_MS_MAX = 50;
const READERS = 100;
const LINES = 200;
const LINES_PER_SECOND = 10;
const IDLE_READERS = 1000;
const IDLE_MS = 20_000;
const IDLE_MB_MAX = 100;
const IDLE_PERCENT_MAX = 5;

export const bench: Bench = {
  name: 'http',
  about: 'bosun serve: requests accepted and answered, events to many readers',
  async *figures(): AsyncIterable<Figure> {
    yield* requestFigures();
    yield* busyFigures();
    yield* lineFigures();
    yield* idleFigures();
  },
};

/** One after the other, each with a server of its own: what is left over of one burdens none of the others. */
async function* requestFigures(): AsyncIterable<Figure> {
  const repo = await repositoryWith({ 'nine.json': manyTasks('nine', 9) });
  const server = await startServing([repo], { BOSUN_AGENTS: '9' });
  await putRecords(server);
  const id = await detached(repo, server, 'nine.json');
  const name = path.basename(repo);
  const nine = await ask(server, { method: 'GET', path: `/api/repositories/${name}/runs/${id}` });
  yield rate('GET of a run of nine tasks', nine, GETS_PER_SECOND);
  const post = { method: 'POST', path: EXECUTE, body: JSON.stringify(asking(name)) };
  const accepted = await ask(server, post);
  yield rate('POST /execute, accepted durably', accepted, POSTS_PER_SECOND);
  const execution = (await server.ask('POST', EXECUTE, asking(name))) as { id: string };
  const own = await ask(server, { method: 'GET', path: `${EXECUTIONS}/${execution.id}` });
  yield rate('GET of an execution', own, GETS_PER_SECOND);
  await server.end();
}

async function* busyFigures(): AsyncIterable<Figure> {
  const talk = { name: 'talk', concurrency: AGENTS, tasks: talkers(AGENTS, { perSecond: 1, lines: 600 }) };
  const repo = await repositoryWith({ 'talk.json': talk });
  const server = await startServing([repo], { BOSUN_AGENTS: String(AGENTS) });
  await putRecords(server);
  const id = await detached(repo, server, 'talk.json');
  await atWork(repo, server, id);
  const name = path.basename(repo);
  const paced = { perSecond: LOOKS_PER_SECOND, seconds: 10 };
  const looks = await ask(server, {
    ...paced,
    method: 'GET',
    path: `/api/repositories/${name}/runs/${id}`,
  });
  yield below(p99(`GET of a run, ${AGENTS} agents at work, p99`, looks.p99Ms));
  const body = JSON.stringify(asking(name));
  const posts = await ask(server, { ...paced, method: 'POST', path: EXECUTE, body });
  yield below(p99(`POST /execute, ${AGENTS} agents at work, p99`, posts.p99Ms));
  await server.end();
}

async function* lineFigures(): AsyncIterable<Figure> {
  const tasks = talkers(1, { perSecond: LINES_PER_SECOND, lines: LINES, waitS: 4 });
  const repo = await repositoryWith({ 'talk.json': { name: 'talk', tasks } });
  const server = await startServing([repo]);
  const pathOf = `/api/repositories/${path.basename(repo)}/events`;
  const readers = await startReaders(server, { readers: READERS, path: pathOf, moments: LINES });
  await detached(repo, server, 'talk.json');
  const { p50Ms, p99Ms } = (await readers.next()) as ReadEvents;
  await readers.end();
  await server.end();
  progress(`an agent's line to ${READERS} readers: p50 ${p50Ms.toFixed(1)} ms`);
  yield below(p99(`an agent's line to ${READERS} readers, p99`, p99Ms));
}

async function* idleFigures(): AsyncIterable<Figure> {
  const repo = await repositoryWith({ 'one.json': manyTasks('one', 1) });
  const server = await startServing([repo]);
  await detached(repo, server, 'one.json');
  const some = { readers: 10, path: `/api/repositories/${path.basename(repo)}/events` };
  const first = await startReaders(server, some); // what the first of them loads is not theirs
  await pause(2000);
  const beforeMb = residentMb(server.pid);
  const idle = await startReaders(server, { ...some, path: '/api/events', readers: IDLE_READERS });
  await pause(2000);
  const beforeMs = processorMs(server.pid);
  await pause(IDLE_MS);
  const percent = ((processorMs(server.pid) - beforeMs) / IDLE_MS) * 100;
  const mb = residentMb(server.pid) - beforeMb;
  await Promise.all([first.end(), idle.end()]);
  await server.end();
  const name = `${IDLE_READERS} idle readers`;
  yield below({ name: `${name}, memory`, value: mb, baseline: IDLE_MB_MAX, unit: 'MB' });
  yield below({
    name: `${name}, processor`,
    value: percent,
    baseline: IDLE_PERCENT_MAX,
    unit: '% of a core',
  });
}

const EXECUTE = '/api/agent-runtime/execute';
const EXECUTIONS = '/api/agent-runtime/executions';

/** Its agent does nothing for as long as the bench takes. */
async function putRecords(server: Served): Promise<void> {
  await server.ask('PUT', '/api/workers/hand', { name: 'hand', command: 'sleep 600' });
  await server.ask('PUT', '/api/templates/fix', { name: 'fix', prompt: 'Fix it.' });
  await server.ask('PUT', '/api/items/one', { title: 'One', text: 'The first.' });
}

function asking(repositoryId: string): object {
  return { workerId: 'hand', workItemId: 'one', templateId: 'fix', repositoryId };
}

function manyTasks(name: string, count: number): object {
  const names = Array.from({ length: count }, (_, n) => `task-${n}`);
  return { name, tasks: Object.fromEntries(names.map((task) => [task, { run: 'sleep 600' }])) };
}

/** Each line says when it was printed. */
function talkers(
  count: number,
  { perSecond, lines, waitS = 0 }: { perSecond: number; lines: number; waitS?: number },
): object {
  const say = `printf("at %.3f \\n", 1000 * time); sleep(${1 / perSecond})`;
  const script = `use Time::HiRes qw(time sleep); $| = 1; sleep(${waitS}); for (1..${lines}) { ${say} }`;
  const names = Array.from({ length: count }, (_, n) => `talker-${n}`);
  return Object.fromEntries(names.map((name) => [name, { run: `perl -e '${script}'` }]));
}

async function repositoryWith(files: Record<string, object>): Promise<string> {
  const repo = await makeRepository(100);
  for (const [name, value] of Object.entries(files))
    writeFileSync(path.join(repo, name), JSON.stringify(value));
  await git(repo, 'add', '-A');
  await git(repo, 'commit', '-qm', 'workflows');
  return repo;
}

async function detached(repo: string, { env }: Served, file: string): Promise<string> {
  return (await run([installedBosun(), 'run', '--detach', file], { cwd: repo, env })).trim();
}

/** Resolves once all of its tasks are. */
async function atWork(repo: string, server: Served, id: string): Promise<void> {
  for (;;) {
    const at = `/api/repositories/${path.basename(repo)}/runs/${id}?limit=1`;
    const { run: view } = (await server.ask('GET', at)) as { run: { counts: Record<string, number> } };
    if (view.counts.running === AGENTS) return;
    await pause(500);
  }
}

async function ask(server: Served, job: Partial<Asking>): Promise<Asked> {
  const { url, token } = server;
  const whole = {
    kind: 'ask',
    url,
    token,
    connections: CONNECTIONS,
    seconds: SECONDS,
    perSecondMax: ASKED_PER_SECOND_MAX,
    ...job,
  };
  const beforeMs = processorMs(server.pid);
  const asked = JSON.parse(
    await run([process.execPath, SIDE, JSON.stringify(whole)], { cwd: import.meta.dirname }),
  ) as Asked;
  const ms = (processorMs(server.pid) - beforeMs) / asked.count;
  progress(
    `${job.method}: ${asked.perSecond.toFixed(0)}/s, p50 ${asked.p50Ms.toFixed(1)}, p99 ${asked.p99Ms.toFixed(1)} ms, ${ms.toFixed(3)} ms of the server's processor time each`,
  );
  return asked;
}

const SIDE = path.join(import.meta.dirname, 'http-side.ts');

/** Resolves once all streams are open; `next` is what they have to say after that. */
async function startReaders(
  { url, token }: Served,
  job: Omit<ReadingEvents, 'kind' | 'url' | 'token'>,
): Promise<{ next(): Promise<unknown>; end(): Promise<void> }> {
  const whole: ReadingEvents = { kind: 'read', url, token, ...job };
  const child = spawn(process.execPath, [SIDE, JSON.stringify(whole)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the readers ended before they had all');
    return JSON.parse(value) as unknown;
  };
  await next();
  return {
    next,
    async end() {
      child.stdin.end();
      await exited;
    },
  };
}

function rate(name: string, { perSecond }: Asked, goal: number): Figure {
  return atMost(1, { name, value: 1000 / perSecond, baseline: 1000 / goal, unit: 'ms each' });
}

function p99(name: string, value: number): { name: string; value: number; baseline: number } {
  return { name, value, baseline: P99_MS_MAX };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
