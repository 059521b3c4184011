/** When a planner is asked again for tasks in place of those that failed, and what becomes of it when the run stops. */
import { describe, expect, it } from 'vitest';
import type { Event, Fact } from '../src/contract/event.ts';
import { workflow } from '../src/definition/builder.ts';
import { decide } from '../src/schedule/decide/decide.ts';
import { apply, create } from '../src/schedule/fold/fold.ts';
import { nodeOf, type State } from '../src/schedule/state.ts';

const WORKFLOW = workflow({
  name: 'w',
  concurrency: 1,
  tasks: {
    plan: { run: 'true', expand: true, replan: 2, retry: { attempts: 3, backoff: '1s' } },
    other: { run: 'true' },
  },
});

/** Its planner has written two tasks, the second of which needs the first; they wait until `other` has ended. */
function planned(): { state: State; tell(...facts: Fact[]): Event[] } {
  const { state, tell } = begun();
  tell(ended('plan', 1, 'done'));
  return { state, tell };
}

function begun(): { state: State; tell(...facts: Fact[]): Event[] } {
  const event = { type: 'run.created', id: 'w-1', workflow: WORKFLOW, source: 'test', inputs: {} } as const;
  const state = create({ ...event, base: 'c0', dirty: false }, 0);
  const tell = (...facts: Fact[]): Event[] => {
    const events: Event[] = [];
    const take = (each: Event): void => {
      apply(state, each, 0);
      events.push(each);
    };
    const settle = (): void => {
      for (let next = decide(state); next; next = decide(state)) take(next);
    };
    settle();
    for (const fact of facts) {
      take(fact);
      settle();
    }
    return events;
  };
  return { state, tell };
}

const { tasks: IN_ORDER } = workflow({
  name: 'p',
  tasks: { a: { run: 'true' }, b: { run: 'true', needs: ['a'] } },
});
const { tasks: TWO } = workflow({ name: 'p', tasks: { a: { run: 'true' }, b: { run: 'true' } } });

function ended(task: string, attempt: number, kind: 'done' | 'failed', tasks = IN_ORDER): Fact {
  const outcome = kind === 'done' ? { kind } : { kind, reason: 'exit' as const, message: 'no' };
  const expansion = task === 'plan' ? { expansion: tasks } : {};
  return { type: 'attempt.finished', task, attempt, durationMs: 1, outcome, output: null, ...expansion };
}

describe('a planner', () => {
  it('is asked again where a task of its plan failed', () => {
    const { tell } = planned();
    expect(tell(ended('other', 1, 'done'), ended('plan/a', 1, 'failed'))).toContainEqual(
      expect.objectContaining({ type: 'task.again', task: 'plan', why: 'replan' }),
    );
  });

  it('is told what failed also by the retry of an attempt that failed itself', () => {
    const { tell } = planned();
    const told = tell(ended('other', 1, 'done'), ended('plan/a', 1, 'failed'));
    const again = told.find((event) => event.type === 'attempt.started' && event.task === 'plan');
    const feedback = expect.stringContaining('- a failed: no') as string;
    expect(again).toMatchObject({ attempt: 2, feedback });
    const retried = tell(ended('plan', 2, 'failed'), { type: 'timer.fired', task: 'plan', attempt: 2 });
    const third = retried.find((event) => event.type === 'attempt.started');
    expect(third).toMatchObject({ attempt: 3, feedback: (again as { feedback: string }).feedback });
  });

  it('is not told to replace what a person cancelled', () => {
    const { tell } = begun();
    tell(ended('plan', 1, 'done', TWO), { type: 'task.cancelling', task: 'plan/b', by: 'anna' });
    const told = tell(ended('other', 1, 'done'), ended('plan/a', 1, 'failed'));
    const { feedback } = told.find(({ type }) => type === 'task.again') as { feedback: string };
    expect(feedback).toContain('- a failed: no');
    expect(feedback).not.toContain('- b ');
    const nothing = ended('plan', 2, 'done', {});
    const { outcome } = tell(nothing).find(({ type }) => type === 'task.finished') as { outcome: object };
    expect(outcome).toMatchObject({ message: 'the planner had no other tasks in place of plan/a' });
  });

  it('that ends while the run is cancelled has its tasks cancelled with it, and a resume goes on with them', () => {
    const { state, tell } = begun();
    tell({ type: 'run.cancelling', mode: 'graceful', by: 'test' });
    tell(ended('plan', 1, 'done'));
    const states = (): Record<string, string> =>
      Object.fromEntries([...state.nodes].map(([id, node]) => [id, node.state]));
    expect(states()).toEqual({
      plan: 'cancelled',
      other: 'cancelled',
      'plan/a': 'cancelled',
      'plan/b': 'cancelled',
    });
    expect(state.state).toBe('cancelled');
    const resumed = tell({ type: 'run.resumed', by: 'test' });
    expect(resumed.filter(({ type }) => type === 'attempt.started')).toMatchObject([{ task: 'other' }]);
    expect(states()).toMatchObject({ plan: 'expanded', 'plan/a': 'ready', 'plan/b': 'waiting' });
  });

  it('is not asked again where its tasks were only skipped, since the run stops', () => {
    const { state, tell } = planned();
    tell(ended('other', 1, 'failed'));
    expect(nodeOf(state, 'plan/a').state).toBe('skipped');
    expect(nodeOf(state, 'plan').state).toBe('failed');
  });

  it('is cancelled, not done, where the run is cancelled while it plans again', () => {
    const { state, tell } = planned();
    tell(ended('other', 1, 'done'), ended('plan/a', 1, 'failed'));
    tell({ type: 'run.cancelling', mode: 'graceful', by: 'test' });
    tell(ended('plan', 2, 'done'));
    expect(nodeOf(state, 'plan').state).toBe('cancelled');
  });
});
