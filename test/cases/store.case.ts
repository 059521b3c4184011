/** What every store must do: the same suite for each implementation. */
import { describe, expect, it } from 'vitest';
import { BosunError } from '../../src/contract/errors.ts';
import type { Event } from '../../src/contract/event.ts';
import type { RunView, TaskView } from '../../src/contract/run.ts';
import type { Workflow } from '../../src/contract/workflow.ts';
import type { Batch, FirstBatch, Once, Request, RunsOptions, Store } from '../../src/store/store.ts';

const WORKFLOW: Workflow = {
  name: 'w',
  inputs: {},
  concurrency: 1,
  isolation: 'best-effort',
  'on-conflict': 'fail',
  'on-failure': 'stop',
  agents: {},
  tasks: {},
};

export interface OpenedStore extends AsyncDisposable {
  store: Store;
  /** A second connection to the same journal. */
  again(): Promise<Store>;
}

export function testStore(name: string, open: () => Promise<OpenedStore>): void {
  describe(name, () => {
    it('numbers the runs of each workflow from 1', async () => {
      await using opened = await open();
      expect(await begin(opened.store, 'a')).toBe('a-1');
      expect(await begin(opened.store, 'b')).toBe('b-1');
      expect(await begin(opened.store, 'a')).toBe('a-2');
      expect((await opened.store.runs(10)).map(({ id }) => id)).toEqual(['a-2', 'b-1', 'a-1']);
    });

    it('uses no number that is known to be taken', async () => {
      await using opened = await open();
      expect(await begin(opened.store, 'a', 6)).toBe('a-7');
      expect(await begin(opened.store, 'a', 3)).toBe('a-8');
    });

    it('queues several runs at once, all or none, and gives those that wait the oldest first', async () => {
      await using opened = await open();
      const { store } = opened;
      expect(await begin(store, 'a')).toBe('a-1');
      const queueing = (name: string) => ({ name, lastNumber: 0, first: firstOf(name, true) });
      expect(await store.enqueue(['a', 'b', 'a'].map(queueing))).toEqual(['a-2', 'b-1', 'a-3']);
      const broken = { ...queueing('b'), first: () => { throw new Error('broken'); } }; // prettier-ignore
      await expect(store.enqueue([queueing('a'), broken])).rejects.toThrow('broken');
      expect((await store.pendingRuns(10)).map(({ id }) => id)).toEqual(['a-2', 'b-1', 'a-3']);
      expect((await store.pendingRuns(1)).map(({ id }) => id)).toEqual(['a-2']);
      expect((await store.openRuns()).map(({ id }) => id)).toEqual(['a-1']);
      expect(await store.driver('a-2')).toBeUndefined();
      await store.append('b-1', 1, batch('b-1', [{ type: 'task.admitted', task: 'x' }]));
      expect((await store.pendingRuns(10)).map(({ id }) => id)).toEqual(['a-2', 'a-3']);
      expect((await store.openRuns()).map(({ id }) => id)).toEqual(['b-1', 'a-1']);
      expect(await begin(store, 'a')).toBe('a-4');
    });

    it('lists runs page by page, the newest first', async () => {
      await using opened = await open();
      for (let n = 1; n <= 5; n++) await begin(opened.store, 'a');
      const ids = async (before?: string): Promise<string[]> =>
        (await opened.store.runs(2, before === undefined ? {} : { before })).map(({ id }) => id);
      expect(await ids()).toEqual(['a-5', 'a-4']);
      expect(await ids('a-4')).toEqual(['a-3', 'a-2']);
      expect(await ids('a-2')).toEqual(['a-1']);
    });

    it('lists only runs of a name, or in some states', async () => {
      await using opened = await open();
      const { store } = opened;
      for (const name of ['a', 'b', 'a']) await begin(store, name);
      const failed = batch('a-1', []);
      await store.append('a-1', 1, { ...failed, run: { ...failed.run, state: 'failed', endedAtMs: 1 } });
      const ids = async (options: RunsOptions): Promise<string[]> =>
        (await store.runs(10, options)).map(({ id }) => id);
      expect(await ids({ name: 'a' })).toEqual(['a-2', 'a-1']);
      expect(await ids({ states: ['failed'] })).toEqual(['a-1']);
      expect(await ids({ states: ['running', 'failed'] })).toEqual(['a-2', 'b-1', 'a-1']);
      expect(await ids({ states: ['running'], before: 'a-2', name: 'a' })).toEqual([]);
      expect(await ids({ states: [] })).toEqual([]);
    });

    it('gives events back as they were appended, in order', async () => {
      await using opened = await open();
      const { store } = opened;
      const id = await begin(store, 'w');
      const events: Event[] = [
        { type: 'task.admitted', task: 'a' },
        { type: 'attempt.output', task: 'a', attempt: 1, stream: 'stdout', text: 'zeile\u0000 \u{1F600}\n' },
        { type: 'run.finished', state: 'done' },
      ];
      expect(await store.append(id, 1, batch(id, events))).toBe(4);
      const read = await store.read(id);
      expect(read.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
      expect(read.slice(1).map(({ event }) => event)).toEqual(events);
      expect(read.at(-1)).toMatchObject({ run: id, atMs: 7 });
    });

    it('reads on from a place, in pages, of one task, and without what agents printed', async () => {
      await using opened = await open();
      const { store } = opened;
      const id = await begin(store, 'w');
      const output = (task: string): Event => ({
        type: 'attempt.output',
        task,
        attempt: 1,
        stream: 'stdout',
        text: 'x',
      });
      await store.append(id, 1, batch(id, [output('a'), { type: 'task.admitted', task: 'b' }, output('b')]));
      expect((await store.read(id, { afterSeq: 2, limit: 1 })).map(({ seq }) => seq)).toEqual([3]);
      expect((await store.read(id, { task: 'b' })).map(({ seq }) => seq)).toEqual([3, 4]);
      expect((await store.read(id, { withoutOutput: true })).map(({ seq }) => seq)).toEqual([1, 3]);
      const types = ['run.created', 'task.admitted'];
      expect((await store.read(id, { types })).map(({ seq }) => seq)).toEqual([1, 3]);
    });

    it('reads the events of a task with those within it, and the answers to what they asked', async () => {
      await using opened = await open();
      const { store } = opened;
      const id = await begin(store, 'w');
      const admitted = (task: string): Event => ({ type: 'task.admitted', task });
      const answered = (question: string): Event => ({
        type: 'question.answered',
        id: question,
        answer: 'yes',
        by: 'eve',
      });
      const own = [
        admitted('fix'),
        admitted('fix.1'),
        admitted('fix/deep.2/er'),
        answered('fix'),
        answered('fix+1.2'),
        answered('fix.1+budget'),
      ];
      const others = [
        admitted('fix-2'),
        admitted('fix0'),
        admitted('fi'),
        answered('fix-2'),
        answered('fi+1'),
      ];
      await store.append(id, 1, batch(id, [...others, ...own]));
      expect((await store.read(id, { around: 'fix' })).map(({ event }) => event)).toEqual(own);
    });

    it('refuses to append where somebody else has, and changes nothing', async () => {
      await using opened = await open();
      const { store } = opened;
      const id = await begin(store, 'w');
      await store.append(id, 1, batch(id, [{ type: 'task.admitted', task: 'a' }]));
      const late = batch(id, [{ type: 'run.finished', state: 'failed' }], [view('a', 'failed')]);
      await expect(store.append(id, 1, late)).rejects.toThrow(BosunError);
      expect(await store.read(id)).toHaveLength(2);
      expect((await store.run(id))?.lastSeq).toBe(2);
      expect(await store.tasks(id)).toEqual([]);
    });

    it('keeps the newest view of each task, in the order of the workflow', async () => {
      await using opened = await open();
      const { store } = opened;
      const id = await begin(store, 'w');
      const first = [view('z', 'waiting', '0000'), view('a', 'waiting', '0001')];
      await store.append(id, 1, batch(id, [{ type: 'task.admitted', task: 'a' }], first));
      await store.append(
        id,
        2,
        batch(id, [{ type: 'task.admitted', task: 'z' }], [view('a', 'failed', '0001')]),
      );
      expect((await store.tasks(id)).map((task) => [task.id, task.state])).toEqual([
        ['z', 'waiting'],
        ['a', 'failed'],
      ]);
      expect((await store.tasks(id, { states: ['failed'] })).map((task) => task.id)).toEqual(['a']);
      expect(await store.tasks(id, { limit: 1 })).toHaveLength(1);
    });

    it('gives a run to one engine at a time, and says which process that is', async () => {
      await using opened = await open();
      const { store } = opened;
      const id = await begin(store, 'w');
      const other = await opened.again();
      expect(await other.driver(id)).toBeUndefined();
      const claim = (await store.claim(id))!;
      expect(await other.driver(id)).toEqual({ pid: process.pid });
      expect(await other.claim(id)).toBeUndefined();
      expect(await other.driver(`${id}0`)).toBeUndefined();
      claim[Symbol.dispose]();
      expect(await other.driver(id)).toBeUndefined();
      (await other.claim(id))![Symbol.dispose]();
      await other[Symbol.asyncDispose]();
    });

    it('gives a new run to whoever makes it, before others can see it', async () => {
      await using opened = await open();
      const other = await opened.again();
      const { id, claim } = await create(opened.store, 'w');
      expect(await other.driver(id)).toEqual({ pid: process.pid });
      expect(await other.claim(id)).toBeUndefined();
      claim[Symbol.dispose]();
      await other[Symbol.asyncDispose]();
    });

    it('hands a request to the engine until a batch says that it was handled', async () => {
      await using opened = await open();
      const { store } = opened;
      const id = await begin(store, 'w');
      const other = await opened.again();
      const end = new AbortController();
      const changes = store.changes(end.signal)[Symbol.asyncIterator]();
      await changes.next(); // at the beginning
      const changed = changes.next();
      await other.request(id, { do: 'cancel', mode: 'graceful', by: 'person' });
      expect(await changed).toMatchObject({ done: false });
      end.abort();
      expect(await changes.next()).toMatchObject({ done: true });
      const [request] = await store.requests(id);
      expect(request?.request).toEqual({ do: 'cancel', mode: 'graceful', by: 'person' });
      expect(await store.requests(id)).toHaveLength(1);
      await store.append(id, 1, { ...batch(id, []), handled: [request!.id] });
      expect(await store.requests(id)).toEqual([]);
      await other[Symbol.asyncDispose]();
    });

    it('tells the engine of a run what was asked for of it, and nothing of what others write', async () => {
      await using opened = await open();
      const { store } = opened;
      const { id, claim } = await create(store, 'w');
      const another = await begin(store, 'w');
      const other = await opened.again();
      const end = new AbortController();
      const seldom = { lookMs: 1, idleMs: 3_600_000, blindMs: 1 };
      const asked = store.asked(id, end.signal, seldom)[Symbol.asyncIterator]();
      await asked.next(); // at the beginning
      let isTold = false;
      const told = asked.next().then((word) => ((isTold = true), word));
      await other.append(another, 1, batch(another, [{ type: 'task.admitted', task: 'x' }]));
      await other.request(another, { do: 'cancel', mode: 'graceful', by: 'person' });
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(isTold).toBe(false);
      await other.request(id, { do: 'cancel', mode: 'graceful', by: 'person' });
      expect(await told).toMatchObject({ done: false });
      expect(await store.requests(id)).toHaveLength(1);
      end.abort();
      expect(await asked.next()).toMatchObject({ done: true });
      claim[Symbol.dispose]();
      await other[Symbol.asyncDispose]();
    });

    it('takes a request only where there is room, by what others have written until then, and takes one back', async () => {
      await using opened = await open();
      const { store } = opened;
      const id = await begin(store, 'w');
      const spawn = (key: string) =>
        ({ do: 'spawn', task: 'a', key, child: { prompt: 'x' }, by: 'anna' }) as never;
      await store.request(id, spawn('one'));
      const seen: [Request[], string[]][] = [];
      const room = {
        afterSeq: 0,
        require: (waiting: readonly Request[], recorded: readonly Event[]) => {
          seen.push([[...waiting], recorded.map(({ type }) => type)]);
          if (waiting.length > 1) throw new BosunError('busy', 'full');
        },
      };
      await store.request(id, spawn('two'), room);
      await expect(store.request(id, spawn('three'), { ...room, afterSeq: 1 })).rejects.toThrow('full');
      expect(seen).toEqual([
        [[spawn('one')], ['run.created']],
        [[spawn('one'), spawn('two')], []],
      ]);
      expect(await store.withdraw(id, 'one')).toBe(true);
      expect(await store.withdraw(id, 'one')).toBe(false);
      expect((await store.requests(id)).map(({ request }) => request)).toEqual([spawn('two')]);
    });

    it('shows what one connection has written to another', async () => {
      await using opened = await open();
      const id = await begin(opened.store, 'w');
      const other = await opened.again();
      expect((await other.run(id))?.state).toBe('running');
      await other[Symbol.asyncDispose]();
    });

    it('begins one run with a key, and forgets the key with the run', async () => {
      await using opened = await open();
      const once = { key: 'program x: 1', hash: 'abc' };
      const { id, claim } = await create(opened.store, 'w', 0, once);
      claim[Symbol.dispose]();
      await expect(create(opened.store, 'w', 0, once)).rejects.toThrow('w-1 was started with the same key');
      expect((await opened.store.runs(9)).map((run) => run.id)).toEqual(['w-1']);
      expect(await opened.store.begunWith(once.key)).toEqual({ run: id, hash: 'abc' });
      await opened.store.prune(id, { workspaces: [], memories: [] });
      expect(await opened.store.begunWith(once.key)).toBeUndefined();
    });

    it('knows no run that was never made', async () => {
      await using opened = await open();
      expect(await opened.store.run('w-1')).toBeUndefined();
      expect(await opened.store.read('w-1')).toEqual([]);
      await expect(opened.store.append('w-1', 0, batch('w-1', []))).rejects.toThrow(BosunError);
    });
  });
}

/** Nobody drives it. */
async function begin(store: Store, name: string, lastNumber = 0): Promise<string> {
  const { id, claim } = await create(store, name, lastNumber);
  claim[Symbol.dispose]();
  return id;
}

function create(store: Store, name: string, lastNumber = 0, once?: Once): ReturnType<Store['create']> {
  return store.create(name, lastNumber, firstOf(name), once);
}

function firstOf(name: string, isPending = false): FirstBatch {
  return (id) => {
    const event = {
      type: 'run.created' as const,
      id,
      workflow: { ...WORKFLOW, name },
      source: '',
      inputs: {},
      base: 'c',
      dirty: false,
    };
    const first = batch(id, [event]);
    return { atMs: 1, batch: isPending ? { ...first, run: { ...first.run, pending: { by: 'x' } } } : first };
  };
}

function batch(id: string, events: Event[], tasks: TaskView[] = []): Batch {
  const run: RunView = {
    id,
    name: 'w',
    state: 'running',
    createdAtMs: 1,
    baseCommit: 'c',
    headCommit: 'c',
    branch: `bosun/${id}`,
    counts: {},
    lastSeq: 0,
    questions: [],
  };
  return { entries: events.map((event) => ({ atMs: 7, event })), run, tasks, handled: [] };
}

function view(id: string, state: TaskView['state'], order = '0000'): TaskView {
  return { id, state, attempt: 0, order };
}
