/** `bosun mcp` under a client that sends anything: each message has an answer, also what is no message, and nobody is harmed. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { MCP_TOOLS } from '../src/doors/mcp/tools.ts';
import { Wire } from './fixtures/mcp-wire.ts';

describe('a hostile client', { timeout: 120_000 }, () => {
  const SEED = 20_261_118;
  const COUNT = 5000;

  it.each(['2025-11-25', '2026-07-28'])(
    `gets an answer to each of ${COUNT} mutated requests of %s, and harms nobody`,
    async (era) => {
      const random = generator(SEED);
      using wire = new Wire('/nowhere');
      const failures: unknown[] = [];
      const note = (error: unknown): void => void failures.push(error);
      process.on('unhandledRejection', note);
      try {
        const meta = {
          [PROTOCOL_VERSION_META_KEY]: era,
          [CLIENT_INFO_META_KEY]: { name: 'f', version: '1' },
          [CLIENT_CAPABILITIES_META_KEY]: {},
        };
        const common = era === '2026-07-28' ? { _meta: meta } : {};
        if (era === '2025-11-25')
          await wire.ask({
            method: 'initialize',
            params: { protocolVersion: era, capabilities: {}, clientInfo: { name: 'f', version: '1' } },
          });
        else await wire.ask({ method: 'server/discover', params: common });
        const seeds = seedsOf(common);
        const sent = Array.from({ length: COUNT }, (_, n) => mutated(random, seeds[n % seeds.length]!, n));
        for (const line of sent) wire.send(line);
        const { result } = await wire.ask({ method: 'tools/list', params: common });
        expect((result as { tools: unknown[] }).tools).toHaveLength(MCP_TOOLS.length);
        // What the SDK itself says of parameters that are of another kind.
        const isTheirs = ({ code, message }: { code: number; message: string }): boolean =>
          code !== -32_603 || message.startsWith('[');
        const bad = wire.answers.filter(({ error }) => error !== undefined && !isTheirs(error as never));
        expect(bad).toEqual([]);
        expect(JSON.stringify(wire.answers)).not.toContain('this should not have happened');
        wire.end();
        await wire.ended;
        const told = new Set(wire.answers.map(({ id }) => id));
        const unanswered = sent.filter((line) => Number.isSafeInteger(idOf(line)) && !told.has(idOf(line)));
        expect(unanswered).toEqual([]);
      } finally {
        process.off('unhandledRejection', note);
      }
      expect(failures).toEqual([]);
    },
  );
});

describe('stdin', () => {
  it('that has what is no message is told so, and the next request is answered', async () => {
    using wire = new Wire('/nowhere');
    for (const line of [
      '{"jsonrpc":',
      'hello',
      '[]',
      'null',
      '{"id":7}',
      '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    ])
      wire.send(line);
    wire.send('['.repeat(100_000));
    await wire.ask({ method: 'ping' });
    expect(wire.answers.slice(0, 7).map(({ id, error }) => [id, (error as { code: number }).code])).toEqual([
      [null, -32_700],
      [null, -32_700],
      [null, -32_600],
      [null, -32_600],
      [7, -32_600],
      [1.5, -32_600],
      [null, -32_700],
    ]);
  });

  it('that ends right after a request still gets the answer, and then the server ends', async () => {
    using wire = new Wire('/nowhere');
    const answer = wire.ask({ method: 'tools/list' });
    wire.end();
    expect((await answer).result).toMatchObject({ tools: expect.any(Array) });
    await wire.ended;
  });
});

function seedsOf(common: object): object[] {
  const call = (name: string, args: object): object => ({
    method: 'tools/call',
    params: { ...common, name, arguments: args },
  });
  return [
    call('engine_status', { run: 'x-1', waitSeconds: 1, limit: 3 }),
    call('engine_diff', { run: 'x-1', task: 'a', offset: 10, attempt: 1 }),
    call('engine_execute', {
      workflow: { name: 'x', tasks: { a: { run: 'true' } } },
      inputs: { a: 1 },
      key: 'k',
    }),
    call('engine_execute', { prompt: 'do', runtime: 'codex', attempts: 2, usd: 1.5 }),
    call('engine_interrupt', { action: 'steer', run: 'x-1', task: 'a', text: 'hello' }),
    call('engine_answer', { run: 'x-1', question: 'q', chosen: ['a', 'b'] }),
    call('engine_merge', { run: 'x-1', squash: true }),
    { method: 'resources/read', params: { ...common, uri: 'bosun://runs/x-1/log' } },
    { method: 'resources/list', params: { ...common, cursor: 'x' } },
    { method: 'tools/list', params: common },
    { method: 'tasks/get', params: { ...common, taskId: 'x-1' } },
  ];
}

const ODD = [
  null,
  true,
  -1,
  1e308,
  '',
  'x'.repeat(5000),
  '\u0000\u001B[2J\u202E',
  '../../etc/passwd',
  [],
  {},
  [[[[]]]],
  { __proto__x: 1 },
  '${{ a }}',
  0.5,
];

/** A request in which some values, names or characters are others. */
function mutated(random: () => number, seed: object, n: number): string {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const change = (value: unknown, depth = 0): unknown => {
    if (random() < 0.08) return pick(ODD);
    if (typeof value !== 'object' || value === null || depth > 8) return value;
    if (Array.isArray(value)) return value.map((each) => change(each, depth + 1));
    const fields = Object.entries(value).map(([name, each]) => [
      random() < 0.03 ? pick(['__proto__', 'constructor', '', name.toUpperCase()]) : name,
      change(each, depth + 1),
    ]);
    return Object.fromEntries(random() < 0.05 ? [...fields, [`extra${n}`, pick(ODD)]] : fields);
  };
  const whole = { jsonrpc: '2.0', id: n, ...(change(seed) as object) };
  const text = JSON.stringify(whole);
  if (random() > 0.05) return text;
  const at = Math.floor(random() * text.length);
  return (
    text.slice(0, at) + pick(['', '"', '}', '\u0000', '[', '9'.repeat(400), '\uD800']) + text.slice(at + 1)
  );
}

/** A mutation may have changed it. */
function idOf(line: string): unknown {
  try {
    return (JSON.parse(line) as { id?: unknown }).id;
  } catch {
    return undefined;
  }
}

/** The same numbers each time. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('a client of a newer protocol', () => {
  it('is offered the newest version that there is here, in the words of either era', async () => {
    using wire = new Wire('/nowhere');
    const newer = '2099-01-01';
    const clientInfo = { name: 'f', version: '1' };
    const params = { protocolVersion: newer, capabilities: {}, clientInfo };
    expect(await wire.ask({ method: 'initialize', params })).toMatchObject({
      result: { protocolVersion: '2025-11-25' },
    });
    using other = new Wire('/nowhere');
    const meta = {
      [PROTOCOL_VERSION_META_KEY]: newer,
      [CLIENT_INFO_META_KEY]: clientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: {},
    };
    expect(await other.ask({ method: 'tools/list', params: { _meta: meta } })).toMatchObject({
      error: { code: -32_022, data: { supported: ['2026-07-28'], requested: newer } },
    });
  });
});
