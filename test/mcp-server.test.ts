/** The tools of `bosun mcp`: how they follow from the table, what a hostile client can do, and the door over HTTP. */
import { symlinkSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import path from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BosunError } from '../src/contract/errors.ts';
import { OPERATIONS } from '../src/contract/operations.ts';
import { bounded, plainText } from '../src/doors/mcp/bounds.ts';
import { messageOf } from '../src/doors/mcp/failures.ts';
import { personForm, saidIn } from '../src/doors/mcp/person-form.ts';
import { inputSchemaOf } from '../src/doors/mcp/schemas.ts';
import { TASKS } from '../src/doors/mcp/tasks.ts';
import { MCP_TOOLS } from '../src/doors/mcp/tools.ts';
import { Bosun, workflow as defined } from '../src/index.ts';
import { perform } from '../src/operations/perform.ts';
import { bosun } from './fixtures/cli.ts';
import { connect, ERAS } from './fixtures/mcp-client.ts';
import { serveMcp as serve } from './fixtures/mcp-http.ts';
import { Wire } from './fixtures/mcp-wire.ts';
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
      'engine_status(run waitSeconds limit) looks → run tasks taskCount recovered outputs warnings next',
      'engine_budget(run) looks → run accounts shared overruns warnings',
      'engine_interrupt(action! run task text now) acts → run action task state notes',
      'engine_history(limit) looks → runs',
      'engine_diff(run task attempt outside stat offset) looks → from to files fileCount patch nextOffset notes',
      'engine_merge(run squash) lands → run kind head branch commits unfinished',
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
  it('names the tools of this door, not what a person types, and sums without the dust of additions', () => {
    const told = (code: 'not-found' | 'usage' | 'conflict', message: string): string =>
      messageOf(new BosunError(code, message));
    expect(told('not-found', 'there is no run x (all: bosun history)')).toBe(
      'not-found: there is no run x (all: engine_history)',
    );
    expect(told('usage', 'steer: task is missing')).toBe('usage: task is missing');
    expect(told('conflict', 'type: bosun merge --undo')).toBe('conflict: type: bosun merge --undo');
    expect(bounded({ usd: 1.8121999999999994, atMs: 1_795_129_571_763 })).toEqual({
      usd: 1.8122,
      atMs: 1_795_129_571_763,
    });
  });

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
    const question = {
      id: 'a+1.1',
      task: 'a',
      kind: 'question' as const,
      text: 'Which?\u001B[2J',
      default: null,
      askedAtMs: 0,
    };
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
    expect(await agent.refusal('engine_execute', { file: 'own.yaml' })).toMatch(
      /^not-trusted: .*bosun trust own/s,
    );
    // Whoever agrees to these very lines of a file means them.
    const { fresh } = await perform('asked', { file: 'own.yaml' }, around);
    expect(fresh).toEqual([expect.stringContaining('run the hook true')]);
    await perform('trust', { asked: fresh }, around);
    await agent.call('engine_execute', { file: 'own.yaml' });
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
      expect(refusal).toMatch(/^usage: file must be|it leads out of the repository/);
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
