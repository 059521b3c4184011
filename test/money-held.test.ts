/** Agents that try to use a model for free, or for more than their budget: real HTTP, gateway and ledger. */
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Attempt } from '../src/attempt/attempt.ts';
import type { Fact } from '../src/contract/event.ts';
import { workflow } from '../src/definition/builder.ts';
import { createRun } from '../src/run/create-run.ts';
import { Drive } from '../src/run/drive.ts';
import { liveTransport } from '../src/gateway/live/live.ts';
import { POSSIBLE_LIMITS } from '../src/gateway/money/most-possible.ts';
import { priceTable } from '../src/gateway/money/prices.ts';
import { resolveProviders } from '../src/gateway/keys/providers.ts';
import type { Transport } from '../src/gateway/transport.ts';
import { openEngine } from '../src/run/open-engine.ts';
import { InFlight, leftInFlight } from '../src/store/in-flight.ts';
import { ask, begin, events, makeRig, sendJson, until, type Rig } from './fixtures/gateway.ts';
import { makeRepository } from './fixtures/repository.ts';
import { TinyLoop, tokensOf } from './fixtures/tiny-loop.ts';

const MODEL = 'claude-opus-5-5'; // 4 dollars for a million tokens in, 20 out, 8 into a cache for an hour
const MESSAGES = '/anthropic/v1/messages';
const HELLO = { model: MODEL, max_tokens: 1000, messages: [{ role: 'user', content: 'hello' }] };
const START = events({ type: 'message_start', message: { usage: { input_tokens: 700, output_tokens: 1 } } });
const TOLD = events({ type: 'message_delta', usage: { output_tokens: 20 } });

let rig: Rig;
let live: Transport & AsyncDisposable;
beforeAll(async () => {
  rig = await makeRig();
  const config = { providers: { anthropic: { 'base-url': rig.baseUrl, key: { env: 'K' } } } };
  const configs = [{ file: 'config.yaml', isUsers: true, config }];
  live = liveTransport({ providers: resolveProviders(configs, { K: 'sk-ant-secret-0123456789' }) });
});
afterEach(() => rig.reset());
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await live[Symbol.asyncDispose]();
});

describe('a request that reached the provider is charged', () => {
  it('where the agent hangs up before any answer, with an estimate that says so', async () => {
    rig.serve(() => {}); // it thinks
    const door = await rig.open(undefined, { transport: live });
    const hangUp = new AbortController();
    const asked = begin(door, MESSAGES, HELLO, {}, hangUp.signal).catch(() => {});
    await until(() => rig.got.length === 1);
    await sleep(50);
    hangUp.abort();
    await asked;
    await until(() => rig.settled.length === 1);
    expect(rig.settled[0]).toMatchObject({ model: MODEL, estimated: true });
    const { tokens, usd } = rig.settled[0]!;
    expect(tokens.input).toBeGreaterThan(10);
    expect(tokens.output).toBeGreaterThan(3); // it had at least 50 ms to write
    expect(usd).toBeGreaterThan(0);
  });

  it('and once more for each time that it is sent again, if there is money left', async () => {
    let [tries, admitted] = [0, 0];
    rig.serve((outgoing) => {
      tries += 1;
      if (tries < 3) outgoing.destroy();
      else sendJson(outgoing, { usage: { input_tokens: 1, output_tokens: 1 } });
    });
    const door = await rig.open(undefined, { transport: live });
    expect((await ask(door, MESSAGES, HELLO)).status).toBe(200);
    expect(rig.settled.map((use) => use?.estimated)).toEqual([true, true, undefined]);
    tries = 0;
    rig.reset();
    const settle = (): void => {};
    const poor = await rig.open(undefined, { transport: live }, () => {
      admitted += 1;
      return Promise.resolve(
        admitted === 1 ? { isAdmitted: true, settle } : { isAdmitted: false, message: 'spent' },
      );
    });
    expect((await ask(poor, MESSAGES, HELLO)).body).toContain('spent');
    expect(rig.got).toHaveLength(1);
  });

  it.each(['live', 'straight'] as const)('where it cuts the stream (%s)', async (transport) => {
    rig.serve((outgoing) => void stream(outgoing, START));
    const door = await rig.open(undefined, transport === 'live' ? { transport: live } : {});
    const incoming = await begin(door, MESSAGES, { ...HELLO, stream: true });
    await once(incoming, 'data');
    incoming.destroy();
    await until(() => rig.settled.length === 1);
    expect(rig.settled).toMatchObject([{ tokens: { input: 700 }, estimated: true }]);
  });

  it('where it never reads the stream, and is gone with its attempt', async () => {
    rig.serve((outgoing) => void stream(outgoing, START));
    const door = await rig.open(undefined, { transport: live });
    await begin(door, MESSAGES, { ...HELLO, stream: true }); // the head alone
    await door[Symbol.asyncDispose]();
    expect(rig.settled).toMatchObject([{ tokens: { input: 700 }, estimated: true }]);
  });

  it('where the provider itself breaks off', async () => {
    rig.serve((outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write(START, () => outgoing.destroy());
    });
    const door = await rig.open(undefined, { transport: live });
    await ask(door, MESSAGES, { ...HELLO, stream: true }).catch(() => {});
    await until(() => rig.settled.length === 1);
    expect(rig.settled).toMatchObject([{ tokens: { input: 700 }, estimated: true }]);
  });

  it('exactly, where it hangs up after the last counts', async () => {
    rig.serve((outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write(START + TOLD);
    });
    const incoming = await begin(await rig.open(undefined, { transport: live }), MESSAGES, HELLO);
    await once(incoming, 'data');
    incoming.destroy();
    await until(() => rig.settled.length === 1);
    expect(rig.settled).toMatchObject([{ tokens: { input: 700, output: 20 } }]);
    expect(rig.settled[0]).not.toHaveProperty('estimated');
  });

  it('but not where it was never sent, or refused', async () => {
    rig.serve((outgoing) => sendJson(outgoing, { error: { message: 'no' } }, 400));
    await ask(await rig.open(undefined, { transport: live }), MESSAGES, HELLO);
    expect(rig.settled).toEqual([undefined]);
  });
});

