/** What the server sees of others: runs that they queue, repositories that they allow. */
import { renameSync } from 'node:fs';
import path from 'node:path';
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
  it('tell of a journal that is gone, claim no place in it, and begin with the next one', async () => {
    await using shop = await openShop({ 'a.txt': 'a' });
    const { server, repository } = shop;
    const { url, token } = server.serving;
    await using one = listenTo(url, '/api/events', { token });
    await using two = listenTo(url, '/api/events', { token });
    const seen = (stream: typeof one, run: string) =>
      stream.until(({ data }) => data?.run === run && data.event.type === 'run.finished');
    await Promise.all([one.status, two.status]);
    const earlier = await queue(repository, 'true');
    await Promise.all([seen(one, earlier), seen(two, earlier)]);
    const home = path.join(repository.path, '.git', 'bosun');
    renameSync(home, `${home}-aside`);
    const told = await one.until(({ event }) => event === 'problem');
    expect(told.data).toMatchObject({ repository: 'shop', problem: { status: expect.any(Number) } });
    // One stream is still there, and whoever comes now is told of the next journal.
    await using fresh = listenTo(url, '/api/events', { token });
    await fresh.until(({ event, id }) => event === 'beat' && id?.startsWith('shop:') === true);
    const later = await queue(repository, 'true');
    await seen(fresh, later);
    const { length } = one.events;
    await expect.poll(() => one.events.length).toBeGreaterThan(length);
    expect(one.events.at(-1)!.id).toBe('');
    // An engine that was just ending may say that its journal is gone, which is trouble and no bug.
    expect(server.bugs.filter((each) => typeof each !== 'string')).toEqual([]);
  });

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
    expect(id).toMatch(/^second:\d+\.\d+\.[0-9a-f]{12}$/);
    const before = all.events.length;
    await perform('allowRepository', {}, { cwd: first.path, by: ANNA });
    const run = await queue(first, 'true');
    await seen('first', run);
    const again = all.events.slice(before).filter(({ data }) => data?.repository === 'first');
    expect(new Set(again.map(({ data }) => data.run))).toEqual(new Set([run]));
    expect(server.bugs).toEqual([]);
  });
});
