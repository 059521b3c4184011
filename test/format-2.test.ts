/** Events of format 2: what they meant when they were written is what they mean today. */
import { expect, test } from 'vitest';
import { firstDifference, oldHistories } from './fixtures/old-history.ts';

test('every event of a journal of format 2 gives the state that it gave when it was written', () => {
  expect(firstDifference(2)).toBe('none');
  const types = new Set(oldHistories(2).flatMap(({ events }) => events.map(({ type }) => type)));
  expect([...types]).toEqual(expect.arrayContaining(['run.resumed', 'task.retried', 'task.again']));
  expect(types).not.toContain('tasks.ready');
});
