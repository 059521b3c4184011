/** The gateway's front, with real HTTP on both sides of it. */
import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Admission } from '../src/contract/model.ts';
import { TransportError } from '../src/gateway/transport.ts';
import { ask, begin, events, makeRig, sendEvents, sendJson, until, type Rig } from './fixtures/gateway.ts';

const MESSAGES = '/anthropic/v1/messages';
const HELLO = { model: 'claude-opus-5-5', max_tokens: 1000, messages: [{ role: 'user', content: 'hello' }] };
const USAGE = { input_tokens: 100, output_tokens: 20 };

let rig: Rig;
beforeAll(async () => void (rig = await makeRig()));
afterEach(() => rig.reset());
afterAll(() => rig[Symbol.asyncDispose]());

describe('a request', () => {
  it('reaches the provider and its answer the agent, byte for byte', async () => {
    const text =
      events({ type: 'message_start', message: { usage: USAGE } }) + ': odd\r\n\n' + events('[DONE]');
    rig.serve((outgoing) => sendEvents(outgoing, text));
    const answer = await ask(await rig.open(), `${MESSAGES}?beta=true`, HELLO, {
      'x-api-key': 'placeholder',
    });
    expect(answer).toMatchObject({ status: 200, body: text });
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(rig.got).toMatchObject([{ method: 'POST', url: '/v1/messages?beta=true' }]);
    expect(rig.got[0]!.headers).toMatchObject({ 'x-api-key': 'placeholder', 'accept-encoding': 'identity' });
    expect(JSON.parse(rig.got[0]!.body)).toEqual(HELLO);
  });

  it('gets its answer whole, whatever its pieces are, over a connection that serves the next one too', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const pieces = [1, 255, 16_384, 16_385, 200_000].map((size) => Buffer.alloc(size, bytes));
    rig.serve((outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'application/octet-stream' });
      const next = (at: number): void => {
        if (at === pieces.length) return void outgoing.end();
        outgoing.write(pieces[at]!);
        setTimeout(next, 10, at + 1);
      };
      next(0);
    });
    const { socketPath } = await rig.open();
    using agent = {
      of: new Agent({ keepAlive: true, maxSockets: 1 }),
      [Symbol.dispose]: () => agent.of.destroy(),
    };
    for (let n = 0; n < 2; n++) {
      const sent = request({ agent: agent.of, socketPath: socketPath!, path: MESSAGES, method: 'POST' });
      sent.end(JSON.stringify(HELLO));
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      expect(Buffer.concat(await answer.toArray()).equals(Buffer.concat(pieces))).toBe(true);
      expect(sent.reusedSocket).toBe(n === 1);
    }
  });

  it('is held for as long as it takes to be admitted', async () => {
    let admit: (admission: Admission) => void = () => {};
    const door = await rig.open(undefined, {}, () => new Promise((resolve) => (admit = resolve)));
    rig.serve((outgoing) => sendJson(outgoing, { usage: USAGE }));
    const answer = ask(door, MESSAGES, HELLO);
    await until(() => rig.wishes.length === 1);
    await sleep(50);
    expect(rig.got).toEqual([]);
    admit({ isAdmitted: true, settle: (use) => rig.settled.push(use) });
    expect(await answer).toMatchObject({ status: 200 });
    expect(rig.settled).toHaveLength(1);
  });

  it('is settled with its tokens and dollars', async () => {
    rig.serve((outgoing) => sendJson(outgoing, { usage: USAGE }));
    await ask(await rig.open(), MESSAGES, HELLO);
    const tokens = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };
    expect(rig.settled).toEqual([
      { provider: 'anthropic', model: 'claude-opus-5-5', tokens, usd: (100 * 4 + 20 * 20) / 1e6 },
    ]);
    expect(rig.errors).toEqual([]);
  });

  it('that is not admitted never leaves, and tells the agent why so that it stops', async () => {
    const message = 'the budget of 5 dollars is spent; raise it with bosun answer';
    const door = await rig.open(undefined, {}, async () => ({ isAdmitted: false, message }));
    const answers = [
      await ask(door, MESSAGES, HELLO),
      await ask(door, '/openai/responses', HELLO),
      await ask(door, '/gemini/v1beta/models/gemini-2.5-pro:generateContent', {}),
    ];
    expect(answers.map(({ headers }) => headers['x-should-retry'])).toEqual(['false', 'false', 'false']);
    expect(answers.map(({ status, body }) => [status, JSON.parse(body)])).toEqual([
      [402, { type: 'error', error: { type: 'billing_error', message } }],
      [400, { error: { message, type: 'invalid_request_error', param: null, code: 'bosun' } }],
      [402, { error: { code: 402, message, status: 'FAILED_PRECONDITION' } }],
    ]);
    expect(rig.got).toEqual([]);
    const error = { kind: 'budget', message };
    expect(rig.errors).toEqual([error, error, error]);
  });

  it('that was refused for another reason than money says which', async () => {
    const refused = { isAdmitted: false, kind: 'refused', message: 'no' } as const;
    await ask(await rig.open(undefined, {}, async () => refused), MESSAGES, HELLO);
    expect(rig.errors).toMatchObject([{ kind: 'refused' }]);
  });

  it('that the transport gives up on is told in the dialect, and settled with nothing', async () => {
    const send = (): never => {
      throw new TransportError('timeout', 504, 'anthropic said nothing for 5m');
    };
    const door = await rig.open(undefined, { transport: { send } });
    const answer = await ask(door, MESSAGES, HELLO);
    expect(answer.status).toBe(504);
    expect(JSON.parse(answer.body).error).toEqual({
      type: 'api_error',
      message: 'anthropic said nothing for 5m',
    });
    expect(rig.settled).toEqual([undefined]);
    expect(rig.errors).toEqual([{ kind: 'timeout', status: 504, message: 'anthropic said nothing for 5m' }]);
  });

  it('that a bug stops says nothing of the bug', async () => {
    const send = (): never => {
      throw new Error('secret');
    };
    const answer = await ask(await rig.open(undefined, { transport: { send } }), MESSAGES, HELLO);
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain('secret');
    expect(rig.settled).toEqual([undefined]);
    expect(rig.errors).toMatchObject([{ kind: 'crashed' }]);
  });

  it('that the provider answers with an error costs nothing, and its kind is known', async () => {
    const door = await rig.open();
    const kinds = { 400: 'bad-request', 401: 'auth', 429: 'rate-limit', 529: 'overloaded' };
    for (const status of Object.keys(kinds).map(Number)) {
      rig.serve((outgoing) => sendJson(outgoing, { error: { message: `no ${status}` } }, status));
      const answer = await ask(door, MESSAGES, HELLO);
      expect(answer).toMatchObject({ status, body: `{"error":{"message":"no ${status}"}}` });
      expect(answer.headers['x-should-retry']).toBe('false');
    }
    expect(rig.settled).toEqual([undefined, undefined, undefined, undefined]);
    expect(rig.errors.map(({ kind }) => kind)).toEqual(Object.values(kinds));
    const asked = 'to a request for claude-opus-5-5';
    expect(rig.errors[0]!.message).toBe(`anthropic answered 400 ${asked}: no 400`);
    expect(rig.errors[1]!.message).toBe(`anthropic answered 401 ${asked}`); // it could speak of the key
  });
});

