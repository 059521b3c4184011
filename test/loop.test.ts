/** What comes while the loop is busy with a long turn: it is recorded, once, and a request is kept until it is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import type { Event } from '../src/contract/event.ts';
import { workflow } from '../src/definition/builder.ts';
import { createRun } from '../src/run/create-run.ts';
import { loadRun } from '../src/run/load-run.ts';
import { Loop } from '../src/run/loop.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import type { Request, Store } from '../src/store/store.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'bosun-loop-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Thousands of tasks are left out at once, which takes many turns of the event loop. */
const WORKFLOW = workflow({
  name: 'w',
  tasks: {
    talks: { run: 'x' },
    gives: { run: 'x' },
    many: { run: 'x', needs: ['gives'], 'for-each': '${{ tasks.gives.output }}', if: '${{ each < 0 }}' },
  },
});
const PATIENT = { timeout: 20_000, interval: 5 };
const ITEMS = Array.from({ length: 3000 }, (_, n) => n);
const done = (task: string) =>
  ({ type: 'attempt.finished', task, attempt: 1, outcome: { kind: 'done' }, durationMs: 0 }) as const;
const said = (text: string) =>
  ({ type: 'attempt.output', task: 'talks', attempt: 1, stream: 'stdout', text }) as const;

interface Driven extends AsyncDisposable {
  loop: Loop;
  id: string;
  /** The journal. */
  file: string;
  /** As another process has it. */
  store: Store;
  events: Event[];
  /** Is called with each batch. */
  onBatch: (events: Event[]) => void;
}

