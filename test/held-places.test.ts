/** Whose place in `concurrency` is free while money is waited for, and whose is not. */
import { describe, expect, it } from 'vitest';
import type { Event, Fact } from '../src/contract/event.ts';
import { apply } from '../src/schedule/fold/fold.ts';
import { startDecided } from './fixtures/decided-run.ts';

const AGENT = { runtime: 'codex', model: 'm' } as const;
const TASK = { agent: AGENT, prompt: 'Work.' };
const ISOLATION: Event = { type: 'run.isolation', kind: 'none', notes: [] };

const held = (task: string): Fact => ({ type: 'attempt.held', task, attempt: 1, by: 'budget', text: 'short' });
const asks = (task: string, account: string): Fact => ({
  type: 'attempt.asked', task, attempt: 1, id: `${account}+budget`, text: 'More?', default: 'no',
  budget: { account, unit: 'usd', spent: 2, limit: 1, raiseTo: 2, isHard: false },
}); // prettier-ignore

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
});
