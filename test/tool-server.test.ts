/** `bosun agent mcp` as a process of its own, with a real socket of the engine behind it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCrew, type Crew } from '../src/crew/crew.ts';
import type { CrewTools } from '../src/crew/tools.ts';
import { crewTools, grantsAfter, inboxWith } from './fixtures/crew-tools.ts';
import { BOSUN } from './fixtures/cli.ts';
import { REAL_BIN } from './fixtures/runtime-job.ts';

const ARGS = ['agent', 'mcp'];

let directory: string;
let crew: Crew | undefined;
let servers: Server[] = [];
beforeEach(() => void (directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'bosun-mcp-')))));
afterEach(async () => {
  for (const { child } of servers) child.kill('SIGKILL');
  servers = [];
  await crew?.[Symbol.asyncDispose]();
  crew = undefined;
  rmSync(directory, { recursive: true });
});

const socketPath = (): string => path.join(directory, 'agent.sock');

async function openEngine(tools: Partial<CrewTools> = {}): Promise<void> {
  const inbox: CrewTools['inbox'] = async () => inboxWith({ id: 'one+1', task: 'one', globs: ['src/a\nb'] });
  crew = await openCrew({ socketPath: socketPath(), tools: crewTools({ inbox, ...tools }) });
}

interface Server {
  child: ChildProcess;
  write(text: string): void;
  send(message: object): void;
  next(): Promise<Message>;
  ask(method: string, params?: object, id?: number | string): Promise<Message>;
}
interface Message {
  id?: number | string | null;
  method?: string;
  result?: { [key: string]: unknown };
  error?: { code: number; message: string };
}

function start(): Server {
  const env = { PATH: process.env.PATH, HOME: tmpdir(), BOSUN_SOCKET: socketPath() };
  const child = spawn(BOSUN, ARGS, { cwd: directory, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.on('error', () => {});
  const server: Server = {
    child,
    write: (text) => void child.stdin.write(text),
    send: (message) => server.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    next: async () => JSON.parse((await lines.next()).value as string) as Message,
    ask(method, params = {}, id = 1) {
      server.send({ id, method, params });
      return server.next();
    },
  };
  servers.push(server);
  return server;
}

function called(text: string, isError?: true): Message {
  return {
    id: 1,
    result: { content: [{ type: 'text', text }], ...(isError && { isError }) },
    jsonrpc: '2.0',
  } as Message;
}

describe('a call of a tool', () => {
  it.each([
    ['request_access', { paths: ['a', 'b/**'] }, 'granted: a b/** (so be it)'],
    ['request_access', { paths: ['no'] }, 'refused: no (so be it)'],
    ['inbox', {}, 'one+1 one asks for src/a b'],
    ['send', { to: 'two', message: 'hi' }, 'sent me+m1 to two'],
    ['wait_for', { for: 'end', name: 'two' }, 'end came'],
    ['answer_access', { id: 'one+1', answer: 'no' }, 'answered: one+1 no'],
    ['answer_access', { id: 'two+1', answer: 'yes' }, 'not answered: two+1 yes'],
    ['ask', { question: 'Which?', choices: ['a', 'b'] }, 'a'],
    ['report_progress', { text: 'on it', percent: 5 }, 'reported'],
    ['done', { output: [1, { a: null }] }, 'accepted'],
    ['done', { output: 'no' }, 'not accepted: it says no'],
  ])('%s %o is answered by the engine, in words', async (name, input, text) => {
    await openEngine();
    expect(await start().ask('tools/call', { name, arguments: input })).toEqual(called(text));
  });

  it('has a line of its own for messages that wait', async () => {
    const notice = (): string => '1 message waits: from two; call inbox\u001b[2K';
    crew = await openCrew({ socketPath: socketPath(), tools: crewTools(), notice });
    const { result } = await start().ask('tools/call', {
      name: 'send',
      arguments: { to: 'two', message: 'a' },
    });
    expect(result).toEqual({
      content: [
        { type: 'text', text: 'sent me+m1 to two' },
        { type: 'text', text: '1 message waits: from two; call inbox [2K' },
      ],
    });
  });

  it('may name paths in full, which agents like to', async () => {
    await openEngine();
    const paths = [path.join(directory, 'src/a.ts'), 'b', `${directory}-other/c`];
    const said = await start().ask('tools/call', { name: 'request_access', arguments: { paths } });
    expect(said).toEqual(called(`granted: src/a.ts b ${directory}-other/c (so be it)`));
  });

  it('with a wrong input tells the model what is wrong with it', async () => {
    await openEngine();
    const server = start();
    const ask = (name: string, input: unknown): Promise<Message> =>
      server.ask('tools/call', { name, arguments: input });
    const wrong = [
      await ask('request_access', { paths: 'src' }),
      await ask('request_access', undefined),
      await ask('answer_access', { id: 'x', answer: 'maybe' }),
    ];
    for (const { result } of wrong) expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(wrong[0])).toContain('params.paths of request_access');
    expect(await ask('pulbish', {})).toMatchObject({
      error: {
        code: -32602,
        message:
          'there is no tool of that name; there are request_access, send, publish, inbox, wait_for, answer_access, outputs, take, ask, report_progress, done, spawn, children, cancel_child, serve',
      },
    });
  });

  it('outside of an attempt says so', async () => {
    const { result } = await start().ask('tools/call', { name: 'inbox' });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain('works only inside an attempt');
  });

  it('does not keep others waiting', async () => {
    const answer = Promise.withResolvers<void>();
    await openEngine({ request_access: grantsAfter(() => answer.promise, 'at last') });
    const server = start();
    server.send({
      id: 'slow',
      method: 'tools/call',
      params: { name: 'request_access', arguments: { paths: ['a'] } },
    });
    expect(await server.ask('tools/call', { name: 'inbox' }, 2)).toMatchObject({ id: 2 });
    answer.resolve();
    expect(await server.next()).toMatchObject({ id: 'slow', result: { content: [{ type: 'text' }] } });
  });

  it('that nobody waits for any more is not answered', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    await openEngine({
      request_access: grantsAfter(() => {
        asked.resolve();
        return answer.promise;
      }),
    });
    const server = start();
    const params = { name: 'request_access', arguments: { paths: ['a'] } };
    server.send({ id: 7, method: 'tools/call', params });
    await asked.promise;
    server.send({ method: 'notifications/cancelled', params: { requestId: 7 } });
    expect(await server.ask('ping', {}, 8)).toMatchObject({ id: 8, result: {} });
    answer.resolve();
    expect(await server.ask('tools/call', { name: 'inbox' }, 9)).toMatchObject({ id: 9 });
  });

  it('is refused where too many wait already', async () => {
    await openEngine({ request_access: () => new Promise(() => {}) });
    const server = start();
    const params = { name: 'request_access', arguments: { paths: ['a'] } };
    for (let id = 1; id <= 17; id++) server.send({ id, method: 'tools/call', params });
    expect(await server.next()).toMatchObject({ id: 17, error: { code: -32600 } });
  });
});

describe('the protocol', () => {
  it.each([
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2024-11-05'],
    ['2099-01-01', '2025-11-25'],
  ])('is spoken as asked for where we know it: %s → %s', async (asked, spoken) => {
    expect(await start().ask('initialize', { protocolVersion: asked, capabilities: {} })).toMatchObject({
      result: { protocolVersion: spoken, capabilities: { tools: {} }, serverInfo: { name: 'bosun' } },
    });
  });

  describe('without a handshake', () => {
    const META = 'io.modelcontextprotocol/';
    const modern = (version = '2026-07-28', params: object = {}): object => ({
      ...params,
      _meta: { [`${META}protocolVersion`]: version, [`${META}clientCapabilities`]: {} },
    });
    const complete = {
      resultType: 'complete',
      _meta: { [`${META}serverInfo`]: { name: 'bosun', version: '1' } },
    };
    const cached = { ttlMs: expect.any(Number), cacheScope: 'private' };

    it('says what it speaks', async () => {
      expect((await start().ask('server/discover', modern())).result).toEqual({
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        ...cached,
        ...complete,
      });
    });

    it('lists tools and calls them', async () => {
      await openEngine();
      const server = start();
      const { result: list } = await server.ask('tools/list', modern());
      expect(list).toMatchObject({
        ...cached,
        ...complete,
        tools: [{ name: 'request_access' }, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}],
      });
      const input = { name: 'request_access', arguments: { paths: ['a'] } };
      expect((await server.ask('tools/call', modern('2026-07-28', input))).result).toEqual({
        content: [{ type: 'text', text: 'granted: a (so be it)' }],
        ...complete,
      });
    });

    it('has no messages of a session, and other versions only with a handshake', async () => {
      const server = start();
      expect(await server.ask('ping', modern())).toMatchObject({ error: { code: -32601 } });
      expect(await server.ask('initialize', modern())).toMatchObject({ error: { code: -32601 } });
      expect(await server.ask('server/discover')).toMatchObject({ error: { code: -32602 } });
      expect(
        await server.ask('tools/list', { _meta: { [`${META}protocolVersion`]: '2026-07-28' } }),
      ).toMatchObject({
        error: { code: -32602 },
      });
      for (const requested of ['2025-11-25', '2099-01-01'])
        expect(await server.ask('tools/list', modern(requested))).toMatchObject({
          error: { code: -32022, data: { supported: ['2026-07-28'], requested } },
        });
    });
  });

  it('answers what cannot be read with an error, and goes on', async () => {
    const server = start();
    server.write('{"jsonrpc": \n[1]\n"text"\n\n');
    for (const code of [-32700, -32600, -32600])
      expect(await server.next()).toMatchObject({ id: null, error: { code } });
    server.send({ method: 'notifications/initialized' });
    server.send({ id: 3, result: {} });
    expect(await server.ask('resources/list')).toMatchObject({ id: 1, error: { code: -32601 } });
    expect(await server.ask('ping')).toMatchObject({ result: {} });
  });

  it('tells of each tool what a model needs, and nothing else', async () => {
    const { result } = await start().ask('tools/list');
    for (const tool of result!.tools as object[])
      expect(Object.keys(tool)).toEqual(['name', 'description', 'inputSchema']);
  });

  it('ends with a message that is longer than any may be', async () => {
    const server = start();
    server.write('x'.repeat(1024 * 1024 + 1));
    expect(await server.next()).toMatchObject({ id: null, error: { code: -32600 } });
    expect(await once(server.child, 'exit')).toEqual([0, null]);
  });

  it('ends with the agent, also while it waits for the engine', async () => {
    await openEngine({ request_access: () => new Promise(() => {}) });
    const server = start();
    const params = { name: 'request_access', arguments: { paths: ['a'] } };
    server.send({ id: 7, method: 'tools/call', params });
    await server.ask('ping');
    server.child.stdin!.end();
    expect(await once(server.child, 'exit')).toEqual([0, null]);
  });

  it('ends where nobody reads its answers any more', async () => {
    const server = start();
    await server.ask('ping');
    server.child.stdout!.destroy();
    const exit = once(server.child, 'exit');
    const timer = setInterval(() => server.send({ id: 1, method: 'ping' }), 20);
    expect(await exit).toEqual([0, null]);
    clearInterval(timer);
  });

  it('is understood by its own client', async () => {
    await openEngine();
    const sdk = path.resolve(REAL_BIN, '../@modelcontextprotocol/sdk/dist/esm/client');
    const load = async (file: string): Promise<Record<string, any>> =>
      (await import(pathToFileURL(path.join(sdk, file)).href)) as Record<string, any>;
    const [{ Client }, { StdioClientTransport }] = await Promise.all([load('index.js'), load('stdio.js')]);
    const client = new Client({ name: 'test', version: '1' });
    const env = { PATH: process.env.PATH, HOME: tmpdir(), BOSUN_SOCKET: socketPath() };
    await client.connect(new StdioClientTransport({ command: BOSUN, args: ARGS, env }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }: { name: string }) => name)).toEqual([
      'request_access',
      'send',
      'publish',
      'inbox',
      'wait_for',
      'answer_access',
      'outputs',
      'take',
      'ask',
      'report_progress',
      'done',
      'spawn',
      'children',
      'cancel_child',
      'serve',
    ]);
    expect(tools[0]).toMatchObject({ inputSchema: { type: 'object', required: ['paths'] } });
    const input = { name: 'request_access', arguments: { paths: ['docs/**'] } };
    expect(await client.callTool(input)).toEqual({
      content: [{ type: 'text', text: 'granted: docs/** (so be it)' }],
    });
    await client.close();
  });
});