const TASK = { agent: { runtime: 'codex', model: MODEL }, prompt: 'Work.' } as const;
const priceOf = priceTable();

describe('a request that waits for a rate limit', () => {
  it('keeps no money from others, and is paid for when it goes', async () => {
    let freeAtMs = 0;
    rig.serve((outgoing, { url }) => {
      if (url !== '/v1/messages' || Date.now() >= freeAtMs) return sendJson(outgoing, { usage: SMALL });
      outgoing.writeHead(429, { 'retry-after-ms': String(freeAtMs - Date.now()) }).end();
    });
    const SMALL = { input_tokens: 1, output_tokens: 1 };
    const config = {
      providers: {
        anthropic: { 'base-url': rig.baseUrl, key: { env: 'K' } },
        openai: { 'base-url': rig.baseUrl, key: { env: 'K' } },
      },
    };
    const configs = [{ file: 'config.yaml', isUsers: true, config }];
    await using transport = liveTransport({ providers: resolveProviders(configs, { K: 'sk-0123456789' }) });
    // The first request to be admitted takes all of it.
    const loop = new TinyLoop({ budget: { usd: 0.0001 }, tasks: { a: TASK, b: TASK } }, priceOf);
    const doorOf = (task: string): ReturnType<Rig['open']> =>
      rig.open(
        undefined,
        { transport },
        (wish, signal) => loop.ledger.admit(loop.node(task), 1, wish, signal),
        { onWait: (provider, waited) => waits.push(`${provider} ${waited ?? 'goes on'}`) },
      );
    const waits: string[] = [];
    const [a, b] = [await doorOf('a'), await doorOf('b')];
    freeAtMs = Date.now() + 1500;
    const limited = ask(a, MESSAGES, HELLO);
    await until(() => rig.got.length === 1);
    await sleep(50);
    expect((await ask(b, '/openai/responses', { model: 'gpt-5', input: 'hello' })).status).toBe(200);
    expect(Date.now()).toBeLessThan(freeAtMs);
    expect((await limited).status).toBe(200);
    expect(loop.of('model.used').map(({ task }) => task)).toEqual(['b', 'a']);
    expect(waits).toEqual(['anthropic turn', 'anthropic goes on']);
    // Meanwhile the money goes: it is not sent, and asks.
    freeAtMs = Date.now() + 300;
    rig.reset();
    const late = ask(a, MESSAGES, HELLO);
    await until(() => rig.got.length === 1);
    await sleep(50);
    loop.submit({ type: 'budget.set', account: 'run', limits: { usd: 0.00001 }, by: 'test' });
    await until(() => loop.of('question.asked').length === 1);
    expect(rig.got).toHaveLength(1);
    loop.answer('run+budget', 'no');
    expect((await late).status).toBe(402);
    expect(loop.of('model.used')).toHaveLength(2);
  });
});

