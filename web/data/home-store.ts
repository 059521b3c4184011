/**
 * All runs of all repositories at a glance: read once, and again as far as events say that something has changed. One
 * for the page. It folds nothing: each run comes whole, so that one that comes twice does no harm.
 *
 *   loading ──▶ open ──(events, a look now and then)──▶ open
 *      └──▶ problem ──(again)──▶ loading
 */
import type { Overview } from '../../src/contract/outputs.ts';
import type { ServedRepository } from '../../src/contract/serving-schema.ts';
import { agentLine } from '../../src/schedule/views/agent-line.ts';
import { isOpen } from '../../src/contract/run.ts';
import { ask, Problem, repositoryPath } from './api.ts';
import { onEvents, onStanding, type Streamed } from './stream.ts';

export type Glance = Overview['runs'][number];

export interface RepositoryAt {
  name: string;
  directory: string;
  branch: string | undefined;
  /** The newest first. */
  runs: readonly Glance[];
  days: NonNullable<Overview['days']>;
  shared: NonNullable<Overview['shared']>;
  /** It could not be read; what is here is what was read before. */
  problem?: string;
}

export type Home =
  | { state: 'loading' }
  | { state: 'problem'; problem: Problem; again(): void }
  | { state: 'open'; repositories: readonly RepositoryAt[]; eventCount: number };

/** How long changes of a repository are collected; the first is read at once. */
const GATHER_MS = 400;
/** What only costs, such as an answer of a model, is not looked at sooner. */
const QUIET_MS = 2000;
/** Whether somebody drives a run is in no event. */
const LOOK_MS = 10_000;
const RUNS_SHOWN = 30;
/** As many of them are read at once. */
const RUNS_READ_MAX = 100;
const LINE_CHARS_MAX = 200;
const QUIET = new Set([
  'attempt.agent',
  'model.used',
  'attempt.progress',
  'attempt.held',
  'attempt.released',
]);

interface Pending {
  runs: Set<string>;
  timer: ReturnType<typeof setTimeout> | undefined;
  dueAtMs: number;
  lastMs: number;
  isReading: boolean;
}

const listeners = new Set<() => void>();
const repositories = new Map<string, RepositoryAt>();
const pending = new Map<string, Pending>();
/** What the agent of a task last said or did, by `repository/run/task`, as far as this page heard it. */
const lines = new Map<string, string>();
/** Where money was spent since the sums were read, and on which day that was. */
const spent = new Set<string>();
let readOn = new Date().toDateString();
let home: Home = { state: 'loading' };
let eventCount = 0;
let isRead = false;
let stop: AbortController | undefined;

export function currentHome(): Home {
  return home;
}

export function lastLineOf(repository: string, run: string, task: string): string | undefined {
  return lines.get(`${repository}/${run}/${task}`);
}

export function listenHome(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) begin();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) stop?.abort();
  };
}

/** Reads these runs now: something was done with them here. */
export function refreshRun(repository: string, run: string): void {
  if (listeners.size > 0) want(repository, [run], 0);
}

function begin(): void {
  stop = new AbortController();
  const { signal } = stop;
  const leave = onEvents(null, heard);
  // What was missed while nobody was there to hear it is read with the rest.
  let hasBegun = false;
  const leaveStanding = onStanding(null, () => {
    if (hasBegun) void readAll(signal);
  });
  hasBegun = true;
  const looking = setInterval(look, LOOK_MS);
  signal.addEventListener('abort', () => {
    leave();
    leaveStanding();
    clearInterval(looking);
    for (const { timer } of pending.values()) clearTimeout(timer);
    pending.clear();
  });
  void readAll(signal);
}

async function readAll(signal: AbortSignal): Promise<void> {
  try {
    const served = await ask<ServedRepository[]>('/api/repositories', { signal });
    for (const name of repositories.keys())
      if (!served.some((each) => each.name === name)) repositories.delete(name);
    await Promise.all(served.map((each) => readRepository(each, signal)));
    isRead = true;
    show();
  } catch (error) {
    if (signal.aborted || home.state === 'open') return;
    const problem = error instanceof Problem ? error : new Problem(0, 'system', String(error));
    const again = (): void => {
      set({ state: 'loading' });
      void readAll(signal);
    };
    set({ state: 'problem', problem, again });
  }
}

