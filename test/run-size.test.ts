/** A run whose tasks become tasks stays bounded, however they do it. */
import { expect, test } from 'vitest';
import type { Event } from '../src/contract/event.ts';
import { workflow } from '../src/definition/builder.ts';
import { decide } from '../src/schedule/decide/decide.ts';
import { create } from '../src/schedule/fold/fold.ts';

test('a task that would make a run larger than 100,000 tasks fails, and says why', () => {
  const small = workflow({ name: 'x', tasks: { a: { run: 'x', 'for-each': [1, 2, 3] } } });
  const created: Event = {
    type: 'run.created',
    id: 'x-1',
    workflow: small,
    source: 'x',
    inputs: {},
    base: 'b',
    dirty: false,
  };
  const decided = (others: number): Event | undefined => {
    const state = create(created, 0);
    const node = state.nodes.get('a')!;
    for (let n = 0; n < others; n++) state.nodes.set(`other${n}`, node);
    return decide(state);
  };
  expect(decided(99_996)).toMatchObject({ type: 'task.expanded', items: [1, 2, 3] });
  expect(decided(99_997)).toMatchObject({
    outcome: { message: 'it would add 3 tasks to the 99998 of this run; at most 100000 are allowed' },
  });
});