describe('a hard cap', () => {
  it('of $0.01 lets 200 greedy requests at once cost a cent at most', async () => {
    let [chargedUsd, atOnce] = [0, 0];
    rig.serve((outgoing, { body }) => {
      // Every byte a token, all of it written to a cache for an hour, and all the output that was allowed.
      const usage = {
        input_tokens: 0,
        cache_creation_input_tokens: body.length,
        cache_creation: { ephemeral_1h_input_tokens: body.length },
        output_tokens: 50,
      };
      chargedUsd += (body.length * 8 + 50 * 20) / 1e6;
      atOnce++;
      setTimeout(() => sendJson(outgoing, { usage }), 20);
    });
    const loop = new TinyLoop({ budget: { usd: 0.01, enforce: 'hard' }, tasks: { a: TASK } }, priceOf);
    const door = await rig.open(undefined, { transport: live }, (wish, signal) =>
      loop.ledger.admit(loop.node('a'), 1, wish, signal),
    );
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => ask(door, MESSAGES, { ...HELLO, max_tokens: 50 })),
    );
    const statuses = new Set(answers.map(({ status }) => status));
    expect(statuses).toEqual(new Set([200, 402]));
    expect(atOnce).toBeGreaterThan(1);
    expect(chargedUsd).toBeLessThanOrEqual(0.01);
    expect(loop.state.spending.get('run')!.usd).toBeCloseTo(chargedUsd, 9);
    expect(answers.at(-1)!.body).toContain('the next request can cost up to $0.0');
  });

  it('counts what it cannot know as the worst case', async () => {
    rig.serve((outgoing) => void stream(outgoing, START));
    const loop = new TinyLoop({ budget: { usd: 1, enforce: 'hard' }, tasks: { a: TASK } }, priceOf);
    const door = await rig.open(undefined, { transport: live }, (wish, signal) =>
      loop.ledger.admit(loop.node('a'), 1, wish, signal),
    );
    const incoming = await begin(door, MESSAGES, { ...HELLO, max_tokens: 10_000 });
    await once(incoming, 'data');
    incoming.destroy();
    await until(() => loop.of('model.used').length === 1);
    const [use] = loop.of('model.used');
    expect(use).toMatchObject({ estimated: true, tokens: { output: 10_000 } });
    expect(use!.usd).toBeGreaterThanOrEqual(0.2);
  });

  it('refuses what nobody can bound', async () => {
    const loop = new TinyLoop({ budget: { usd: 1, enforce: 'hard' }, tasks: { a: TASK } }, priceOf);
    const door = await rig.open(undefined, { transport: live }, (wish, signal) =>
      loop.ledger.admit(loop.node('a'), 1, wish, signal),
    );
    const stored = { model: 'gpt-5', input: 'go on', previous_response_id: 'resp_1' };
    expect(await ask(door, '/openai/responses', stored)).toMatchObject({ status: 400 });
    expect(rig.errors[0]!.message).toContain('previous_response_id');
    expect(rig.got).toEqual([]);
  });
});

