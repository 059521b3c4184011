/** How a reader of events knows that its stream is alive, and where it stands while nothing happens. */
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { perform } from '../src/operations/perform.ts';
import { listenTo, openShop } from './fixtures/http.ts';

const ANNA = { kind: 'person', name: 'anna' } as const;

it('a stream beats by name, at once and again, and who comes back with a beat has missed nothing', async () => {
  await using shop = await openShop({ 'a.txt': 'a' });
  const { server, repository } = shop;
  const { url, token } = server.serving;
  const exec = (): Promise<{ id: string }> =>
    perform('queueExec', { argv: ['true'] }, { cwd: repository.path, by: ANNA, trust: true });
  await exec();
  const first = listenTo(url, '/api/events', { token });
  const beat = await first.until(({ event }) => event === 'beat');
  expect(beat.id).toMatch(/^shop:\d+\.\d+\.[0-9a-f]{12}$/);
  const before = first.events.length;
  await first.until(({ event }) => event === 'beat' && first.events.length > before);
  await first[Symbol.asyncDispose]();

  const { id } = await exec(); // while nobody listens
  await using again = listenTo(url, '/api/events', { token, headers: { 'last-event-id': beat.id } });
  await again.until(({ data }) => data?.run === id);
  const seqs = again.events.filter(({ data }) => data?.run === id).map(({ data }) => data.seq);
  expect(seqs).toEqual(seqs.map((_, n) => n + 1));

  await using own = listenTo(url, `${shop.at}/runs/${id}/events`, { token });
  expect((await own.until(({ event }) => event === 'beat')).id).toBeUndefined();
  expect(server.bugs).toEqual([]);
}, 60_000);

it.each(['/api/events', '/api/repositories/shop/events'])(
  'an id of a journal that is another one by now begins anew in %s, says so, and skips nothing',
  async (stream) => {
    await using shop = await openShop({ 'a.txt': 'a' });
    const { server, repository } = shop;
    const { url, token } = server.serving;
    const exec = (): Promise<{ id: string }> =>
      perform('queueExec', { argv: ['sleep', '600'] }, { cwd: repository.path, by: ANNA, trust: true });
    const first = listenTo(url, stream, { token });
    await first.until(({ event }) => event === 'beat');
    await exec();
    const { id: lastId } = await first.until(({ data }) => data?.type === 'run.created' || data?.seq === 1);
    await first[Symbol.asyncDispose]();

    await perform('cancel', { run: 'exec-1', now: true }, { cwd: repository.path, by: ANNA });
    const state = path.join(repository.path, '.git', 'bosun');
    for (const name of ['journal.db', 'journal.db-wal', 'journal.db-shm'])
      await rename(path.join(state, name), path.join(state, `${name}.old`)).catch(() => {});
    const { id } = await exec();
    await using again = listenTo(url, stream, { token, headers: { 'last-event-id': lastId } });
    await again.until(({ data }) => data?.run === id && data?.seq === 1);
    const told = again.events.filter(({ event, data }) => event !== 'beat' && data !== undefined);
    expect(told[0]).toMatchObject({ event: 'reset', data: { repository: 'shop' } });
    expect(told[1]).toMatchObject({ data: { run: id, seq: 1 } });
    await using more = listenTo(url, stream, { token, headers: { 'last-event-id': told[1]!.id! } });
    await more.until(({ event }) => event === 'beat');
    expect(more.events.filter(({ event }) => event === 'reset')).toEqual([]); // it is of this one
    await perform('cancel', { run: id, now: true }, { cwd: repository.path, by: ANNA });
    expect(server.bugs).toEqual([]);
  },
  60_000,
);
