/**
 * How long an agent waits for its tools: `bosun mcp` from its start to its answer to `tools/list`, with the handshake of
 * one era and without it in the other, against a fixed limit.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { installedBosun } from './installed.ts';
import { atMost, interleave, roundsOr, type Bench, type Figure } from './measure.ts';
import { makeRepository } from './repository.ts';

const ROUNDS = 15;
const LIMIT_MS = 350;
const CLIENT = { name: 'bench', version: '1' };
const OLD = '2025-11-25';
const NEW = '2026-07-28';

const HANDSHAKE = [
  { id: 0, method: 'initialize', params: { protocolVersion: OLD, capabilities: {}, clientInfo: CLIENT } },
  { method: 'notifications/initialized' },
  { id: 1, method: 'tools/list' },
];
const META = {
  'io.modelcontextprotocol/protocolVersion': NEW,
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const WITHOUT = [{ id: 1, method: 'tools/list', params: { _meta: META } }];

export const bench: Bench = {
  name: 'mcp',
  about: 'bosun mcp, from its start to its answer to tools/list',
  async *figures(): AsyncIterable<Figure> {
    const bosun = installedBosun();
    const repo = await makeRepository(1);
    await listedMs(bosun, repo, HANDSHAKE); // compiled code is cached from the first start on
    const taken = await interleave('tools/list', roundsOr(ROUNDS), {
      handshake: () => listedMs(bosun, repo, HANDSHAKE),
      without: () => listedMs(bosun, repo, WITHOUT),
    });
    yield atMost(1, {
      name: `tools/list after a handshake (${OLD})`,
      value: taken.handshake,
      baseline: LIMIT_MS,
    });
    yield atMost(1, { name: `tools/list without one (${NEW})`, value: taken.without, baseline: LIMIT_MS });
  },
};

/** To the answer; the server is then left, and waited for. */
async function listedMs(bosun: string, cwd: string, messages: object[]): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(bosun, ['mcp'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stdin.write(
    messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''),
  );
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result } = JSON.parse(line) as { id: number; result?: { tools: unknown[] } };
    if (id !== 1) continue;
    if (result?.tools.length !== 8) throw new Error(`tools/list gave ${line.slice(0, 200)}`);
    break;
  }
  const tookMs = performance.now() - startedMs;
  child.stdin.end();
  await ended;
  return tookMs;
}