async function readRepository({ name, directory }: ServedRepository, signal: AbortSignal): Promise<void> {
  const before = repositories.get(name) ?? { runs: [], days: [], shared: [], branch: undefined };
  try {
    const query = { limit: RUNS_SHOWN };
    const { runs, days = [], shared = [], branch } = await overview(name, { query, signal });
    repositories.set(name, { name, directory, branch, runs: kept(runs), days, shared });
  } catch (error) {
    if (signal.aborted || (error instanceof Problem && error.status === 0)) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    repositories.set(name, { ...before, name, directory, problem });
  }
}

function overview(
  repository: string,
  asked: { query: Record<string, number | readonly string[]>; signal?: AbortSignal },
): Promise<Overview> {
  return ask<Overview>(`${repositoryPath(repository)}/overview`, asked);
}

function heard(events: readonly Streamed[]): void {
  eventCount += events.length;
  for (const [repository, own] of Map.groupBy(events, (each) => each.repository)) {
    for (const { run, event } of own) {
      if (event.type === 'model.used') spent.add(repository);
      if (event.type === 'task.finished') lines.delete(`${repository}/${run}/${event.task}`);
      if (event.type !== 'attempt.agent') continue;
      const line = agentLine(event.event)?.trim().split('\n')[0];
      if (line) lines.set(`${repository}/${run}/${event.task}`, line.slice(0, LINE_CHARS_MAX));
    }
    const loud = own.filter(({ event }) => !QUIET.has(event.type)).map(({ run }) => run);
    if (loud.length > 0) want(repository, loud, GATHER_MS);
    want(
      repository,
      own.map(({ run }) => run),
      QUIET_MS,
    );
  }
  show();
}

function want(repository: string, runs: readonly string[], withinMs: number): void {
  let found = pending.get(repository);
  if (!found) {
    found = { runs: new Set(), timer: undefined, dueAtMs: Infinity, lastMs: 0, isReading: false };
    pending.set(repository, found);
  }
  for (const run of runs) found.runs.add(run);
  const nowMs = Date.now();
  const isAtOnce = withinMs <= GATHER_MS && nowMs - found.lastMs > GATHER_MS;
  const dueAtMs = isAtOnce ? nowMs : nowMs + withinMs;
  if (found.isReading || dueAtMs >= found.dueAtMs) return;
  clearTimeout(found.timer);
  found.dueAtMs = dueAtMs;
  found.timer = setTimeout(() => void read(repository, found), dueAtMs - nowMs);
}

async function read(repository: string, found: Pending): Promise<void> {
  const runs = [...found.runs].slice(0, RUNS_READ_MAX);
  for (const run of runs) found.runs.delete(run);
  Object.assign(found, { timer: undefined, dueAtMs: Infinity, isReading: true, lastMs: Date.now() });
  try {
    const asked = { query: { runs }, ...(stop && { signal: stop.signal }) };
    const fresh = (await overview(repository, asked)).runs;
    const before = repositories.get(repository);
    if (before) {
      const others = before.runs.filter(({ run }) => !runs.includes(run.id));
      const { problem: _, ...rest } = before;
      repositories.set(repository, { ...rest, runs: kept([...fresh, ...others]) });
      show();
    }
    found.isReading = false;
    if (found.runs.size > 0) want(repository, [], GATHER_MS);
  } catch {
    // Whoever is not heard any more says so for all of the page; what stands anew is read anew.
    found.isReading = false;
    if (pending.get(repository) === found) want(repository, runs, LOOK_MS);
  }
}

function look(): void {
  const today = new Date().toDateString();
  for (const name of repositories.keys())
    if (spent.delete(name) || today !== readOn) void readMoney(name).catch(() => spent.add(name));
  readOn = today;
  for (const { name, runs } of repositories.values()) {
    const open = runs.filter(isAtWork).map(({ run }) => run.id);
    if (open.length > 0) want(name, open, QUIET_MS);
  }
}

/** What was spent, of which no run tells. */
async function readMoney(name: string): Promise<void> {
  const { days = [], shared = [] } = await overview(name, { query: { limit: 1 } });
  const before = repositories.get(name);
  if (before) repositories.set(name, { ...before, days, shared });
  show();
}

function isAtWork({ run }: Glance): boolean {
  return isOpen(run) || run.state === 'interrupted';
}

/** The newest first; of those that are over only as many as were read at first. */
function kept(runs: readonly Glance[]): Glance[] {
  const all = runs.toSorted((a, b) => b.run.createdAtMs - a.run.createdAtMs);
  return all.filter((each, n) => n < RUNS_SHOWN || isAtWork(each));
}

function show(): void {
  if (!isRead) return;
  const all = [...repositories.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  set({ state: 'open', repositories: all, eventCount });
}

function set(next: Home): void {
  home = next;
  for (const listener of listeners) listener();
}
