/** A person cancels one task of a run: what becomes of it, of what is within it, and of those that need it. */
import { describe, expect, it } from 'vitest';
import type { Decision, EventOf, Fact } from '../src/contract/event.ts';
import type { State } from '../src/schedule/state.ts';
import { startDecided } from './fixtures/decided-run.ts';

const cancel = (task: string): Fact => ({ type: 'task.cancelling', task, by: 'anna' });
const ends = (task: string, outcome: EventOf<'attempt.finished'>['outcome'], attempt = 1): Fact => ({
  type: 'attempt.finished', task, attempt, outcome, durationMs: 1,
}); // prettier-ignore
const CANCELLED = { kind: 'cancelled' } as const;
const told = (decisions: Decision[]): string[] =>
  decisions.map((each) => `${each.type}${'task' in each ? ` ${each.task}` : ''}`);
const statesOf = (state: State): Record<string, string> =>
  Object.fromEntries([...state.nodes.values()].map((node) => [node.id, node.state]));

describe('a task that a person cancels', () => {
  it('is stopped, what needs it is skipped, and the rest of the run goes on', () => {
    const { state, take } = startDecided({
      tasks: { one: { run: 'x' }, other: { run: 'x' }, after: { run: 'x', needs: ['one'] } },
    });
    expect(take(cancel('one'))).toEqual([
      { type: 'attempt.stopping', task: 'one', attempt: 1, mode: 'graceful' },
    ]);
    take(ends('one', CANCELLED));
    expect(statesOf(state)).toEqual({ one: 'cancelled', other: 'running', after: 'skipped' });
    take(ends('other', { kind: 'done' }));
    expect(state.state).toBe('failed');
  });

  it('ends at once where it waits, asks or rests', () => {
    const { state, take } = startDecided({
      tasks: {
        one: { run: 'x' },
        later: { run: 'x', needs: ['one'] },
        ship: { approve: 'Ship it?' },
        watch: { run: 'x', continuous: { every: '10m' } },
      },
    });
    expect(told(take(cancel('later')))).toEqual(['task.finished later']);
    take(cancel('ship'));
    expect(state.questions.size).toBe(0);
    take(ends('watch.1', { kind: 'done' }));
    expect(told(take(cancel('watch')))).toEqual(['task.finished watch']);
    expect(statesOf(state)).toMatchObject({ later: 'cancelled', ship: 'cancelled', watch: 'cancelled' });
  });

  it('takes the tasks within it along, and starts no turn, candidate or round after them', () => {
    const { state, take } = startDecided({
      agents: { a: { runtime: 'cli', command: ['x'] }, b: { runtime: 'cli', command: ['x'] } },
      concurrency: 9,
      tasks: {
        each: { run: 'x', 'for-each': ['p', 'q'] },
        hands: { handoff: ['a', 'b'], prompt: 'x' },
        race: { race: 2, agent: 'a', prompt: 'x' },
        watch: { run: 'x', continuous: { every: '10m' } },
      },
    });
    const within = [...state.nodes.values()].filter(({ state: is }) => is === 'running').map(({ id }) => id);
    for (const task of ['each', 'hands', 'race', 'watch']) take(cancel(task));
    for (const task of within) take(ends(task, CANCELLED));
    expect(new Set(Object.values(statesOf(state)))).toEqual(new Set(['cancelled']));
    expect([...state.nodes.keys()].filter((id) => id.includes('.')).length).toBe(within.length);
    expect(state.state).toBe('failed');
  });

  it('is open again once somebody retries it', () => {
    const { state, take } = startDecided({
      tasks: { one: { run: 'x' }, after: { run: 'x', needs: ['one'] } },
    });
    take(cancel('one'));
    take(ends('one', CANCELLED));
    take({ type: 'task.retried', task: 'one', by: 'anna' });
    expect(statesOf(state)).toEqual({ one: 'running', after: 'waiting' });
    take(ends('one', { kind: 'done' }, 2));
    expect(statesOf(state)).toEqual({ one: 'done', after: 'running' });
  });
});
