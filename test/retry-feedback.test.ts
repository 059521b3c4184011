/** A task that is tried again by a person who says why the last attempt was not enough. */
import { expect, it } from 'vitest';
import { requireAgent } from '../src/operations/retriable.ts';
import { startDecided } from './fixtures/decided-run.ts';

const AGENT = { runtime: 'claude-code' } as const;
const FAILED = { kind: 'failed', reason: 'check', message: 'no' } as const;

it('tells the next attempt what a person said, that task alone, and only once', () => {
  const run = startDecided({
    agents: { a: AGENT },
    tasks: {
      work: { agent: 'a', prompt: 'Do it.' },
      after: { needs: ['work'], agent: 'a', prompt: 'More.' },
    },
  });
  run.take({ type: 'attempt.finished', task: 'work', attempt: 1, durationMs: 1, outcome: FAILED });
  expect(run.state.state).toBe('failed');

  const feedback = 'src/cart.ts:42: load the cart first';
  const decided = run.take({ type: 'task.retried', task: 'work', by: 'anna', feedback });

  expect(decided.find(({ type }) => type === 'run.reopened')).toMatchObject({
    tasks: [{ task: 'work', feedback }, { task: 'after' }],
  });
  expect(decided.find(({ type }) => type === 'attempt.started')).toMatchObject({ attempt: 2, feedback });
  const after = run.take({
    type: 'attempt.finished', task: 'work', attempt: 2, durationMs: 1, outcome: { kind: 'done' },
  }); // prettier-ignore
  const started = after.find(({ type }) => type === 'attempt.started');
  expect(started).toMatchObject({ task: 'after' });
  expect(started).not.toHaveProperty('feedback');
});

it('is refused where no agent would read what is said', () => {
  const { state } = startDecided({
    agents: { a: AGENT },
    tasks: { lint: { run: 'npm run lint' }, each: { 'for-each': [1, 2], agent: 'a', prompt: 'Do it.' } },
  });
  for (const name of ['lint', 'each'])
    expect(() => requireAgent(state.nodes.get(name)!, name)).toThrow(
      `task ${name} has no agent of its own that could be told: try it again without feedback`,
    );
  expect(() => requireAgent(state.nodes.get('each.1')!, 'each[1]')).not.toThrow();
});
