/** Events of format 1: what they meant when they were written is what they mean today. */
import { expect, test } from 'vitest';
import { firstDifference, oldHistories } from './fixtures/old-history.ts';

test('every event of a journal of format 1 gives the state that it gave when it was written', () => {
  expect(firstDifference(1)).toBe('none');
  const types = new Set(oldHistories(1).flatMap(({ events }) => events.map(({ type }) => type)));
  expect(types).not.toContain('task.again');
});
