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
  tasks: { plan: { run: 'true', expand: true, replan: 2 }, other: { run: 'true' } },
});

/** Its planner has written two tasks, the second of which needs the first; they wait until `other` has ended. */
function planned(): { state: State; tell(...facts: Fact[]): Event[] } {
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
  tell(ended('plan', 1, 'done'));
  return { state, tell };
}

function ended(task: string, attempt: number, kind: 'done' | 'failed'): Fact {
  const { tasks } = workflow({ name: 'p', tasks: { a: { run: 'true' }, b: { run: 'true', needs: ['a'] } } });
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