it('a key that the provider rejects is named by where it is from, with what to do', async () => {
  const body = (async function* () {})();
  const send = async (): Promise<never> =>
    ({ status: 401, headers: {}, body, rejectedKey: 'ANTHROPIC_API_KEY' }) as never;
  await ask(await rig.open(undefined, { transport: { send } }), MESSAGES, HELLO);
  expect(rig.errors).toEqual([
    {
      kind: 'auth',
      status: 401,
      message: 'anthropic rejected the key from ANTHROPIC_API_KEY (401); set a valid one',
    },
  ]);
});

describe('an error after all patience', () => {
  it.each([
    [MESSAGES, 529, 529],
    ['/openai/responses', 401, 400],
    ['/openai/responses', 404, 404],
    ['/openai/responses/input_tokens', 500, 500],
    ['/gemini/v1beta/models/gemini-2.5-pro:generateContent', 429, 402],
  ])('has a status for which nobody tries again: %s, %i → %i', async (url, status, told) => {
    rig.serve((outgoing) => sendJson(outgoing, { error: 'as it was' }, status));
    const answer = await ask(await rig.open(), url, HELLO);
    expect(answer).toMatchObject({ status: told, body: '{"error":"as it was"}' });
    expect(answer.headers['x-bosun-status']).toBe(told === status ? undefined : String(status));
    expect(rig.errors).toMatchObject([{ status }]);
  });

  it('of the provider itself is told without the words that make agents try again', async () => {
    rig.serve((outgoing) => sendJson(outgoing, { error: { message: 'no 500', type: 'server_error' } }, 500));
    const answer = await ask(await rig.open(), '/openai/v1/chat/completions', HELLO);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({
      error: { message: 'bosun gave up on openai', type: 'invalid_request_error' },
    });
    expect(answer.headers['x-bosun-status']).toBe('500');
    expect(rig.errors).toMatchObject([
      { kind: 'overloaded', message: expect.stringContaining('no 500') as string },
    ]);
  });
});

describe('failures of a provider in a row', () => {
  it('end in a refusal: an agent that tries again by itself would do so for ever', async () => {
    const door = await rig.open();
    const statuses = [500, 500, 200, 500, 500, 500, 200];
    for (const status of statuses) {
      rig.serve((outgoing) => sendJson(outgoing, { usage: USAGE }, status));
      await ask(door, MESSAGES, HELLO);
    }
    expect(rig.got).toHaveLength(6);
    expect(rig.errors).toHaveLength(6);
    expect(rig.errors.at(-1)).toMatchObject({ kind: 'overloaded', status: 500 });
  });

  it('are none where the provider refuses what was asked', async () => {
    const door = await rig.open();
    rig.serve((outgoing) => sendJson(outgoing, {}, 400));
    for (let n = 0; n < 5; n++) await ask(door, MESSAGES, HELLO);
    expect(rig.got).toHaveLength(5);
  });
});

