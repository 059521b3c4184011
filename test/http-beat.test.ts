/** How a reader of events knows that its stream is alive, and where it stands while nothing happens. */
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
  expect(beat.id).toMatch(/^shop:\d+\.\d+$/);
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
