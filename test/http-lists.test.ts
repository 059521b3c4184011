/** Long lists over HTTP: some at a time, only what is asked for, and none twice while new ones come. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Event } from '../src/contract/event.ts';
import { workflow } from '../src/definition/builder.ts';
import { perform } from '../src/operations/perform.ts';
import { bosun } from './fixtures/cli.ts';
import { openShop, type TestServer } from './fixtures/http.ts';
import { makeRepository } from './fixtures/repository.ts';
import { plantRun, type PlantedRun } from './fixtures/planted-run.ts';

const NOW = Date.now();
const DAY_MS = 24 * 3600 * 1000;
const WORKFLOW = workflow({
  name: 'many',
  tasks: { a: { run: 'true' }, b: { run: 'true' }, c: { run: 'true' }, d: { run: 'true' } },
});

const shop = openShop({ 'README.md': 'hello\n' });
const planted: PlantedRun[] = [];
let server: TestServer;
let at: string;

/** The eighth is driven; the third, on its sixth day, was left by its engine; the even ones failed, the others are done. */
beforeAll(async () => {
  ({ server, at } = await shop);
  for (let n = 1; n <= 8; n++) planted.push(await plant(n, NOW - (9 - n) * DAY_MS));
});
afterAll(async () => {
  for (const run of planted) await run[Symbol.asyncDispose]();
  await (await shop)[Symbol.asyncDispose]();
});

async function plant(n: number, atMs: number, directory?: string): Promise<PlantedRun> {
  const { repository } = await shop;
  const created = {
    type: 'run.created',
    id: '',
    workflow: WORKFLOW,
    source: 'bosun.yaml',
    inputs: {},
    baseCommit: '0'.repeat(40),
    engine: 'test',
  } as unknown as Event;
  const ended = { type: 'run.finished', state: n % 2 === 0 ? 'failed' : 'done' } as unknown as Event;
  const events = n === 3 || n === 8 ? [created] : [created, ended];
  const run = await plantRun(
    directory ?? repository.path,
    events.map((event, seq) => ({ seq: seq + 1, atMs, run: '', event })),
  );
  if (n !== 8) run.abandon();
  return run;
}

/** All pages of a list, each of at most `limit`, by the address that the one before gave. */
async function pagesOf(address: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let next: string | undefined = address; next !== undefined;) {
    const { status, json, headers } = await server.ask('GET', next);
    expect(status, JSON.stringify(json)).toBe(200);
    pages.push(json.map(({ id }: { id: string }) => id));
    next = /^<(.*)>; rel="next"$/.exec(String(headers.link))?.[1];
  }
  return pages;
}

describe('runs', () => {
  it('come page by page, the newest first, and new ones in between change no page', async () => {
    const all = ['many-8', 'many-7', 'many-6', 'many-5', 'many-4', 'many-3', 'many-2', 'many-1'];
    expect(await pagesOf(`${at}/runs`)).toEqual([all]);
    expect(await pagesOf(`${at}/runs?limit=3`)).toEqual([all.slice(0, 3), all.slice(3, 6), all.slice(6)]);
    const { headers } = await server.ask('GET', `${at}/runs?limit=2`);
    await using newest = await plant(1, NOW);
    expect(newest.id).toBe('many-9');
    expect(headers.link).toBe(`<${at}/runs?limit=2&before=many-7>; rel="next"`);
    expect((await pagesOf(`${at}/runs?limit=2&before=many-7`)).flat()).toEqual(all.slice(2));
    expect((await server.ask('GET', `${at}/runs?before=many-99`)).json).toMatchObject({
      status: 404,
      detail: expect.stringContaining('there is no run many-99'),
    });
  });

  it('are those in the states that are asked for, as people are told them', async () => {
    expect(await pagesOf(`${at}/runs?state=failed&limit=2`)).toEqual([['many-6', 'many-4'], ['many-2']]);
    expect(await pagesOf(`${at}/runs?state=interrupted`)).toEqual([['many-3']]);
    expect(await pagesOf(`${at}/runs?state=running`)).toEqual([['many-8']]);
    expect(await pagesOf(`${at}/runs?state=running&state=failed&limit=2`)).toEqual([
      ['many-8', 'many-6'],
      ['many-4', 'many-2'],
      [],
    ]);
    expect(await pagesOf(`${at}/runs?state=paused`)).toEqual([[]]);
    expect((await server.ask('GET', `${at}/runs?state=broken`)).status).toBe(400);
  });

  it('are those since a day, also together with a state', async () => {
    expect((await pagesOf(`${at}/runs?since=84h`)).flat().slice(-2)).toEqual(['many-7', 'many-6']);
    expect(await pagesOf(`${at}/runs?since=132h&state=failed`)).toEqual([['many-6', 'many-4']]);
  });
});

