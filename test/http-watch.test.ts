/** What the server sees of others: runs that they queue, repositories that they allow. */
import { describe, expect, it } from 'vitest';
import { perform } from '../src/operations/perform.ts';
import { listenTo, openShop, startServer } from './fixtures/http.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const ANNA = { kind: 'person', name: 'anna' } as const;

async function queue(repository: TestRepository, ...argv: string[]): Promise<string> {
  const { id } = await perform('queueExec', { argv }, { cwd: repository.path, by: ANNA, trust: true });
  return id;
}

describe('runs that somebody else queues', { timeout: 60_000 }, () => {
  it('are driven as they come, in repositories that are served by then', async () => {
    await using shop = await openShop({ 'a.txt': 'a' });
    await using late = await makeRepository({ files: { 'a.txt': 'a' }, name: 'late' });
    const { server, repository } = shop;
    const { url, token } = server.serving;
    await using all = listenTo(url, '/api/events', { token });
    await all.status;
    const ended = (repository: string, run: string) =>
      all.until(
        ({ data }) =>
          data?.repository === repository && data.run === run && data.event.type === 'run.finished',
      );
    for (let n = 0; n < 2; n += 1) await ended('shop', await queue(repository, 'true'));
    const waiting = await queue(late, 'true');
    await perform('allowRepository', {}, { cwd: late.path, by: ANNA });
    await ended('late', await queue(late, 'true'));
    expect(all.events.filter(({ data }) => data?.run === waiting).length).toBeGreaterThan(0);
    expect(server.bugs).toEqual([]);
  });
});

describe('events of everything', { timeout: 60_000 }, () => {
  it('go on where a repository is served no longer, and do not begin with it again', async () => {
    await using server = await startServer({ beatMs: 100 });
    const { url, token } = server.serving;
    await using first = await makeRepository({ files: { 'a.txt': 'a' }, name: 'first' });
    await using second = await makeRepository({ files: { 'a.txt': 'a' }, name: 'second' });
    await using all = listenTo(url, '/api/events', { token });
    await all.status;
    for (const { path: cwd } of [first, second]) await perform('allowRepository', {}, { cwd, by: ANNA });
    const seen = (repository: string, run: string) =>
      all.until(({ data }) => data?.repository === repository && data.run === run);
    const earlier = await queue(first, 'true');
    // What of it came later would be told rightly, too.
    await all.until(({ data }) => data?.run === earlier && data.event.type === 'run.finished');
    await perform('forgetRepository', { repository: 'first' }, { cwd: '/', by: ANNA });
    await seen('second', await queue(second, 'true'));
    const { id } = all.events.findLast(({ id }) => id !== undefined)!;
    expect(id).toMatch(/^second:\d+\.\d+$/);
    const before = all.events.length;
    await perform('allowRepository', {}, { cwd: first.path, by: ANNA });
    const run = await queue(first, 'true');
    await seen('first', run);
    const again = all.events.slice(before).filter(({ data }) => data?.repository === 'first');
    expect(new Set(again.map(({ data }) => data.run))).toEqual(new Set([run]));
    expect(server.bugs).toEqual([]);
  });
});