describe('usage that a provider overstates', () => {
  const LIE = 9e15;
  const LIED: [string, string, object, object][] = [
    [
      'messages',
      MESSAGES,
      HELLO,
      { usage: { input_tokens: LIE, output_tokens: LIE, cache_read_input_tokens: LIE } },
    ],
    [
      'chat',
      '/openai/chat/completions',
      { model: 'gpt-5', max_completion_tokens: 1000 },
      { choices: [], usage: { prompt_tokens: LIE, completion_tokens: LIE } },
    ],
    [
      'responses',
      '/openai/responses',
      { model: 'gpt-5', max_output_tokens: 1000, input: 'hello' },
      { output: [], usage: { input_tokens: LIE, output_tokens: LIE } },
    ],
    [
      'Gemini',
      '/gemini/v1beta/models/gemini-2.5-pro:generateContent',
      { generationConfig: { maxOutputTokens: 1000 } },
      { usageMetadata: { promptTokenCount: LIE, candidatesTokenCount: LIE, thoughtsTokenCount: LIE } },
    ],
  ];

  it.each(LIED)('is charged as far as it is possible: %s', async (_, url, body, answer) => {
    rig.serve((outgoing) => sendJson(outgoing, answer));
    await ask(await rig.open(), url, body);
    const { tokens, usd, estimated } = rig.settled[0]!;
    expect(estimated).toBe(true);
    expect(tokens.output).toBe(1000);
    const { addedTokensMax } = POSSIBLE_LIMITS;
    const inputMax = JSON.stringify(body).length + addedTokensMax;
    const input = tokens.input + tokens.cacheRead + tokens.cacheWrite;
    expect(input).toBeGreaterThan(addedTokensMax);
    expect(input).toBeLessThanOrEqual(inputMax);
    expect(usd).toBeLessThan(0.2);
  });

  it('does not empty a budget, and is told once', async () => {
    rig.serve((outgoing) => sendJson(outgoing, LIED[0]![3]));
    const loop = new TinyLoop({ budget: { usd: 1 }, tasks: { a: TASK } }, priceOf);
    const door = await rig.open(undefined, { transport: live }, (wish, signal) =>
      loop.ledger.admit(loop.node('a'), 1, wish, signal),
    );
    for (let n = 0; n < 3; n++) expect(await ask(door, MESSAGES, HELLO)).toMatchObject({ status: 200 });
    await until(() => loop.of('model.used').length === 3);
    expect(loop.state.spending.get('run')!.usd).toBeLessThan(0.5);
    expect(loop.of('model.used')[0]).not.toHaveProperty('overstated');
    expect(loop.of('run.noted').map(({ text }) => text)).toEqual([
      expect.stringContaining(
        'anthropic reported more tokens than a request can have used (18,000,000,000,000,000 in, ',
      ),
    ]);
    expect(loop.of('question.asked')).toEqual([]);
  });

  it('takes no more from a hard cap than was reserved', async () => {
    rig.serve((outgoing) => sendJson(outgoing, { usage: { input_tokens: 10, output_tokens: LIE } }));
    const loop = new TinyLoop({ budget: { usd: 1, enforce: 'hard' }, tasks: { a: TASK } }, priceOf);
    let reserved = 0;
    const door = await rig.open(undefined, { transport: live }, (wish, signal) => {
      reserved = wish.usd!;
      return loop.ledger.admit(loop.node('a'), 1, wish, signal);
    });
    await ask(door, MESSAGES, HELLO);
    await until(() => loop.of('model.used').length === 1);
    expect(loop.state.spending.get('run')!.usd).toBeCloseTo(reserved, 9);
  });

  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  it.each([
    ['a picture has more tokens than bytes', MESSAGES, 49_000, 20, picture(image), 0],
    ['the provider has stored a part', '/openai/responses', 900_000, 20, { previous_response_id: 'r' }, 0],
    ['the provider adds instructions of its own', MESSAGES, 9000, 20, {}, 0],
    ['nothing limits the output', MESSAGES, 10, 150_000, { max_tokens: undefined }, 200_000],
  ])('is no overstatement where %s', async (_, url, input, output, more, bytes) => {
    const usage = { input_tokens: input, output_tokens: output };
    rig.serve((outgoing) => sendJson(outgoing, { content: 'x'.repeat(bytes), usage }));
    await ask(await rig.open(), url, { ...HELLO, ...more });
    expect(rig.settled[0]).toMatchObject({ tokens: { input, output } });
    expect(rig.settled[0]).not.toHaveProperty('estimated');
  });

  function picture(block: object): object {
    return { messages: [{ role: 'user', content: [block] }] };
  }
});

/** Writes for ever, as long as somebody reads. */
async function stream(outgoing: ServerResponse, text: string): Promise<void> {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  outgoing.write(text);
  const filler = events({ type: 'content_block_delta', delta: { text: 'x'.repeat(60_000) } });
  while (!outgoing.destroyed) {
    if (!outgoing.write(filler)) await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')]);
    await sleep(1);
  }
}

describe('requests that an engine had sent when it was killed', () => {
  it('are charged by the next one, once', async () => {
    await using rig = await runWithNotes();
    const dies = rig.drive([], async ({ admit }) => {
      const admissions = await Promise.all([1, 2, 3, 4].map(() => admit(WISH, new AbortController().signal)));
      const [answered, never, paused] = admissions.map((each) => (each.isAdmitted ? each : undefined));
      answered!.settle(USE);
      never!.settle();
      paused!.pause!();
      await expect.poll(rig.used, { timeout: 10_000 }).toEqual([undefined]);
      await sleep(20);
      throw new Error('killed');
    });
    await expect(dies).rejects.toThrow('killed');
    await rig.drive([RESUMED], () => Promise.resolve());
    expect(await rig.used()).toEqual([undefined, true]);
    expect(readdirSync(rig.notes)).toEqual([]);
  });

  it('are not charged again where the journal has them, whenever it was killed', async () => {
    await using rig = await runWithNotes();
    const killed = (point: string): void => {
      if (point.startsWith('after:') && point.includes('model.used')) throw new Error('killed');
    };
    const work = async ({ admit, stop }: Attempt): Promise<void> => {
      const [answered] = await Promise.all([1, 2].map(() => admit(WISH, new AbortController().signal)));
      if (answered!.isAdmitted) answered!.settle(USE);
      await once(stop.now, 'abort');
    };
    await expect(rig.drive([], work, killed)).rejects.toThrow('killed');
    expect(await rig.used()).toEqual([undefined]);
    expect(readdirSync(rig.notes)).toHaveLength(1);
    await expect(rig.drive([RESUMED], () => Promise.resolve(), killed)).rejects.toThrow('killed');
    expect(await rig.used()).toEqual([undefined, true]);
    expect(readdirSync(rig.notes)).toHaveLength(1);
    await rig.drive([RESUMED], () => Promise.resolve());
    expect(await rig.used()).toEqual([undefined, true]);
    expect(readdirSync(rig.notes)).toEqual([]);
  });
});