describe('runs of all repositories', () => {
  it('come page by page as one list, those of one moment in one order', async () => {
    await using other = await makeRepository({ files: { 'README.md': 'x\n' }, name: 'site' });
    await perform('allowRepository', {}, { cwd: other.path, by: { kind: 'person', name: 'anna' } });
    const added: PlantedRun[] = [];
    for (const n of [5, 7, 7]) added.push(await plant(n, NOW - (9 - n) * DAY_MS, other.path));
    const all = [9, 8, 7, 6, 5, 4, 3, 2, 1].flatMap((n) => {
      const site = { 7: ['site:many-3', 'site:many-2'], 5: ['site:many-1'] }[n] ?? [];
      return [`shop:many-${n}`, ...site];
    });
    expect(await pagesOf('/api/runs')).toEqual([all]);
    for (const limit of [1, 2, 3])
      expect((await pagesOf(`/api/runs?limit=${limit}`)).flat(), `${limit} on a page`).toEqual(all);
    expect(await pagesOf('/api/runs?state=failed&limit=3')).toEqual([
      ['shop:many-6', 'shop:many-4', 'shop:many-2'],
      [],
    ]);
    expect((await pagesOf('/api/runs?since=84h')).flat()).toEqual(all.slice(0, 6));
    expect((await server.ask('GET', '/api/runs?limit=1')).json[0]).toMatchObject({
      repositoryId: 'shop',
      run: { id: 'many-9', state: 'done' },
    });
    for (const id of ['site:many-9', 'nowhere:many-1', 'many-1'])
      expect((await server.ask('GET', `/api/runs?before=${id}`)).status, id).toBe(404);
    for (const run of added) await run[Symbol.asyncDispose]();
    await server.ask('DELETE', '/api/repositories/site');
    expect((await pagesOf('/api/runs')).flat()).toEqual(all.filter((id) => id.startsWith('shop:')));
  });
});

describe('a repository to be served', () => {
  it('is named from the root, and is there', async () => {
    const { repository } = await shop;
    const add = async (body: unknown) => {
      const { status, json } = await server.ask('POST', '/api/repositories', { body });
      return `${status} ${json.detail ?? json.name}`;
    };
    const fromRoot = '400 directory must be a path from the root, such as /home/anna/shop';
    for (const directory of ['shop', '.', '../x', '']) expect(await add({ directory })).toBe(fromRoot);
    expect(await add({})).toBe('400 directory is missing');
    expect(await add({ directory: `${repository.path}/nope` })).toBe(
      `409 ${repository.path}/nope does not exist; name a directory of a repository`,
    );
    expect(await add({ directory: `${repository.path}/README.md` })).toBe(
      `409 ${repository.path}/README.md is not a directory; name a directory of a repository`,
    );
    expect(await add({ directory: repository.path })).toBe('201 shop');
  });

  it('is never taken for a port', async () => {
    const { repository } = await shop;
    const refused = await bosun(repository.path, 'serve', '8080');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toBe('bosun: there is no directory 8080; the port is: --port 8080\n');
    expect((await bosun(repository.path, 'serve', 'nope')).stderr).toBe(
      `bosun: ${repository.path}/nope does not exist; name a directory of a repository\n`,
    );
  });
});

describe('tasks of a run', () => {
  it('come page by page, in the order in which they are written', async () => {
    expect(await pagesOf(`${at}/runs/many-8/tasks?limit=3`)).toEqual([['a', 'b', 'c'], ['d']]);
    expect(await pagesOf(`${at}/runs/many-8/tasks?state=failed`)).toEqual([[]]);
    expect((await server.ask('GET', `${at}/runs/many-8/tasks?after=x`)).status).toBe(404);
  });
});

describe('records', () => {
  it('come page by page, too', async () => {
    for (const id of ['anna', 'ben', 'cleo'])
      await server.ask('PUT', `/api/templates/${id}`, { body: { name: id, prompt: 'x' } });
    expect(await pagesOf('/api/templates?limit=2')).toEqual([['anna', 'ben'], ['cleo']]);
  });
});
