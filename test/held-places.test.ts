/** Whose place in `concurrency` is free while money is waited for, and whose is not. */
import { describe, expect, it } from 'vitest';
import type { Decision, Event, Fact } from '../src/contract/event.ts';
import { apply } from '../src/schedule/fold/fold.ts';
import { startDecided } from './fixtures/decided-run.ts';

const AGENT = { runtime: 'codex', model: 'm' } as const;
const TASK = { agent: AGENT, prompt: 'Work.' };
const ISOLATION: Event = { type: 'run.isolation', kind: 'none', notes: [] };

const held = (task: string): Fact => ({
  type: 'attempt.held',
  task,
  attempt: 1,
  by: 'budget',
  text: 'short',
});
const asks = (task: string, account: string): Fact => ({
  type: 'attempt.asked', task, attempt: 1, id: `${account}+budget`, text: 'More?', default: 'no',
  budget: { account, unit: 'usd', spent: 2, limit: 1, raiseTo: 2, isHard: false },
}); // prettier-ignore

const done = (task: string): Fact => ({
  type: 'attempt.finished', task, attempt: 1, outcome: { kind: 'done' }, durationMs: 1,
  collected: { commit: 'c1', changed: [], changedCount: 1, refused: [], artifacts: [] },
}); // prettier-ignore
const started = (decisions: Decision[]): string[] =>
  decisions.flatMap((each) => (each.type === 'attempt.started' ? [each.task] : []));

describe('the place of an agent that is held at a budget', () => {
  it('is its own again where the engine was killed and another one goes on', () => {
    const { state, take } = startDecided({ concurrency: 2, tasks: { a: TASK, b: TASK, c: TASK } });
    take(asks('a', 'run'));
    take(held('a'));
    take(held('b'));
    expect(state.away).toBe(2);
    apply(state, ISOLATION, 2);
    expect(state.away).toBe(0);
    expect(state.running).toBe(2);
  });

  it('is its own where it only waits for what others have reserved', () => {
    const { state, take } = startDecided({ concurrency: 1, tasks: { a: TASK, b: TASK } });
    expect(started(take(held('a')))).toEqual([]);
    expect(state.away).toBe(0);
    take(asks('a', 'run'));
    expect(state.away).toBe(1);
  });

  it('is free only while a person is asked for money that it spends, too', () => {
    const { state, take } = startDecided({ concurrency: 2, tasks: { a: TASK, b: TASK, c: { run: 'x' } } });
    take(held('b'));
    expect(started(take(asks('a', 'task:a')))).toEqual([]);
    expect(started(take(asks('a', 'run')))).toEqual(['c']);
    expect(state.away).toBe(1);
    take({ type: 'question.answered', id: 'run+budget', answer: 'yes', by: 'anna' });
    expect(state.away).toBe(0);
  });

  it('is not for an agent that is to settle the conflict of a command', () => {
    const { take } = startDecided({
      agents: { fixer: AGENT },
      'on-conflict': 'agent:fixer',
      concurrency: 2,
      tasks: { a: TASK, command: { run: 'x' } },
    });
    take(asks('a', 'run'));
    take(held('a'));
    take(done('command'));
    const conflict = { files: ['f'], with: [] };
    expect(
      started(take({ type: 'task.conflicted', task: 'command', attempt: 1, conflict, marked: 'm' })),
    ).toEqual([]);
    expect(started(take({ type: 'question.answered', id: 'run+budget', answer: 'yes', by: 'anna' }))).toEqual(
      ['command'],
    );
  });
});
