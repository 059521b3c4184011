/** An engine that is killed while a text is summed up and an owner takes a change: a text has one summary, a request one answer. */
import { expect, it } from 'vitest';
import type { Event } from '../../src/contract/event.ts';
import { killEverywhere } from '../fixtures/kill-everywhere.ts';
import type { TestRepository } from '../fixtures/repository.ts';

async function check(repository: TestRepository, events: readonly Event[], at: string): Promise<void> {
  const asked: string[] = [];
  const answered: string[] = [];
  const summaries: string[] = [];
  for (const event of events) {
    if (event.type === 'access.requested') asked.push(event.id);
    if (event.type === 'access.answered') answered.push(event.id);
    if (event.type === 'task.finished' && event.task.includes('/summary-'))
      summaries.push(event.outcome.kind);
    if (event.type === 'attempt.started' && ['one', 'two'].includes(event.task))
      expect(event.prompt, at).toMatch(/^It is long\.\n\(This is a summary by the agent brief/);
  }
  expect(answered.toSorted(), at).toEqual(asked.toSorted());
  expect(summaries, at).toEqual(['done']);
  const show = repository.git('--git-dir=.git/bosun/git', 'show', 'bosun/sums-1:README.md');
  expect(['hello', 'hello\nwanted'], at).toContain(await show);
}

it('sums up and answers once, wherever the engine is killed', { timeout: 900_000 }, async () => {
  const reached = await killEverywhere('sums', check);
  expect(reached).toBeGreaterThan(4);
});