describe('an agent that goes away', () => {
  it('while it waits to be admitted frees whoever decides', async () => {
    let seen: AbortSignal | undefined;
    const door = await rig.open(undefined, {}, (_wish, signal) => {
      seen = signal;
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const leaving = new AbortController();
    const asking = begin(door, MESSAGES, HELLO, {}, leaving.signal).catch(() => {});
    await until(() => seen !== undefined);
    leaving.abort();
    await asking;
    await until(() => seen!.aborted);
    expect(rig.errors).toEqual([]);
  });

  it('in the middle of an answer ends the request to the provider, and what was seen is settled', async () => {
    let upstream: ServerResponse | undefined;
    rig.serve((outgoing) => {
      upstream = outgoing;
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write(
        events({ type: 'message_start', message: { usage: { input_tokens: 70, output_tokens: 1 } } }),
      );
    });
    const leaving = new AbortController();
    const incoming = await begin(await rig.open(), MESSAGES, HELLO, {}, leaving.signal);
    incoming.on('error', () => {});
    await once(incoming, 'data');
    leaving.abort();
    await once(upstream!, 'close');
    await until(() => rig.settled.length === 1);
    expect(rig.settled).toMatchObject([{ tokens: { input: 70 }, estimated: true }]);
    expect(rig.settled[0]!.tokens.output).toBeGreaterThan(0); // more of it the longer it took
    expect(rig.errors).toEqual([]);
  });
});

describe('a stream', () => {
  it('that the provider breaks off is broken off for the agent, and counted as far as it went', async () => {
    rig.serve((outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      const delta = { choices: [{ delta: { content: 'x' } }], usage: null };
      outgoing.write(events(delta, delta, delta), () => outgoing.destroy());
    });
    const sentMs = performance.now();
    const incoming = await begin(await rig.open(), '/openai/chat/completions', {
      model: 'gpt-5.5',
      stream: true,
      messages: [],
    });
    await expect(incoming.toArray()).rejects.toThrow('aborted');
    const input = Math.ceil(rig.got[0]!.body.length / 4) - 10; // without what the gateway asked for
    const inTime = Math.ceil((performance.now() - sentMs) / 10); // what a fast model can have written meanwhile
    expect(rig.settled).toMatchObject([{ model: 'gpt-5.5' }]);
    const { tokens } = rig.settled[0]!;
    expect(tokens.output).toBeGreaterThanOrEqual(3);
    expect(tokens.output).toBeLessThanOrEqual(Math.max(3, inTime));
    expect(tokens.input).toBeGreaterThanOrEqual(input);
    expect(rig.errors).toMatchObject([{ kind: 'network' }]);
  });

  it('of messages that broke off counts what was written after its first event', async () => {
    rig.serve((outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      const delta = { type: 'content_block_delta', delta: { text: 'x' } };
      const start = { type: 'message_start', message: { usage: { input_tokens: 70, output_tokens: 1 } } };
      outgoing.write(events(start, delta, delta, delta), () => outgoing.destroy());
    });
    const incoming = await begin(await rig.open(), MESSAGES, HELLO);
    await expect(incoming.toArray()).rejects.toThrow('aborted');
    expect(rig.settled).toMatchObject([{ tokens: { input: 70, output: 4 } }]);
  });

  it('arrives as it is sent, head first', async () => {
    let upstream: ServerResponse | undefined;
    rig.serve((outgoing) => {
      upstream = outgoing;
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    });
    const incoming = await begin(await rig.open(), MESSAGES, HELLO);
    for (const piece of ['data: 1\n\n', 'da', 'ta: 2\n\n']) {
      upstream!.write(piece);
      const [chunk] = (await once(incoming, 'data')) as [Buffer];
      expect(chunk.toString()).toBe(piece);
    }
    upstream!.end();
    await once(incoming, 'end');
  });

  it('waits for an agent that does not read', async () => {
    let sentBytes = 0;
    const piece = Buffer.alloc(64 * 1024, 'x');
    const endBytes = 64 * 1024 * 1024;
    rig.serve((outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = (): void => {
        while (sentBytes < endBytes) {
          sentBytes += piece.length;
          if (!outgoing.write(piece)) return void outgoing.once('drain', more);
        }
        outgoing.end();
      };
      more();
    });
    const incoming = await begin(await rig.open(), MESSAGES, HELLO);
    let before = -1;
    while (before !== sentBytes) {
      before = sentBytes;
      await sleep(200);
    }
    expect(sentBytes).toBeLessThan(endBytes / 2);
    let gotBytes = 0;
    for await (const chunk of incoming as AsyncIterable<Buffer>) gotBytes += chunk.length;
    expect(gotBytes).toBe(endBytes);
  });
});