/** `before` is asked of the engine before this one, `meanwhile` of this one while it starts. */
async function drive(before: Request[] = [], meanwhile: Request[] = []): Promise<Driven> {
  const file = path.join(directory, `${performance.now()}.db`);
  const [own, store] = [openSqliteStore(file), openSqliteStore(file)];
  const run = { workflow: WORKFLOW, source: 'test', inputs: {}, base: 'c0', dirty: false };
  const { id, claim } = await createRun(own, run, 0);
  claim[Symbol.dispose](); // other journals of these tests are in the same place
  const events: Event[] = [];
  for (const request of before) await store.request(id, request);
  const older = new Set((await store.requests(id)).map((request) => request.id));
  for (const request of meanwhile) await store.request(id, request);
  const loop = new Loop({
    older,
    store: own,
    ...(await loadRun(own, id)),
    nowMs: () => 0,
    act() {},
    seen: (batch) => {
      events.push(...batch.map(({ event }) => event));
      driven.onBatch(batch.map(({ event }) => event));
    },
  });
  const driven: Driven = {
    loop,
    id,
    file,
    store,
    events,
    onBatch: () => {},
    async [Symbol.asyncDispose]() {
      loop.stop();
      await own[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
  loop.start([{ type: 'run.isolation', kind: 'none', notes: [] }]);
  await expect.poll(() => events.length, PATIENT).toBeGreaterThan(2);
  return driven;
}

test('what is said and what ends during a long turn is recorded, and the run ends', async () => {
  await using driven = await drive();
  const { loop, events } = driven;
  loop.submit({ ...done('gives'), output: ITEMS });
  let spoken = 0;
  const talking = setInterval(() => loop.note(said(`${++spoken}\n`)), 1);
  await expect.poll(() => spoken, PATIENT).toBeGreaterThan(10);
  clearInterval(talking);
  loop.submit(done('talks'));
  expect((await loop.finished).state).toBe('done');
  expect(events.filter(({ type }) => type === 'attempt.output')).toHaveLength(spoken);
});

test('a request is taken once, although others write while its turn is under way', async () => {
  await using driven = await drive();
  const { loop, store, id, events } = driven;
  await store.request(id, { do: 'steer', task: 'talks', text: 'first', by: 'me' });
  for (const until = performance.now() + 60; performance.now() < until;); // so that it is looked for right after this
  setImmediate(() => loop.submit({ ...done('gives'), output: ITEMS }));
  for (const text of ['second', 'third']) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    await store.request(id, { do: 'steer', task: 'talks', text, by: 'me' });
  }
  const steered = (): string[] =>
    events.flatMap((event) => (event.type === 'task.steered' ? [event.text] : []));
  await expect.poll(steered, PATIENT).toContain('third');
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(steered()).toEqual(['first', 'second', 'third']);
});

test('a request is in the store until the journal has what it asks for', async () => {
  await using driven = await drive();
  const { loop, store, id, events } = driven;
  const kept: boolean[] = [];
  driven.onBatch = (batch) => {
    if (batch.every(({ type }) => type === 'attempt.output'))
      void store.requests(id).then((left) => kept.push(left.length > 0));
  };
  await store.request(id, { do: 'steer', task: 'talks', text: 'x', by: 'me' });
  // So much that it takes several turns, and the request comes after it.
  for (let n = 0; n < 8; n += 1) loop.note(said('x'.repeat(512 * 1024)));
  await expect.poll(() => events.some(({ type }) => type === 'task.steered'), PATIENT).toBe(true);
  expect(kept.length).toBeGreaterThan(1);
  expect(kept).not.toContain(false);
});

test('a request for a task that is not there leads to nothing, and the run goes on', async () => {
  await using driven = await drive();
  const { store, id, events } = driven;
  for (const request of [
    { do: 'steer', task: 'nobody', text: 'x', by: 'me' },
    { do: 'pause', task: 'nobody', by: 'me' },
    { do: 'steer', task: 'talks', text: 'y', by: 'me' },
  ] satisfies Request[])
    await store.request(id, request);
  await expect.poll(() => events.some(({ type }) => type === 'task.steered'), PATIENT).toBe(true);
  await expect.poll(() => store.requests(id), PATIENT).toEqual([]);
  expect(JSON.stringify(events)).not.toContain('nobody');
});

test('what a person wanted of an engine that is gone is not done by the next one', async () => {
  await using driven = await drive([
    { do: 'pause', by: 'me' },
    { do: 'steer', task: 'talks', text: 'kept', by: 'me' },
  ]);
  const { store, id, events } = driven;
  await expect.poll(() => store.requests(id), PATIENT).toEqual([]);
  expect(events.some(({ type }) => type === 'task.steered')).toBe(true);
  expect(events.some(({ type }) => type === 'run.paused')).toBe(false);
});

test('what a person wants while an engine starts is done', async () => {
  await using driven = await drive([], [{ do: 'pause', by: 'me' }]);
  await expect.poll(() => driven.events.some(({ type }) => type === 'run.paused'), PATIENT).toBe(true);
});

test('what may wait is recorded with the next fact, and holds up none that is due sooner', async () => {
  await using driven = await drive();
  const batches: string[][] = [];
  driven.onBatch = (events) => batches.push(events.map(({ type }) => type));
  driven.loop.note(said('may wait'), 60_000);
  driven.loop.note(said('due soon'));
  await expect.poll(() => batches, PATIENT).toEqual([['attempt.output', 'attempt.output']]);
  driven.loop.note(said('may wait'), 60_000);
  driven.loop.submit({ type: 'run.noted', text: 'due now' });
  await expect.poll(() => batches[1], PATIENT).toEqual(['attempt.output', 'run.noted']);
});

test('a run that goes on as it stood writes none of its tasks again, one that was paused all of them', async () => {
  await using driven = await drive();
  const { loop, events, file } = driven;
  using journal = new DatabaseSync(file);
  journal.exec(`
    CREATE TABLE written (task TEXT);
    CREATE TRIGGER log AFTER UPDATE ON task BEGIN INSERT INTO written VALUES (new.id); END;
  `);
  const reopened = (): number => events.filter(({ type }) => type === 'run.reopened').length;
  const written = (): unknown => journal.prepare('SELECT count(*) AS tasks FROM written').get();
  loop.submit({ type: 'run.resumed', by: 'test' });
  await expect.poll(reopened, PATIENT).toBe(1);
  expect(written()).toEqual({ tasks: 0 });
  loop.submit({ type: 'run.paused', by: 'test' });
  loop.submit({ type: 'run.resumed', by: 'test' });
  await expect.poll(reopened, PATIENT).toBe(2);
  expect(written()).toEqual({ tasks: 3 });
});
