/** The routes below /api/agent-runtime: a worker does a work item as a template says, and its run says how it went. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { perform } from '../src/operations/perform.ts';
import { Documented, listenTo, openShop, type TestServer } from './fixtures/http.ts';

const RUNTIME = '/api/agent-runtime';
const shop = openShop({ 'README.md': 'hello\n' });
let server: TestServer;
const documented = new Documented();

beforeAll(async () => {
  ({ server } = await shop);
  const put = (route: string, body: object) => documented.ask(server, 'PUT', `/api/${route}`, { body });
  const said = [
    await put('workers/anna', { name: 'Anna', command: 'cat >> story.txt; echo written' }),
    await put('workers/slow', { name: 'Slow', command: 'sleep 60' }),
    await put('workers/bad', { name: 'Bad', command: 'echo half > half.txt; exit 3' }),
    await put('workers/away', { name: 'Away', command: 'true', offline: true }),
    await put('templates/tell', { name: 'Tell', prompt: 'Write this down: ${{ it }}' }),
    await put('items/one', { title: 'The first', text: 'Once upon a time.' }),
  ];
  expect(said.map(({ status }) => status)).toEqual(said.map(() => 200));
});
afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

const ASKED = { workerId: 'anna', workItemId: 'one', templateId: 'tell', repositoryId: 'shop' };

async function execute(more: object = {}, headers: Record<string, string> = {}) {
  return documented.ask(server, 'POST', `${RUNTIME}/execute`, { body: { ...ASKED, ...more }, headers });
}

/** Resolves with the execution as it ended. */
async function ended(id: string) {
  const run = id.split(':')[1]!;
  await using stream = listenTo(server.serving.url, `/api/repositories/shop/runs/${run}/events`, {
    token: server.serving.token,
  });
  await stream.until(({ data }) => data?.event.type === 'run.finished');
  return (await documented.ask(server, 'GET', `${RUNTIME}/executions/${id}`)).json;
}

