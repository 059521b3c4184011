/** An engine that is killed while tasks publish: each version counts once, and the branch is what it would have been. */
import { expect, it } from 'vitest';
import type { Event } from '../../src/contract/event.ts';
import { killEverywhere } from '../fixtures/kill-everywhere.ts';
import type { TestRepository } from '../fixtures/repository.ts';

const RUN = 'publish-1';

async function check(repository: TestRepository, events: readonly Event[], at: string): Promise<void> {
  const versions: number[] = [];
  const news = new Map<string, string[] | undefined>();
  for (const event of events) {
    if (event.type === 'publication.made') versions.push(event.version);
    if (event.type === 'message.sent' && event.publication) {
      expect(news.has(event.id), `${at}: ${event.id} twice`).toBe(false);
      expect(event.publication.version, at).toBe(versions.at(-1));
      news.set(event.id, undefined);
    }
    if (event.type === 'message.delivered' && news.has(event.id)) {
      expect(news.get(event.id), `${at}: ${event.id} decided twice`).toBeUndefined();
      news.set(event.id, event.to);
    }
  }
  expect(versions, at).toEqual(versions.map((_, n) => n + 1));
  expect([...news.values()], at).toHaveLength(versions.length - 1);
  for (const to of news.values()) expect(to, at).toBeDefined();
  const git = (...args: string[]): Promise<string> => repository.git('--git-dir=.git/bosun/git', ...args);
  const log = await git('log', '--reverse', '--format=%s', '--name-only', `bosun/${RUN}`);
  const commits = log.replaceAll(/\n+/g, ' ').trim();
  expect(commits, at).toMatch(/ work spec\.txt waits seen\.txt$/);
  expect(await git('show', `bosun/${RUN}:spec.txt`), at).toBe('two');
  expect(await git('show', `bosun/${RUN}:seen.txt`), at).toMatch(/^(one|two)$/);
}

it(
  'counts each version once and merges in order, wherever the engine is killed',
  { timeout: 900_000 },
  async () => {
    const reached = await killEverywhere('publish', check);
    expect(reached).toBeGreaterThan(8);
  },
);
