/** What a task prints without end holds nobody up: not when it is recorded, nor when the report is made. */
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Event, Fact } from '../src/contract/event.ts';
import { workflow } from '../src/definition/builder.ts';
import { createRun } from '../src/run/create-run.ts';
import { loadRun } from '../src/run/load-run.ts';
import { findHome, Home } from '../src/store/home.ts';
import { followEvents } from '../src/operations/events.ts';
import { logs } from '../src/operations/logs.ts';
import { reportOf } from '../src/operations/report.ts';
import { JournalHash } from '../src/report/journal-hash.ts';
import { Loop } from '../src/run/loop.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { openEngineGit } from '../src/system/git/engine-git.ts';
import { inspectRepository } from '../src/system/git/repository.ts';
import { BUSY_MS_MAX, busiestMs } from './fixtures/busiest.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const PIECE_CHARS = 65_536;
const PIECES = 256;

function flood(text: string, pieces = PIECES): Fact[] {
  return Array.from({ length: pieces }, () => ({
    type: 'attempt.output',
    task: 'a',
    attempt: 1,
    stream: 'stdout',
    text,
  }));
}

const FINISHED: Fact = {
  type: 'attempt.finished',
  task: 'a',
  attempt: 1,
  outcome: { kind: 'done' },
  durationMs: 0,
};

let repository: TestRepository;
let recordingMs: number;

/** A run whose one task prints 16 MB of line ends all at once. */
async function record(): Promise<void> {
  const place = await inspectRepository(repository.path);
  const home = new Home(place);
  mkdirSync(home.directory, { recursive: true, mode: 0o700 });
  await (await openEngineGit(place))[Symbol.asyncDispose](); // makes its directory
  await using store = openSqliteStore(home.journal);
  const run = {
    workflow: workflow({ name: 'w', tasks: { a: { run: 'x' } } }),
    source: 'test',
    inputs: {},
    base: await repository.git('rev-parse', 'HEAD'),
    dirty: false,
  };
  const { id, claim } = await createRun(store, run, 0);
  claim[Symbol.dispose](); // other journals of these tests are in the same place
  const { state, lastSeq } = await loadRun(store, id);
  const facts = flood('\n'.repeat(PIECE_CHARS));
  const loop = new Loop({
    older: new Set(),
    store,
    state,
    lastSeq,
    nowMs: () => 0,
    act: ({ type }) => {
      if (type !== 'attempt.started') return;
      loop.submit(...facts, FINISHED);
    },
  });
  recordingMs = await busiestMs(async () => {
    loop.start([]);
    await loop.finished;
  });
}

beforeAll(async () => {
  repository = await makeRepository();
  await record();
}, 30_000);
afterAll(() => repository[Symbol.asyncDispose]());

test('16 MB of line ends are recorded piece by piece, in their order', async () => {
  expect(recordingMs).toBeLessThan(BUSY_MS_MAX);
  await using store = openSqliteStore(findHome(repository.path)!.journal);
  const types = (await store.read('w-1')).map(({ event }) => event.type);
  expect(types.filter((type) => type === 'attempt.output')).toHaveLength(PIECES);
  expect(types.slice(-3)).toEqual(['attempt.finished', 'task.finished', 'run.finished']);
});

test('a report of 16 MB of line ends lets others have their turn, and counts all lines', async () => {
  let log;
  const busyMs = await busiestMs(async () => {
    [log] = (await reportOf({ cwd: repository.path })).tasks.map((task) => task.log);
  });
  expect(log).toMatchObject({ linesLeftOut: PIECES * PIECE_CHARS - 60 });
  expect(busyMs).toBeLessThan(BUSY_MS_MAX);
});

test('the hash of a run takes a long output block by block, whatever the pieces', () => {
  const line = 'compiled 17 files in 3.1 s at 12:30:01\n';
  const text = line.repeat(PIECE_CHARS / line.length);
  const hashOf = (facts: Fact[]): { hash: string; longestMs: number } => {
    const hash = new JournalHash();
    let longestMs = 0;
    for (const event of [...facts, FINISHED] as Event[]) {
      const beforeMs = process.threadCpuUsage().user / 1000;
      hash.add(event);
      longestMs = Math.max(longestMs, process.threadCpuUsage().user / 1000 - beforeMs);
    }
    return { hash: hash.digest(), longestMs };
  };
  expect(hashOf(flood(text, 150)).longestMs).toBeLessThan(BUSY_MS_MAX);
  const half = text.slice(0, text.length / 2);
  const pieces = flood(text, 5).flatMap(() => [...flood(half, 1), ...flood(text.slice(half.length), 1)]);
  expect(hashOf(pieces).hash).toBe(hashOf(flood(text, 5)).hash);
  expect(hashOf([...pieces, ...flood('one line more\n', 1)]).hash).not.toBe(hashOf(pieces).hash);
});

test('the log and the events of a task that printed without end are read a page at a time', async () => {
  const sizes: number[] = [];
  const count = (page: readonly unknown[]): void => void sizes.push(JSON.stringify(page).length);
  const ms = await busiestMs(async () => {
    for await (const page of logs({ cwd: repository.path, run: 'w-1' })) count(page);
    await followEvents({ cwd: repository.path, run: 'w-1', limit: 1000, seen: count });
  });
  expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThan(2 * 16e6);
  expect(Math.max(...sizes)).toBeLessThan(2e6);
  expect(ms).toBeLessThan(BUSY_MS_MAX);
});