describe('notes of requests under way', () => {
  const sent = { task: 'a', attempt: 1, use: { provider: 'p', model: 'm', tokens: tokensOf(1, 1), usd: 1 } };

  it('stay few while a run is so busy that some request is always under way', async () => {
    await using scratch = await mkdtempDisposable(path.join(tmpdir(), 'bosun-notes-'));
    const inFlight = new InFlight(scratch.path);
    inFlight.begin(sent);
    for (let n = 0; n < 3000; n++) inFlight.begin(sent).end();
    const last = inFlight.begin(sent);
    const left = leftInFlight(scratch.path);
    expect(left.sent.size).toBe(2);
    expect([...left.sent]).toContainEqual([last.id, sent]);
    const [file] = readdirSync(path.join(scratch.path, 'in-flight'));
    const lines = readFileSync(path.join(scratch.path, 'in-flight', file!), 'utf8').split('\n');
    expect(lines.length).toBeLessThan(1100);
    left.forget();
    expect(leftInFlight(scratch.path).sent.size).toBe(0);
  });

  it('that cannot be removed fail nobody', async () => {
    await using scratch = await mkdtempDisposable(path.join(tmpdir(), 'bosun-notes-'));
    const inFlight = new InFlight(scratch.path);
    const noted = inFlight.begin(sent);
    const [file] = readdirSync(path.join(scratch.path, 'in-flight'));
    const place = path.join(scratch.path, 'in-flight', file!);
    const left = leftInFlight(scratch.path);
    rmSync(place);
    mkdirSync(path.join(place, 'in-the-way'), { recursive: true });
    noted.end();
    left.forget();
    expect(readdirSync(place)).toEqual(['in-the-way']);
  });
});

const WISH = { provider: 'p', model: 'm', tokens: tokensOf(1000, 100), tokensMax: 1100, usd: null };
const USE = { provider: 'p', model: 'm', tokens: tokensOf(1000, 100), usd: null };
const RESUMED: Fact = { type: 'run.resumed', by: 'test' };

interface RunWithNotes extends AsyncDisposable {
  /** Where the notes are. */
  notes: string;
  /** Of each request in the journal, whether it is an estimate. */
  used(this: void): Promise<(true | undefined)[]>;
  drive(
    facts: Fact[],
    work: (attempt: Attempt) => Promise<void>,
    fault?: (point: string) => void,
  ): Promise<void>;
}

/** A run of one task in a real journal, whose attempts are given. */
async function runWithNotes(): Promise<RunWithNotes> {
  await using stack = new AsyncDisposableStack();
  const repository = stack.use(await makeRepository());
  const { store, stages, home } = stack.use(await openEngine(repository.path));
  const base = await repository.git('rev-parse', 'HEAD');
  const agent = { runtime: 'codex', model: 'm' } as const;
  const checked = workflow({ name: 'w', tasks: { one: { agent, prompt: 'Work.' } } });
  const run = { workflow: checked, source: 'test', inputs: {}, base, dirty: false };
  const { id, claim } = await createRun(store, run, 1);
  stack.use(claim);
  const kept = stack.move();
  return {
    notes: path.join(home.run(id), 'in-flight'),
    used: async () =>
      (await store.read(id)).flatMap(({ event }) => (event.type === 'model.used' ? [event.estimated] : [])),
    drive: async (facts, work, fault) => {
      const driven = await Drive.open(id, {
        store,
        stages,
        nowMs: Date.now,
        ...(fault && { fault }),
        attempt: async (_, attempt) => {
          await work(attempt);
          const { task, attempt: n } = attempt.start;
          return { type: 'attempt.finished', task, attempt: n, outcome: { kind: 'done' }, durationMs: 1 };
        },
      });
      await driven.run(facts);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
