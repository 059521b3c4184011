/** Runs that are continued over HTTP: what an address says is a name, and nothing else. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { perform } from '../src/operations/perform.ts';
import { openShop, type TestServer } from './fixtures/http.ts';

const shop = openShop({ 'slow.yaml': 'name: slow\ntasks: { one: { run: sleep 60 } }\n' });
let server: TestServer;
let at: string;

beforeAll(async () => ({ server, at } = await shop));
afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

describe('a run that is continued', () => {
  it('is named by an address, which is no option of a command', { timeout: 60_000 }, async () => {
    const own = { name: 'continues', role: 'run' } as const;
    const { token } = await perform('addToken', own, { cwd: '/', by: { kind: 'person', name: 'anna' } });
    const { id } = (await server.ask('POST', `${at}/runs`, { body: { file: 'slow.yaml' } })).json;
    await server.ask('POST', `${at}/runs/${id}/cancel`, { body: { now: true } });
    const owned = path.join(tmpdir(), 'bosun-owned');
    for (const word of ['--unfenced', '--trust', `--record=${owned}`, '--help', '--'])
      for (const rest of ['resume', 'tasks/one/retry']) {
        const route = `${at}/runs/${encodeURIComponent(word)}/${rest}`;
        expect((await server.ask('POST', route, { token, body: {} })).json, route).toMatchObject({
          status: 404,
          detail: expect.stringContaining(`there is no run ${word}`) as string,
        });
      }
    const retry = `${at}/runs/${id}/tasks/--unfenced/retry`;
    expect((await server.ask('POST', retry, { token, body: {} })).json).toMatchObject({
      status: 404,
      detail: expect.stringContaining('has no task --unfenced') as string,
    });
    const events = (await server.ask('GET', `${at}/runs/${id}/events?limit=1000`)).json.events;
    expect(events.filter((each: any) => each.event.type === 'run.resumed')).toEqual([]);
    expect(existsSync(owned)).toBe(false);
    expect((await server.ask('GET', `${at}/runs/${'x'.repeat(1001)}`)).json).toMatchObject({
      status: 400,
      detail: expect.stringContaining('run is too long') as string,
    });
  });
});
