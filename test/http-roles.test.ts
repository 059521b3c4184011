/** What a token of the role `run` must not reach by a way round: trust, a command line, and streams after its end. */
import { execFileSync } from 'node:child_process';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Event } from '../src/contract/event.ts';
import { workflow } from '../src/definition/builder.ts';
import { Bosun } from '../src/doors/library.ts';
import { perform } from '../src/operations/perform.ts';
import { openJournal } from '../src/run/journal.ts';
import { openShop, type TestServer } from './fixtures/http.ts';
import { plantRun } from './fixtures/planted-run.ts';

const ANNA = { kind: 'person', name: 'anna' } as const;
const shop = openShop({ 'README.md': 'hello\n' }, { beatMs: 50 });
let server: TestServer;
let at: string;
let cwd: string;
let works: string;

beforeAll(async () => {
  ({
    server,
    at,
    repository: { path: cwd },
  } = await shop);
  ({ token: works } = await perform('addToken', { name: 'works', role: 'run' }, { cwd, by: ANNA }));
});
afterAll(async () => {
  expect(server.bugs).toEqual([]);
  await (await shop)[Symbol.asyncDispose]();
});

const budget = { account: 'all:day', unit: 'usd', spent: 3, limit: 2, raiseTo: 4, isHard: false } as const;

const asked = { id: 'all:day+budget', text: 'More?', default: 'no' };

/** A run that is held at a budget, and that nobody drives on. */
async function heldRun(): Promise<AsyncDisposable & { id: string }> {
  const made = workflow({ name: 'held', tasks: { a: { run: 'true' } } });
  const events = [
    { type: 'run.created', workflow: made, source: 'x', inputs: {}, base: '0'.repeat(40), dirty: false },
    { type: 'tasks.ready', tasks: ['a'] },
    { type: 'attempt.started', task: 'a', attempt: 1, purpose: 'work', from: [], prompt: '' },
    { type: 'attempt.asked', task: 'a', attempt: 1, ...asked, budget },
    { type: 'question.asked', task: 'a', ...asked },
  ] as unknown as Event[];
  return plantRun(
    cwd,
    events.map((event, n) => ({ seq: n + 1, atMs: Date.now(), run: '', event })),
  );
}

it('who may not give trust gives none by way of a template of their own', async () => {
  await server.ask('PUT', '/api/workers/w', { body: { name: 'W', command: 'sleep 60' } });
  const template = { name: 'T', prompt: 'x', check: 'id' };
  expect((await server.ask('PUT', '/api/templates/t', { token: works, body: template })).status).toBe(200);
  await server.ask('PUT', '/api/items/i', { token: works, body: { title: 'I', text: 'x' } });
  const body = { workerId: 'w', workItemId: 'i', templateId: 't', repositoryId: 'shop' };
  const trusted: boolean[] = [];
  for (const token of [works, server.serving.token]) {
    const { json } = await server.ask('POST', '/api/agent-runtime/execute', { token, body });
    await using journal = await openJournal(cwd);
    const [first] = await journal.store.read(json.run, { limit: 1 });
    trusted.push(JSON.stringify(first).includes('"trusted"'));
    await server.ask('POST', `/api/agent-runtime/executions/${json.id}/cancel`, { token, body: {} });
  }
  expect(trusted).toEqual([false, true]);
});

it('a log that is followed ends with its token, and counts as a stream', async () => {
  const around = { cwd, by: ANNA };
  const { token } = await perform('addToken', { name: 'brief', role: 'read' }, around);
  await using held = await heldRun();
  const ended = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<void>();
  const url = `${server.serving.url}${at}/runs/${held.id}/log?follow=true`;
  request(url, { headers: { authorization: `Bearer ${token}` } }, (response) => {
    response.on('data', () => heard.resolve()).on('end', () => ended.resolve());
  }).end();
  await heard.promise;
  const metrics = async () => (await server.ask('GET', '/metrics')).text;
  expect(await metrics()).toMatch(/^bosun_followed_logs 1$/m);
  await perform('revokeToken', { name: 'brief' }, around);
  await ended.promise;
  expect(await metrics()).toMatch(/^bosun_followed_logs 0$/m);
});

it('what is said to an agent with a retry is in no command line, whatever it holds and however long it is', async () => {
  const agent = { runtime: 'cli' as const, command: 'cat > said.txt; sleep 2; exit 1' };
  const made = workflow({ name: 'again', tasks: { a: { agent, prompt: 'x' } } });
  const live = await new Bosun(cwd).run(made, { trust: true });
  await live.finished;
  const feedback = `a\u0000b ${'说'.repeat(60_000)}`;
  const answer = server.ask('POST', `${at}/runs/${live.id}/tasks/a/retry`, { body: { feedback } });
  let seen = 0;
  for (let isOver = false; !isOver;) {
    isOver = await Promise.race([
      answer.then(() => true),
      new Promise<false>((resolve) => setTimeout(resolve, 20, false)),
    ]);
    if (execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8', maxBuffer: 64e6 }).includes('说说说'))
      seen += 1;
  }
  expect(await answer).toMatchObject({ status: 202 });
  expect(seen).toBe(0);
  for (let said = ''; !said.includes(JSON.stringify(feedback).slice(1, 1000));) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    for await (const page of new Bosun(cwd).events(live.id)) said += JSON.stringify(page);
  }
});
