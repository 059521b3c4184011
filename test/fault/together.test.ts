/** An engine that is killed while agents hand over, race and watch: each turn, pick and round counts once. */
import { expect, it } from 'vitest';
import type { Event } from '../../src/contract/event.ts';
import { killEverywhere } from '../fixtures/kill-everywhere.ts';
import type { TestRepository } from '../fixtures/repository.ts';

async function check(repository: TestRepository, events: readonly Event[], at: string): Promise<void> {
  const handed: string[] = [];
  const picked: string[] = [];
  const rounds: string[] = [];
  const finished: string[] = [];
  for (const event of events) {
    if (event.type === 'task.handed') handed.push(event.agent);
    if (event.type === 'task.picked') picked.push(event.candidate);
    if (event.type === 'task.round') rounds.push(event.why);
    if (event.type === 'task.finished') finished.push(event.task);
  }
  expect(handed, at).toEqual(['developer', 'reviewer', 'developer', 'reviewer']);
  expect(picked, at).toEqual(['race.2']);
  expect(finished.length, `${at}: ended twice`).toBe(new Set(finished).size);
  expect(
    rounds.filter((why) => why === 'final'),
    at,
  ).toHaveLength(1);
  expect(rounds.at(-1), at).toBe('final');
  const show = (file: string): Promise<string> =>
    repository.git('--git-dir=.git/bosun/git', 'show', `bosun/together-1:${file}`);
  expect(await show('all.txt'), at).toBe('line\nline\na\nb');
  expect((await show('list.txt')).split('\n'), at).toContain('all.txt');
}

it('hands over, picks and ends once, wherever the engine is killed', { timeout: 900_000 }, async () => {
  const reached = await killEverywhere('together', check);
  expect(reached).toBeGreaterThan(12);
});
