/** Large runs for `web.ts` to look at: the engine's own decisions, with agents that say and do what such agents do. */
import type { Fact } from '../src/contract/event.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { loadRun } from '../src/run/load-run.ts';
import { foldRecorded } from '../src/schedule/fold/format-2.ts';
import { runView } from '../src/schedule/views/view.ts';
import { findGit } from '../src/system/files/state-directory.ts';
import { createHome } from '../src/run/prepare-home.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { playJournal, type Start } from './journal.ts';

const STEP_MS = 20;
const LAYER = 50;
/** Of an attempt of `longRun`: with its own start, end and merge that makes 100,000 events of 1,000 tasks. */
const SAID = 95;

/** Tasks in layers, each after two of the layer before; next to nothing happens in each. */
export function wideRun(repo: string, tasks: number): Promise<{ id: string; lastSeq: number }> {
  const name = (n: number): string => `task-${n}`;
  const needs = (n: number): string[] => {
    const before = Math.floor(n / LAYER) * LAYER - LAYER;
    return before < 0 ? [] : [name(before + (n % LAYER)), name(before + ((n * 7) % LAYER))];
  };
  return playJournal(repo, workflowOf('wide', tasks, name, needs), quietLife, STEP_MS);
}

export function longRun(repo: string, tasks: number): Promise<{ id: string; lastSeq: number }> {
  return playJournal(
    repo,
    workflowOf(
      'long',
      tasks,
      (n) => `task-${n}`,
      () => [],
    ),
    busyLife,
    STEP_MS,
  );
}

/** One after the other, in the order that no file would have: the last is written first. */
export function chainRun(repo: string, tasks: number): Promise<{ id: string; lastSeq: number }> {
  const name = (n: number): string => `task-${tasks - 1 - n}`;
  const needs = (n: number): string[] => (n === tasks - 1 ? [] : [name(n + 1)]);
  return playJournal(repo, workflowOf('chain', tasks, name, needs), quietLife, STEP_MS);
}

export interface TalkingRun extends AsyncDisposable {
  id: string;
  /** Of its only attempt, all in one transaction; gives when they were in the journal. */
  add(facts: readonly Fact[]): Promise<number>;
}

/** Its only attempt, which has printed so many lines and is at work. Until it is disposed of it counts as driven. */
export async function talkingRun(repo: string, lines: number): Promise<TalkingRun> {
  const workflow = workflowOf(
    'talking',
    1,
    () => TALKING.task,
    () => [],
  );
  const { id } = await playJournal(repo, workflow, () => printed(lines), STEP_MS);
  const { journal } = await createHome(findGit(repo)!);
  await using undo = new AsyncDisposableStack();
  const store = undo.use(openSqliteStore(journal));
  undo.use((await store.claim(id))!);
  let { state, lastSeq } = await loadRun(store, id);
  const all = undo.move();
  return {
    id,
    async add(facts) {
      const atMs = Date.now();
      const entries = facts.map((event) => ({ atMs, event }));
      for (const entry of entries) state = foldRecorded(state, entry);
      lastSeq = await store.append(id, lastSeq, { entries, run: runView(state), tasks: [], handled: [] });
      return Date.now();
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const TALKING = { task: 'task-0', attempt: 1 } as const;

export function line(n: number): Fact {
  return {
    type: 'attempt.output',
    ...TALKING,
    stream: 'stdout',
    text: `line ${n}. ${'and what it says '.repeat(2)}\n`,
  };
}

export function word(n: number): Fact {
  return { type: 'attempt.agent', ...TALKING, event: { kind: 'text', text: `word ${n}.` } };
}

function* printed(lines: number): Generator<Fact> {
  for (let n = 0; n < lines; n += 1) yield line(n);
}

function workflowOf(
  name: string,
  count: number,
  nameOf: (n: number) => string,
  needsOf: (n: number) => string[],
): WorkflowSource {
  const agent = { runtime: 'claude-code', model: 'claude-opus-4' } as const;
  const tasks: WorkflowSource['tasks'] = {};
  for (let n = 0; n < count; n += 1) {
    const needs = [...new Set(needsOf(n))];
    tasks[nameOf(n)] = { agent: 'hand', prompt: 'Do it.', ...(needs.length > 0 && { needs }) };
  }
  return { name, concurrency: 20, budget: { usd: 10_000 }, agents: { hand: agent }, tasks };
}

function* quietLife(start: Start): Generator<Fact> {
  yield used(start);
  yield finished(start);
}

function* busyLife(start: Start): Generator<Fact> {
  const { task, attempt } = start;
  for (let n = 0; n < SAID; n += 1) {
    const event =
      n % 3 === 0
        ? { kind: 'text' as const, text: `I look at part ${n} of ${task} and say what I have seen there.` }
        : {
            kind: 'tool-call' as const,
            id: `${n}`,
            name: 'Edit',
            input: JSON.stringify({ file_path: `src/${task}/part-${n}.ts` }),
          };
    yield n % 10 === 9 ? used(start) : { type: 'attempt.agent', task, attempt, event };
  }
  yield finished(start);
}

function used({ task, attempt }: Start): Fact {
  return {
    type: 'model.used',
    task,
    attempt,
    provider: 'anthropic',
    model: 'claude-opus-4',
    tokens: { input: 4000, output: 900, cacheRead: 30_000, cacheWrite: 2000 },
    usd: 0.02,
  };
}

function finished({ task, attempt }: Start): Fact {
  return { type: 'attempt.finished', task, attempt, outcome: { kind: 'done' }, durationMs: 1000 };
}
