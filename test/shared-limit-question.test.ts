/** A run that is held at a limit of all runs asks the user: whoever may only work with runs decides nothing there. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpMount } from '../src/doors/mcp/mount.ts';
import { perform } from '../src/operations/perform.ts';
import { openShop, type TestServer } from './fixtures/http.ts';
import { connect, ERAS, type McpClient } from './fixtures/mcp-client.ts';
import { plantRun, type PlantedRun } from './fixtures/planted-run.ts';
import { History } from './fixtures/report.ts';

const mount = mcpMount({ version: '0.0.0', hosts: [] });
const shop = openShop({}, { mounts: [mount] });
const ANNA = { cwd: '/', by: { kind: 'person', name: 'anna' } } as const;
let server: TestServer;
let at: string;
let own: string;

beforeAll(async () => {
  ({ server, at } = await shop);
  own = (await perform('addToken', { name: 'robot', role: 'run' }, ANNA)).token;
});
afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await mount[Symbol.asyncDispose]();
  await (await shop)[Symbol.asyncDispose]();
});

/** Held at a limit; it counts as driven. */
async function heldAt(account: string): Promise<PlantedRun> {
  const history = new History('held-1', { name: 'held', tasks: { a: { run: 'true' } } });
  const text = 'All runs have used $1 of $1. Raise it to $2 and go on?';
  const asked = { id: `${account}+budget`, task: 'a', text, default: 'no', timeoutMs: 900_000 };
  const budget = { account, unit: 'usd', spent: 1, limit: 1, raiseTo: 2, isHard: false } as const;
  history.start('a').add({ type: 'attempt.asked', attempt: 1, ...asked, budget });
  const { events } = history.add({ type: 'question.asked', ...asked });
  return plantRun((await shop).repository.path, events);
}

async function agentWith(token: string, person?: () => Record<string, unknown>): Promise<McpClient> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const url = new URL('/mcp/shop', server.serving.url);
  return connect(ERAS[1], new StreamableHTTPClientTransport(url, { requestInit }), person ? { person } : {});
}

describe('a question about a limit of all runs', () => {
  it.each(['all:day', 'repository:month'])('is answered over HTTP by admins alone: %s', async (account) => {
    await using run = await heldAt(account);
    for (const answer of ['yes', 'no']) {
      const refused = await server.ask('POST', `${at}/runs/${run.id}/answer`, {
        token: own,
        body: { answer },
      });
      expect(refused.json).toMatchObject({
        status: 403,
        detail: expect.stringMatching(/limit that all runs share.* role admin/) as string,
      });
    }
    const { status } = await server.ask('POST', `${at}/runs/${run.id}/answer`, { body: { answer: 'yes' } });
    expect(status).toBe(200);
  });

  it('of the run alone is answered by whoever may work with runs', async () => {
    await using run = await heldAt('run');
    const body = { answer: 'yes' };
    expect((await server.ask('POST', `${at}/runs/${run.id}/answer`, { token: own, body })).status).toBe(200);
  });

  it('is answered over MCP by a person alone, and with a token of an admin', async () => {
    await using run = await heldAt('all:day');
    const input = { run: run.id, answer: 'yes' };
    {
      await using agent = await agentWith(server.serving.token!);
      expect(await agent.refusal('engine_answer', input)).toMatch(/limit that all runs share: only a person/);
    }
    {
      await using agent = await agentWith(own, () => ({ answer: true }));
      expect(await agent.refusal('engine_answer', input)).toMatch(/limit that all runs share.* role admin/);
    }
    await using agent = await agentWith(server.serving.token!, () => ({ answer: true }));
    expect(await agent.call('engine_answer', input)).toMatchObject({ answer: 'yes', isPending: false });
  });
});