describe('an execution', { timeout: 120_000 }, () => {
  it('is accepted, done, and tells what came of it; another goes on from what it left', async () => {
    const accepted = await execute({}, { 'idempotency-key': 'a' });
    expect(accepted).toMatchObject({ status: 202, json: { ...ASKED, status: 'pending' } });
    const { id } = accepted.json;
    expect((await execute({}, { 'idempotency-key': 'a' })).json.id).toBe(id);
    const done = await ended(id);
    expect(done).toMatchObject({
      id,
      status: 'success',
      output: { isCut: false, metrics: { toolCalls: 0, costUsd: 0 } },
    });
    expect(done.output.diff).toContain('+Write this down: ${{ it }}');
    expect(done.output.diff).toContain('+Once upon a time.');
    expect(done.output.logs).toContain('written');
    expect(done.output.metrics.durationMs).toBeGreaterThan(0);

    const second = await ended((await execute({ workspaceId: id })).json.id);
    expect(second).toMatchObject({ status: 'success', workspaceId: id });
    expect(second.output.diff).toMatch(/^ .*Once upon a time/m); // it was there already
    const third = await ended((await execute()).json.id);
    expect(third.output.diff).toContain('new file mode');

    expect(
      (await documented.ask(server, 'GET', `${RUNTIME}/executions?workerId=anna&limit=2`)).json,
    ).toMatchObject([{ id: third.id }, { id: second.id }]);
    const rest = await documented.ask(server, 'GET', `${RUNTIME}/executions?limit=2&before=${second.id}`);
    expect(rest.json).toMatchObject([{ id }]);
    expect((await documented.ask(server, 'GET', `${RUNTIME}/executions?before=shop:none-1`)).status).toBe(
      404,
    );
    const { json: workspaces } = await documented.ask(server, 'GET', `${RUNTIME}/workspaces`);
    expect(workspaces.find((each: { id: string }) => each.id === id)).toMatchObject({ status: 'completed' });
    expect((await documented.ask(server, 'DELETE', `${RUNTIME}/workspaces/${id}`)).json).toMatchObject({
      id,
      status: 'cleaning',
    });
    const left = (await documented.ask(server, 'GET', `${RUNTIME}/workspaces`)).json.map(
      (each: { id: string }) => each.id,
    );
    expect(left).toEqual([third.id, second.id]);
    expect((await documented.ask(server, 'GET', `${RUNTIME}/executions/${id}`)).json.output.diff).toContain(
      'Once upon',
    ); // its snapshot stays
  });

  it('that fails keeps what it left, and says why', async () => {
    const failed = await ended((await execute({ workerId: 'bad' })).json.id);
    expect(failed).toMatchObject({ status: 'error', errorMessage: expect.stringContaining('3') });
    expect(failed.output.diff).toContain('+half');
  });

  it('keeps its worker busy until it is cancelled', async () => {
    const statusOf = async (id: string) =>
      (await documented.ask(server, 'GET', '/api/workers')).json.find(
        (each: { id: string }) => each.id === id,
      ).status;
    const { id } = (await execute({ workerId: 'slow' })).json;
    expect([await statusOf('slow'), await statusOf('anna'), await statusOf('away')]).toEqual([
      'busy',
      'idle',
      'offline',
    ]);
    expect((await documented.ask(server, 'GET', `${RUNTIME}/workspaces`)).json[0]).toMatchObject({
      id,
      status: 'active',
    });
    expect((await documented.ask(server, 'DELETE', `${RUNTIME}/workspaces/${id}`)).status).toBe(409);
    expect((await execute({ workspaceId: id })).status).toBe(409);
    expect(
      (await documented.ask(server, 'POST', `${RUNTIME}/executions/${id}/cancel`, { body: {} })).status,
    ).toBe(200);
    expect(await ended(id)).toMatchObject({ status: 'cancelled' });
    expect(await statusOf('slow')).toBe('idle');
  });

  it('of what is not there is refused, and the field is named', async () => {
    for (const name of Object.keys(ASKED)) {
      const missing = await execute({ [name]: undefined });
      expect(missing.json).toMatchObject({ status: 400, errors: [{ pointer: `/${name}` }] });
      expect((await execute({ [name]: 'nobody' })).status).toBe(404);
      expect((await execute({ [name]: 5 })).json.errors).toMatchObject([{ pointer: `/${name}` }]);
    }
    expect((await execute({ workerId: 'away' })).status).toBe(409);
    expect((await execute({ workspaceId: 'shop:nothing-1' })).status).toBe(404);
    for (const id of ['nothing', 'shop:', ':x', 'shop:exec-1', 'other:execution-1'])
      expect((await documented.ask(server, 'GET', `${RUNTIME}/executions/${id}`)).status).toBe(404);
    expect(
      (await documented.ask(server, 'PUT', '/api/items/a%20b', { body: { title: 'x', text: 'y' } })).status,
    ).toBe(400);
    expect((await documented.ask(server, 'GET', `${RUNTIME}/executions/nope`)).json).toMatchObject({
      detail: expect.stringContaining('all: bosun executions') as string,
    });
    expect((await documented.ask(server, 'DELETE', '/api/items/none')).status).toBe(404);
    expect((await documented.ask(server, 'DELETE', '/api/workers/away')).json).toMatchObject({ id: 'away' });
    expect((await documented.ask(server, 'DELETE', '/api/templates/none')).status).toBe(404);
    expect((await documented.ask(server, 'GET', '/api/templates')).json).toHaveLength(1);
    expect((await documented.ask(server, 'GET', '/api/items')).json).toHaveLength(1);
  });

  it('is trusted with what reaches beyond the repository by the word of an admin alone', async () => {
    const { token } = await perform(
      'addToken',
      { name: 'works', role: 'run' },
      { cwd: process.cwd(), by: { kind: 'person', name: 'ann' } },
    );
    const isTrusted = async (asked: { token?: string }): Promise<boolean> => {
      const accepted = await documented.ask(server, 'POST', `${RUNTIME}/execute`, { body: ASKED, ...asked });
      expect(accepted.status).toBe(202);
      const run = String(accepted.json.id).split(':')[1]!;
      const { text } = await documented.ask(
        server,
        'GET',
        `/api/repositories/shop/runs/${run}/events?limit=1`,
      );
      await ended(accepted.json.id);
      return text.includes('"trusted"');
    };
    expect(await isTrusted({})).toBe(true);
    expect(await isTrusted({ token })).toBe(false);
  });
});
