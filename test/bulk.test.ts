/** Outputs in bulk: what is large lies beside the events, once, and is read when somebody asks for it. */
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Event, ValueRef } from '../src/contract/event.ts';
import type { Json, Workflow } from '../src/contract/workflow.ts';
import { loadRun } from '../src/run/load-run.ts';
import { findHome } from '../src/store/home.ts';
import { Bosun, workflow } from '../src/index.ts';
import { evaluate } from '../src/schedule/expression/expression.ts';
import { apply, create } from '../src/schedule/fold/fold.ts';
import { journalHash } from '../src/report/journal-hash.ts';
import { expressionScope } from '../src/schedule/workflow/prompt.ts';
import type { State } from '../src/schedule/state.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { slim, whole } from '../src/store/values.ts';
import { makeRepository } from './fixtures/repository.ts';

const MB = 1024 * 1024;

describe('a run whose tasks give a lot', () => {
  it('keeps each value once, none in its state, and goes on from there', { timeout: 60_000 }, async () => {
    await using repository = await makeRepository();
    const count = 12;
    const items = Array.from({ length: count }, (_, n) => n);
    const big = `{ printf '{"n":%s,"text":"' \${{ each }}; head -c 700000 /dev/urandom | base64 -w0; printf '"}'; } > "$BOSUN_OUTPUT"`;
    const work = workflow({
      name: 'w',
      concurrency: 4,
      tasks: {
        many: { 'for-each': items, workspace: 'none', run: big },
        use: {
          needs: ['many'],
          workspace: 'none',
          if: `\${{ tasks.many.outputs.exists(o, o.n == ${count - 1}) }}`,
          run: 'echo said ${{ size(tasks.many.outputs) }} ${{ tasks.many.outputs[3].n }}; exit 3',
        },
      },
    });
    const bosun = new Bosun(repository.path);
    const first = await bosun.run(work);
    expect((await first.finished).state).toBe('failed');

    const home = findHome(repository.path)!;
    const bytes = statSync(home.journal).size;
    expect(bytes).toBeGreaterThan(count * 0.85 * MB);
    expect(bytes).toBeLessThan(count * 1.05 * MB);
    await using store = openSqliteStore(home.journal);
    const { state } = await loadRun(store, first.id);
    for (const node of state.nodes.get('many')!.children)
      expect([node.output, node.outputRef?.bytes]).toEqual([undefined, expect.any(Number)]);

    // What is asked for is read again: the condition and the command speak of what an earlier engine collected.
    const again = await bosun.resume();
    expect((await again.finished).state).toBe('failed');
    const { tasks } = await bosun.report();
    expect(tasks.find(({ id }) => id === 'use')!.attempts).toHaveLength(2);
    expect(tasks.find(({ id }) => id === 'many')!.output).toBe(
      '(the outputs of 12 tasks, too many for a report)',
    );
    expect(tasks.find(({ id }) => id === 'many.1')!.output).toMatch(/^\(9\d{5} bytes of output, too many/);
    // Whoever reads the events gets the values.
    const outputs: Json[] = [];
    const said: string[] = [];
    for await (const page of bosun.events(first.id)) {
      expect(JSON.stringify(page).length).toBeLessThan(6 * MB);
      for (const { event } of page) {
        if (event.type === 'attempt.finished') outputs.push(event.output ?? null);
        if (event.type === 'attempt.output') said.push(event.text ?? '');
      }
    }
    expect(outputs.filter((output) => JSON.stringify(output).length > 900_000)).toHaveLength(count);
    expect(said).toEqual(['said 12 3\n', 'said 12 3\n']);
  });
});

describe('a large value', () => {
  const finished = (output: Json): Event => ({
    type: 'attempt.finished',
    task: 'a',
    attempt: 1,
    outcome: { kind: 'done' },
    durationMs: 1,
    output,
  });
  const started: Event = {
    type: 'attempt.started',
    task: 'a',
    attempt: 1,
    purpose: 'work',
    from: [],
    prompt: 'p'.repeat(10_000),
    env: { A: 'e'.repeat(10_000) },
  };

  it('leaves its event and comes back; a small one stays; the hash of a journal is the same', () => {
    for (const event of [finished('x'.repeat(5000)), finished({ text: 'é'.repeat(3000) }), started]) {
      const kept = new Map<string, string>();
      const recorded = slim(event, ({ hash, text }) => kept.set(hash, text));
      expect(JSON.stringify(recorded).length).toBeLessThan(500);
      const read = ({ hash }: ValueRef): Json => JSON.parse(kept.get(hash)!) as Json;
      expect(whole(recorded, read)).toEqual(event);
      expect(whole(recorded, read, 0)).toEqual(recorded);
      const journal = (one: Event) => [{ run: 'w-1', seq: 1, atMs: 1, event: one }];
      expect(journalHash(journal(whole(recorded, read)))).toBe(journalHash(journal(event)));
      expect(journalHash(journal(finished('y'.repeat(5000))))).not.toBe(journalHash(journal(event)));
    }
    expect(slim(finished('x'.repeat(4000)), () => expect.unreachable())).toEqual(finished('x'.repeat(4000)));
  });

  it('is read only where an expression looks at it, and not without end', () => {
    const reads: string[] = [];
    const state = stateWith(80, (ref) => {
      reads.push(ref.hash);
      return { n: Number(ref.hash), text: '' };
    });
    const ask = (expression: string): Json => {
      reads.length = 0;
      return evaluate(expression, expressionScope(state, state.nodes.get('use')!, expression));
    };
    expect(ask('size(tasks.many.outputs)')).toBe(80);
    expect(new Set(reads).size).toBeLessThan(2); // the first one tells the type of the list
    expect(ask('tasks.many.outputs[3].n')).toBe(3);
    expect(reads).toEqual(expect.arrayContaining(['3']));
    expect(reads.length).toBeLessThan(3);
    expect(ask('tasks.many.output.exists(o, o.n == 9)')).toBe(true);
    expect(reads.length).toBeLessThan(12);
    expect(() => ask('tasks.many.outputs.exists(o, o.n == 99)')).toThrow(/reads more than 64 MB of outputs/);
    expect(() => ask('tasks.many.outputs[3].nn')).toThrow(
      'tasks.many.outputs[3] has no "nn"; it has: n, text',
    );
  });

  function stateWith(count: number, read: State['read']): State {
    const { tasks, ...rest } = workflow({
      name: 'w',
      tasks: {
        many: { 'for-each': Array.from({ length: count }, (_, n) => n), run: 'true' },
        use: { needs: ['many'], run: 'true' },
      },
    });
    const made: Workflow = { ...rest, tasks };
    const state = create(
      { type: 'run.created', id: 'w-1', workflow: made, source: '', inputs: {}, base: 'c', dirty: false },
      1,
    );
    state.read = read;
    const items = Array.from({ length: count }, (_, n) => n);
    apply(state, { type: 'task.expanded', task: 'many', kind: 'for-each', items }, 1);
    items.forEach((n) => (state.nodes.get(`many.${n + 1}`)!.outputRef = { hash: String(n), bytes: MB }));
    return state;
  }
});

describe('a journal of an earlier version', () => {
  it('with values in its events opens, is shown and is gone on with', async () => {
    await using repository = await makeRepository();
    const bosun = new Bosun(repository.path);
    const text = 'v'.repeat(20_000);
    const work = workflow({
      name: 'w',
      tasks: {
        a: { workspace: 'none', run: `head -c 20000 /dev/zero | tr '\\0' v > "$BOSUN_OUTPUT"` },
        b: {
          needs: ['a'],
          workspace: 'none',
          run: 'test "${{ size(string(tasks.a.output)) }}" = 20000; exit 3',
        },
      },
    });
    const { id, finished } = await bosun.run(work);
    expect((await finished).state).toBe('failed');
    // As it was written before: everything in the events.
    const { journal } = findHome(repository.path)!;
    const db = new DatabaseSync(journal);
    const rows = db.prepare('SELECT seq, body FROM event').all();
    for (const { seq, body } of rows) {
      const event = whole(JSON.parse(String(body)) as Event, () => text);
      db.prepare('UPDATE event SET body = ? WHERE seq = ?').run(JSON.stringify(event), seq!);
    }
    db.exec('ALTER TABLE event DROP COLUMN format; DROP TABLE value; DROP TABLE pruned');
    db.exec(
      'DROP INDEX run_open; DROP INDEX run_pending; DROP TABLE once; DROP TABLE batch; DROP TABLE identity',
    );
    db.exec('PRAGMA user_version = 1');
    db.close();

    expect((await bosun.report()).tasks[0]!.output).toBe(text);
    const again = await bosun.resume(id);
    expect((await again.finished).state).toBe('failed');
    const { tasks } = await bosun.report();
    expect(tasks.map(({ attempts }) => attempts.length)).toEqual([1, 2]);
    expect(tasks[1]!.message).toContain('exit code 3');
  });
});
