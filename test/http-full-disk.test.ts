/** `bosun serve` on a disk that gets full: what writes is told so, what reads goes on, and nothing is lost. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { perform } from '../src/operations/perform.ts';
import { startServer, type Answered, type TestServer } from './fixtures/http.ts';
import { makeRepository } from './fixtures/repository.ts';
import { HAS_SMALL_DISKS, smallDisk } from './fixtures/small-disk.ts';

const AT = '/api/repositories/shop';
const ANNA = { kind: 'person', name: 'anna' } as const;

/** Leaves no byte of it. */
function fill(directory: string): string {
  const file = path.join(directory, 'filler');
  for (let size = 4 * 1024 ** 2; size >= 1; size >>= 1)
    for (;;)
      try {
        writeFileSync(file, Buffer.alloc(size), { flag: 'a' });
      } catch {
        break;
      }
  return file;
}

async function isDone(server: TestServer, run: string): Promise<void> {
  await expect
    .poll(() => server.ask('GET', `${AT}/runs/${run}`), { timeout: 15_000, interval: 200 })
    .toMatchObject({ json: { run: { state: 'done' } } });
}

test.runIf(HAS_SMALL_DISKS)(
  'a full disk stops what writes, with a problem that says so, and nothing else',
  async () => {
    await using disk = await smallDisk('48-mb');
    await using server = await startServer({ state: path.join(disk.directory, 'state') });
    await using repository = await makeRepository({ name: 'shop', below: disk.directory });
    await perform('allowRepository', {}, { cwd: repository.path, by: ANNA });
    const start = (key: string): Promise<Answered> =>
      server.ask('POST', `${AT}/exec`, { body: { argv: ['true'] }, headers: { 'idempotency-key': key } });
    const first = await start('first');
    expect(first.status).toBe(202);
    await isDone(server, first.json.id);

    const filler = fill(disk.directory);
    for (let n = 0; n < 20; n++) {
      const refused = await start('second');
      expect(refused.json).toMatchObject({ status: 507, detail: expect.stringContaining('free some space') });
    }
    for (const read of [
      `${AT}/runs`,
      `${AT}/runs/${first.json.id}`,
      '/api/repositories',
      `${AT}/runs/${first.json.id}/events`,
    ])
      expect([read, (await server.ask('GET', read)).status]).toEqual([read, 200]);

    rmSync(filler);
    const second = await start('second');
    expect(second.status).toBe(202);
    await isDone(server, second.json.id);
    expect((await server.ask('GET', `${AT}/runs`)).json.map(({ id }: { id: string }) => id)).toEqual([
      second.json.id,
      first.json.id,
    ]);
    expect(readdirSync(disk.directory)).not.toContain('filler');
    expect(server.bugs).toEqual([]);
  },
  120_000,
);
