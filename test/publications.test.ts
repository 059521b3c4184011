/** What publications decide: who starts on which version, whose merge waits, and who hears of a later version. */
import { describe, expect, it } from 'vitest';
import type { Decision, EventOf, Fact } from '../src/contract/event.ts';
import { taskView } from '../src/schedule/views/view.ts';
import { startDecided } from './fixtures/decided-run.ts';

const run = { run: 'true' };
const publisher = { ...run, publishes: ['x'] };
const needy = { ...run, needs: ['api:x'] };

function made(task: string, version: number): Fact {
  const fact = { task, attempt: 1, name: 'x', version, value: `v${version}`, changedCount: 1 };
  return { type: 'publication.made', ...fact, commit: `p${version}` };
}

function news(task: string, version: number): Fact {
  const publication = { name: 'x', version };
  return { type: 'message.sent', task, attempt: 1, id: `${task}+p${version}`, to: 'api:x', publication };
}

function ended(task: string, outcome: EventOf<'attempt.finished'>['outcome']): Fact {
  const collected = { commit: `c-${task}`, changed: [], changedCount: 1, refused: [], artifacts: [] };
  return { type: 'attempt.finished', task, attempt: 1, outcome, durationMs: 1, collected };
}

function merged(task: string): Fact {
  return {
    type: 'task.merged',
    task,
    attempt: 1,
    commit: `m-${task}`,
    shadow: `s-${task}`,
    result: `r-${task}`,
  };
}

function told(decisions: Decision[]): string[] {
  return decisions.flatMap((one) => {
    if (one.type === 'attempt.started') return [`start ${one.task} from ${one.from.join()}`];
    if (one.type === 'message.delivered') return [`tell ${one.to.join()}`];
    if (one.type === 'merge.deferred') return [`${one.task} after ${one.until.join()}`];
    if (one.type === 'task.merging') return [`merge ${one.task}`];
    if (one.type === 'task.finished' && 'message' in one.outcome)
      return [`${one.task} ${one.outcome.kind}: ${one.outcome.message}`];
    return [];
  });
}

const done = { kind: 'done' } as const;
const failed = { kind: 'failed', reason: 'exit', message: 'no' } as const;

describe('a task that needs a publication', () => {
  it('starts on its files of that moment, and is merged after the publisher', () => {
    const { take, state } = startDecided({ tasks: { a: publisher, b: needy } });
    expect(told(take(made('a', 1)))).toEqual(['start b from p1']);
    expect(told(take(ended('b', done)))).toEqual(['b after a']);
    expect(taskView(state.nodes.get('b')!).message).toBe('is merged after a');
    expect(told(take(ended('a', done)))).toEqual(['merge a']);
    expect(told(take(merged('a')))).toEqual(['merge b']);
  });

  it('starts on the newest version, and from the result of a publisher that is done', () => {
    const { take } = startDecided({ concurrency: 1, tasks: { a: publisher, b: needy } });
    take(made('a', 1));
    expect(told(take(made('a', 2)))).toEqual([]); // there is no place for it yet
    expect(told(take(ended('a', done)))).toEqual(['merge a', 'start b from p2']);
    const late = startDecided({
      tasks: { a: publisher, slow: run, b: { ...run, needs: ['slow', 'api:x'] } },
    });
    late.take(made('a', 1));
    late.take(ended('a', done));
    late.take(merged('a'));
    late.take(ended('slow', done));
    expect(told(late.take(merged('slow')))).toEqual(['start b from r-slow,r-a']);
  });

  it('leaves to those who need it also what the publisher did in the end', () => {
    const again = { ...publisher, retry: { attempts: 2 } };
    const { take } = startDecided({ tasks: { a: again, b: needy, c: { ...run, needs: ['b'] } } });
    take(made('a', 1));
    take(ended('a', failed));
    take({ type: 'timer.fired', task: 'a', attempt: 1 });
    take(ended('b', done));
    take({ ...ended('a', done), attempt: 2 } as Fact);
    expect(told(take({ ...merged('a'), attempt: 2 } as Fact))).toEqual(['merge b']);
    expect(told(take(merged('b')))).toEqual(['start c from r-b,r-a']);
  });

  it('is skipped with the name of the publisher where that ends without it, or fails after it', () => {
    const silent = startDecided({ 'on-failure': 'continue', tasks: { a: publisher, b: needy } });
    silent.take(ended('a', done));
    expect(told(silent.take(merged('a')))).toEqual([
      'b skipped: it needs api:x, which a ended without publishing',
    ]);
    const fails = startDecided({ 'on-failure': 'continue', tasks: { a: publisher, b: needy } });
    fails.take(made('a', 1));
    fails.take(ended('b', done));
    expect(told(fails.take(ended('a', failed)))).toEqual([
      'a failed: no',
      'b skipped: it needs api:x, and a, which published version 1, failed',
    ]);
  });
});

describe('a later version', () => {
  it('is told to who works on an earlier one, and to nobody else', () => {
    const tasks = { a: publisher, b: needy, c: needy, d: run };
    const { take, state } = startDecided({ concurrency: 3, tasks });
    take(made('a', 1)); // b starts, c has no place
    expect(told([...take(made('a', 2)), ...take(news('a', 2))])).toEqual(['tell b']);
    expect([...state.nodes.get('b')!.inbox.keys()].map(({ to }) => to)).toEqual(['api:x']);
    expect(told(take(ended('d', done)))).toEqual(['merge d', 'start c from p2']);
    take(ended('b', done)); // its work waits to be merged, and nobody reads
    expect(told([...take(made('a', 3)), ...take(news('a', 3))])).toEqual(['tell c']);
  });

  it('is told to nobody where nobody works on an earlier one, and that is no error', () => {
    const { take, state } = startDecided({ tasks: { a: publisher, d: run } });
    take(made('a', 1));
    expect(told([...take(made('a', 2)), ...take(news('a', 2))])).toEqual(['tell ']);
    expect(state.messages.size).toBe(0);
  });
});

describe('a publication', () => {
  it('counts only of the attempt that runs, and only what its task announces', () => {
    const { take } = startDecided({ tasks: { a: publisher, b: needy, c: run } });
    expect(told(take({ ...made('a', 1), attempt: 2 } as Fact))).toEqual([]);
    expect(told(take(made('c', 1)))).toEqual([]);
    take(ended('a', done));
    expect(told(take(made('a', 1)))).toEqual([]);
  });
});
