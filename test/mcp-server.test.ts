/** The tools of `bosun mcp`: how they follow from the table, what a hostile client can do, and the door over HTTP. */
import { symlinkSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { OPERATIONS } from '../src/contract/operations.ts';
import { bounded, plainText } from '../src/doors/mcp/bounds.ts';
import { openMcpHttp, type Place } from '../src/doors/mcp/http.ts';
import { personForm, saidIn } from '../src/doors/mcp/person-form.ts';
import { inputSchemaOf } from '../src/doors/mcp/schemas.ts';
import { serveOnStreams } from '../src/doors/mcp/stdio.ts';
import { TASKS } from '../src/doors/mcp/tasks.ts';
import { MCP_TOOLS } from '../src/doors/mcp/tools.ts';
import { Bosun, workflow as defined } from '../src/index.ts';
import { perform } from '../src/operations/perform.ts';
import { bosun } from './fixtures/cli.ts';
import { connect, ERAS } from './fixtures/mcp-client.ts';
import { makeRepository } from './fixtures/repository.ts';

describe('the tools', () => {
  it('are these, with these fields, which programs rely on', () => {
    const rows = MCP_TOOLS.map(({ name, kind, input, output }) => {
      const needs = new Set(input.required);
      const fields = Object.keys(input.properties).map((field) => (needs.has(field) ? `${field}!` : field));
      return `${name}(${fields.join(' ')}) ${kind} → ${Object.keys(output.shape).join(' ')}`;
    });
    expect(rows).toEqual([
      'engine_execute(file workflow inputs prompt runtime command model check attempts timeout dirty usd key) acts → run isRepeated notes state next',
      'engine_status(run waitSeconds limit) looks → run tasks taskCount recovered warnings next',
      'engine_budget(run) looks → run accounts shared overruns warnings',
      'engine_interrupt(action! run task text now) acts → run action task state notes',
      'engine_history(limit) looks → runs',
      'engine_diff(run task attempt outside stat offset) looks → from to files fileCount patch nextOffset notes',
      'engine_merge(run squash) lands → run kind head branch commits',
      'engine_answer(run question answer chosen note) acts → run question text answer isTaken isPending next',
    ]);
  });

  it('take nothing of their own that could widen what a run may do', () => {
    const fields = new Set(MCP_TOOLS.flatMap(({ input }) => Object.keys(input.properties)));
    for (const never of ['trust', 'unfenced', 'replay', 'record', 'overBudget'])
      expect([...fields]).not.toContain(never);
  });

  it('change nothing where they say that they only look', () => {
    const acting = MCP_TOOLS.filter(({ kind }) => kind === 'looks').flatMap(({ asks }) =>
      asks.filter((name) => OPERATIONS[name].changes),
    );
    expect(acting).toEqual([]);
  });

  it('have JSON Schema for what they take and give, and tell what is wrong in words', async () => {
    for (const { input, output } of MCP_TOOLS) {
      const schema = inputSchemaOf(input)['~standard'];
      expect(schema.jsonSchema.input({ target: 'draft-2020-12' })).toMatchObject({
        type: 'object',
        additionalProperties: false,
      });
      expect(z.toJSONSchema(output).type).toBe('object');
      expect(await schema.validate({ other: 1 })).toMatchObject({
        issues: [{ message: expect.stringContaining('other is not a field') as string }],
      });
    }
  });
});

describe('what comes back', () => {
  it('is plain and short, however long it was and whoever wrote it', () => {
    const long = 'x'.repeat(10_000);
    const given = bounded({
      '\u001B[2J': `a\u202Eb\n\tc\u0007`,
      long,
      list: Array(1000).fill(1) as number[],
    });
    expect(Object.keys(given)[0]).toBe(String.raw`\x1b[2J`);
    expect(Object.values(given)[0]).toBe('a\\u{202e}b\n\tc\\x07');
    expect(given.long).toMatch(/^x{4000}… \(6000 more characters\)$/);
    expect(given.list).toHaveLength(200);
  });

  it('is a form that any client can show, and its content is an answer', () => {
    const question = { id: 'a+1.1', task: 'a', text: 'Which?\u001B[2J', default: null, askedAtMs: 0 };
    const choices = [{ label: 'Postgres', about: 'a server' }, { label: 'SQLite' }];
    expect(personForm(question, 'x-1').message).toBe(String.raw`a of run x-1 asks: Which?\x1b[2J`);
    expect(personForm(question, 'x-1').schema.properties.answer).toMatchObject({ type: 'boolean' });
    const one = personForm({ ...question, choices, freeText: true }, 'x-1').schema;
    expect(one.properties).toMatchObject({
      answer: { oneOf: [{ const: 'Postgres', title: 'Postgres: a server' }, { const: 'SQLite' }] },
      other: { type: 'string' },
    });
    const some = personForm({ ...question, choices, several: true }, 'x-1').schema;
    expect(some).toMatchObject({ properties: { answer: { type: 'array' } }, required: ['answer'] });
    expect(
      [
        { answer: true },
        { answer: false },
        { answer: ['SQLite', 5] },
        { answer: 'x', other: 'y' },
        { answer: 7 },
        {},
      ].map(saidIn),
    ).toEqual([{ answer: 'yes' }, { answer: 'no' }, { chosen: ['SQLite'] }, { answer: 'y' }, null, null]);
  });
});

describe('over HTTP', { timeout: 60_000 }, () => {
  it.each(ERAS)('answers revision %s, for whoever the server says it is', async (era) => {
    await using repository = await makeRepository();
    await using served = await serve(() => ({
      cwd: repository.path,
      by: { kind: 'program', name: 'anna-token' },
    }));
    await using agent = await connect(era, new StreamableHTTPClientTransport(served.url));
    expect((await agent.client.listTools()).tools.map(({ name }) => name)).toEqual(
      MCP_TOOLS.map(({ name }) => name),
    );
    const workflow = { name: 'x', tasks: { ship: { approve: 'Ship?' } } };
    const { run } = await agent.call('engine_execute', { workflow });
    expect(await agent.call('engine_status', { waitSeconds: 30 })).toMatchObject({
      run: { id: run, questions: [{ id: 'ship' }] },
    });
    await agent.call('engine_answer', { answer: 'yes' });
    expect(await agent.call('engine_status', { waitSeconds: 30 })).toMatchObject({ run: { state: 'done' } });
    expect((await bosun(repository.path, 'logs')).stdout).toContain('answered yes, by program anna-token');
  });

  it('runs no commands of its client beyond a fence, also where the repository is trusted with everything', async () => {
    const hooks = [{ on: 'run-ended' as const, command: 'true > "$BOSUN_HOOK_TEST"' }];
    const workflow = { name: 'x', hooks, tasks: { a: { run: 'true' } } };
    await using repository = await makeRepository({ files: { 'own.yaml': JSON.stringify(workflow) } });
    const around = { cwd: repository.path, by: { kind: 'person', name: 'anna' } } as const;
    await perform('trust', { everything: true }, around);
    await using served = await serve(() => ({ cwd: repository.path }));
    await using agent = await connect('2025-11-25', new StreamableHTTPClientTransport(served.url));
    const refusal = await agent.refusal('engine_execute', { workflow });
    expect(refusal).toMatch(/^not-trusted: .*run the hook true.*bosun trust <file>.*Only the person/s);
    await agent.call('engine_execute', { file: 'own.yaml' });
    // Whoever agrees to these very lines of a file means them.
    const { fresh } = await perform('asked', { file: 'own.yaml' }, around);
    expect(fresh).toEqual([expect.stringContaining('run the hook true')]);
    await perform('trust', { asked: fresh }, around);
    await agent.call('engine_execute', { workflow });
    const { runs } = await agent.call('engine_history');
    expect(runs).toHaveLength(2);
  });

  it('reads no files for its client but workflows of the repository', async () => {
    await using away = await makeRepository({ files: { 'x.yaml': 'SECRET: 1\n', '.netrc': 'SECRET\n' } });
    await using repository = await makeRepository({ files: { '.env': 'SECRET=1\n' } });
    symlinkSync(path.join(away.path, 'x.yaml'), path.join(repository.path, 'link.yaml'));
    await using served = await serve(() => ({ cwd: repository.path }));
    await using agent = await connect('2025-11-25', new StreamableHTTPClientTransport(served.url));
    const x = path.relative(repository.path, path.join(away.path, 'x.yaml'));
    const uses = { name: 'w', tasks: { a: { uses: x } } };
    const files = [x, path.join(away.path, '.netrc'), 'link.yaml', '.env', '.git/config', '.git/x.yaml'];
    for (const input of [...files.map((file) => ({ file })), { workflow: uses }]) {
      const refusal = await agent.refusal('engine_execute', input);
      expect(refusal).toMatch(/^usage: start: file must be|it leads out of the repository/);
      expect(refusal).not.toContain('SECRET');
    }
  });

  it('offers a reader nothing that changes anything, and fails where the repository is not theirs', async () => {
    await using served = await serve(() => ({ cwd: '/nowhere', isReadOnly: true }));
    await using agent = await connect('2026-07-28', new StreamableHTTPClientTransport(served.url));
    const kinds = (await agent.client.listTools()).tools.map(({ annotations }) => annotations?.readOnlyHint);
    expect(kinds).toEqual([true, true, true, true]);
    expect(await agent.refusal('engine_history')).toContain('no-repository');
    await expect(agent.client.callTool({ name: 'engine_merge', arguments: {} })).rejects.toThrow(
      'engine_merge',
    );
  });

  it('refuses other names and origins, and bodies without end', async () => {
    await using served = await serve(() => ({ cwd: '/nowhere' }));
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect(await post(served.url, body, { host: 'evil.example' })).toBe(403);
    expect(await post(served.url, body, { origin: 'https://evil.example' })).toBe(403);
    expect(await post(served.url, body, { origin: 'null' })).toBe(403);
    expect(await post(served.url, `"${'x'.repeat(5 * 1024 * 1024)}"`)).toBe(413);
    expect(await post(served.url, body)).toBe(200);
  });
});

it(
  'an answer goes past no person, however the run and the question are named',
  { timeout: 60_000 },
  async () => {
    await using repository = await makeRepository();
    await using served = await serve(() => ({ cwd: repository.path }));
    const forms: string[] = [];
    await using agent = await connect('2026-07-28', new StreamableHTTPClientTransport(served.url), {
      person: ({ message }) => (forms.push(message), undefined),
    });
    const asks = { runtime: 'cli', command: 'bosun agent ask "May I?"' };
    const review = { 'for-each': ['x'], agent: asks, prompt: 'look' };
    await agent.call('engine_execute', { workflow: { name: 'a', tasks: { gate: { approve: 'Gate?' } } } });
    await agent.call('engine_execute', { workflow: { name: 'b', tasks: { review } } });
    for (const run of ['a-1', 'b-1']) await agent.call('engine_status', { run, waitSeconds: 60 });
    const { run } = await agent.call('engine_status', { run: 'b-1' });
    const [{ id, task }] = (run as { questions: [{ id: string; task: string }] }).questions;
    const label = `review[x]${id.slice(task.length)}`;
    for (const input of [{ question: 'gate' }, { question: label, run: 'b-1' }])
      expect(await agent.call('engine_answer', { ...input, answer: 'yes' })).toMatchObject({
        isPending: true,
      });
    expect(await agent.refusal('engine_answer', { question: 'other', answer: 'yes' })).toContain(
      'several runs',
    );
    expect(forms).toEqual(['gate of run a-1 asks: Gate?', 'review[x] of run b-1 asks: May I?']);
    for (const each of ['a-1', 'b-1'])
      await agent.call('engine_interrupt', { action: 'cancel', run: each, now: true });
  },
);

it('a patch of controls comes whole, page after page, and its files once', async () => {
  await using repository = await makeRepository();
  const engine = new Bosun(repository.path);
  const lines = String.raw`awk 'BEGIN { for (n = 0; n < 500; n++) { for (i = 0; i < 99; i++) printf "\001"; print n } }' > lines`;
  const line = String.raw`awk 'BEGIN { printf "a"; for (i = 0; i < 20000; i++) printf "\342\200\256" }' > one-line`;
  const { finished } = await engine.run(defined({ name: 'x', tasks: { a: { run: `${lines}; ${line}` } } }));
  await finished;
  await using served = await serve(() => ({ cwd: repository.path }));
  await using agent = await connect('2026-07-28', new StreamableHTTPClientTransport(served.url));
  let patch = '';
  for (let offset: unknown = 0; offset !== undefined;) {
    const page = await agent.call('engine_diff', { offset });
    expect(Object.keys(page).includes('files')).toBe(offset === 0);
    patch += page.patch as string;
    offset = page.nextOffset;
  }
  expect(patch).toBe(plainText((await engine.diff()).patch.toString()));
});

it('a run is a task of the protocol for a client that knows tasks', { timeout: 60_000 }, async () => {
  await using repository = await makeRepository();
  using wire = new Wire(repository.path);
  const envelope = {
    [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
    [CLIENT_INFO_META_KEY]: { name: 'tasker', version: '1' },
    [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { form: {} }, extensions: { [TASKS]: {} } },
  };
  const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const answer = await wire.ask({ method, params: { ...params, _meta: envelope } });
    if (answer.error) throw new Error(JSON.stringify(answer.error));
    return answer.result as Record<string, unknown>;
  };
  const until = async (taskId: unknown, status: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const task = await ask('tasks/get', { taskId });
      if (task.status !== 'working') expect(task.status).toBe(status);
      if (task.status === status) return task;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const workflow = { name: 'x', tasks: { ship: { approve: 'Ship?' } } };
  const execute = { name: 'engine_execute', arguments: { workflow } };
  const started = await ask('tools/call', execute);
  expect(started).toMatchObject({ resultType: 'task', taskId: 'x-1', status: 'working', ttlMs: null });
  const { inputRequests } = await until('x-1', 'input_required');
  expect(inputRequests).toMatchObject({ ship: { method: 'elicitation/create' } });
  await ask('tasks/update', {
    taskId: 'x-1',
    inputResponses: { ship: { action: 'accept', content: { answer: true } } },
  });
  const ended = await until('x-1', 'completed');
  expect(ended.result).toMatchObject({ structuredContent: { run: 'x-1', state: 'done' } });
  expect((await ask('tools/call', execute)).taskId).toBe('x-2');
  await ask('tasks/cancel', { taskId: 'x-2' });
  expect(await until('x-2', 'cancelled')).toMatchObject({ taskId: 'x-2' });
  await expect(ask('tasks/get', { taskId: 'x-9' })).rejects.toThrow('there is no run x-9');
});

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

/** A server in this process, spoken to in lines, as over stdio. */
class Wire implements Disposable {
  readonly answers: Record<string, unknown>[] = [];
  readonly ended: Promise<void>;
  readonly #in = new PassThrough();
  readonly #out = new PassThrough();
  readonly #stop = new AbortController();
  readonly #waiting = new Map<unknown, (answer: Record<string, unknown>) => void>();
  #count = 0;

  constructor(cwd: string) {
    const streams = { stdin: this.#in, stdout: this.#out };
    this.ended = serveOnStreams({ cwd, version: '0' }, streams, { say: () => {}, signal: this.#stop.signal });
    let rest = '';
    this.#out.on('data', (piece: Buffer) => {
      const lines = (rest + piece.toString()).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const answer = JSON.parse(line) as Record<string, unknown>;
        this.answers.push(answer);
        this.#waiting.get(answer.id)?.(answer);
      }
    });
  }

  send(line: string): void {
    this.#in.write(`${line}\n`);
  }

  end(): void {
    this.#in.end();
  }

  ask(message: object): Promise<Record<string, unknown>> {
    const id = `ask-${++this.#count}`;
    const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
    this.#waiting.set(id, resolve);
    this.send(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
    return promise;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }
}

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

async function serve(where: () => Place): Promise<{ url: URL } & AsyncDisposable> {
  const mcp = openMcpHttp({ version: '0', where });
  const server = createServer((request, response) => void mcp.serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    async [Symbol.asyncDispose]() {
      await mcp[Symbol.asyncDispose]();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Gives the status. */
function post(url: URL, body: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const all = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    };
    const request = httpRequest(url, { method: 'POST', headers: all }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    request.on('error', reject);
    request.end(body);
  });
}
