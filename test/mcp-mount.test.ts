/** `/mcp` of `bosun serve`: behind the tokens of the server, for the repositories that it serves. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpMount } from '../src/doors/mcp/mount.ts';
import { perform } from '../src/operations/perform.ts';
import { openShop, type TestServer } from './fixtures/http.ts';
import { connect, ERAS, type McpClient } from './fixtures/mcp-client.ts';

const mount = mcpMount({ version: '0.0.0', hosts: [] });
const shop = openShop(
  { 'bosun.yaml': 'name: hello\ntasks: { one: { run: echo hi } }\n' },
  { mounts: [mount] },
);
let server: TestServer;

beforeAll(async () => ({ server } = await shop));
afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await mount[Symbol.asyncDispose]();
  await (await shop)[Symbol.asyncDispose]();
});

function clientOf(token: string, at = '/mcp/shop', era: (typeof ERAS)[number] = ERAS[1]): Promise<McpClient> {
  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(at, server.serving.url), {
    requestInit: { headers },
  });
  return connect(era, transport);
}

async function toolsOf(agent: McpClient): Promise<string[]> {
  return (await agent.client.listTools()).tools.map(({ name }) => name).toSorted();
}

describe('/mcp of the server', () => {
  it.each(ERAS)('has the tools, in the era of %s', async (era) => {
    await using agent = await clientOf(server.serving.token!, '/mcp', era);
    expect(await toolsOf(agent)).toContain('engine_execute');
    expect(await agent.call('engine_history')).toMatchObject({ runs: [] });
  });

  it('gives a token that may only look the tools that change nothing', async () => {
    const around = { cwd: (await shop).repository.path, by: { kind: 'person', name: 'anna' } as const };
    const { token } = await perform('addToken', { name: 'reader', role: 'read' }, around);
    await using agent = await clientOf(token);
    const tools = await toolsOf(agent);
    expect(tools).toContain('engine_status');
    expect(tools).not.toContain('engine_execute');
    expect(tools).not.toContain('engine_merge');
  });

  it('is closed without a token, to other pages, and for repositories that are not served', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const ask = async (at: string, headers: Record<string, string>, token?: string): Promise<number> =>
      (await server.ask('POST', at, { token, body, headers })).status;
    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    expect(await ask('/mcp/shop', json)).toBe(401);
    expect(await ask('/mcp/shop', { ...json, origin: 'http://evil.example' }, server.serving.token)).toBe(
      403,
    );
    expect(await ask('/mcp/shop', { ...json, host: 'evil.example' }, server.serving.token)).toBe(421);
    for (const at of ['/mcp/other', '/mcp/..%2fshop', '/mcp/shop/x'])
      expect(await ask(at, json, server.serving.token), at).toBe(404);
  });
});
