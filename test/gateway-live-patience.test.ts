/** Rate limits, failures, hangs and cuts: no request is lost by them, and nobody is asked before they want to be. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ProviderWait } from '../src/gateway/live/live.ts';
import { KEY, NEVER, openUpstream, requestOf, textOf, transportTo } from './fixtures/upstream.ts';

describe('a rate limit', () => {
  it('is honoured by twenty requests that share the key: none goes early, none is lost', async () => {
    let freeAtMs = Infinity;
    const early: number[] = [];
    const refused: ServerResponse[] = [];
    // Nobody is answered before all have come: on a busy machine some would come after the wait.
    await using upstream = await openUpstream((response, { atMs }, n) => {
      if (n > 20 && atMs < freeAtMs) early.push(freeAtMs - atMs);
      if (n > 20) response.end('ok');
      else refused.push(response);
      if (n !== 20) return;
      freeAtMs = atMs + 1000;
      for (const each of refused) each.writeHead(429, { 'retry-after': '1' }).end('{}');
    });
    const waits: ProviderWait[] = [];
    await using transport = transportTo(upstream.url, {}, { onWait: (wait) => waits.push(wait) });
    const texts = await Promise.all(
      Array.from({ length: 20 }, async (_, n) =>
        textOf(await transport.send(requestOf({ task: `task-${n % 4}` }), NEVER)),
      ),
    );
    expect(texts).toEqual(Array.from({ length: 20 }, () => 'ok'));
    expect(early).toEqual([]);
    expect(upstream.received).toHaveLength(40);
    expect(waits[0]).toMatchObject({ provider: 'up', why: 'up rate limit' });
    expect(waits[0]!.tasks.map(({ task }) => task)).toEqual(['task-0', 'task-1', 'task-2', 'task-3']);
    expect(waits[0]!.untilMs).toBeGreaterThanOrEqual(freeAtMs - 5);
  });

  it('holds requests that come while it lasts', async () => {
    await using upstream = await openUpstream((response, _, n) =>
      n === 1 ? response.writeHead(429, { 'retry-after-ms': '300' }).end() : response.end('ok'),
    );
    await using transport = transportTo(upstream.url);
    const first = transport.send(requestOf(), NEVER);
    await sleep(100);
    await transport.send(requestOf({ task: 'other' }), NEVER);
    await first;
    const [refused, ...later] = upstream.received.map(({ atMs }) => atMs);
    expect(later).toHaveLength(2);
    for (const atMs of later) expect(atMs - refused!).toBeGreaterThanOrEqual(300);
  });

  it('does not cost a request its place before later ones of its task', async () => {
    await using upstream = await openUpstream((response, _, n) =>
      n === 1
        ? setTimeout(() => response.writeHead(429, { 'retry-after-ms': '100' }).end(), 50)
        : response.end('ok'),
    );
    await using transport = transportTo(upstream.url, { concurrency: 1 });
    const send = async (name: string): Promise<string> =>
      textOf(await transport.send(requestOf({ body: Buffer.from(name) }), NEVER));
    await Promise.all(['first', 'second', 'third'].map(send));
    expect(upstream.received.map(({ body }) => body)).toEqual(['first', 'first', 'second', 'third']);
  });

  it('of one key does not hold the requests of another', async () => {
    await using upstream = await openUpstream((response, { headers }) =>
      headers.authorization === 'Bearer other'
        ? response.end('ok')
        : response.writeHead(429, { 'retry-after': '60' }).end(),
    );
    await using transport = transportTo(upstream.url, { login: 'agent' });
    const stop = new AbortController();
    const held = transport.send(requestOf(), stop.signal);
    await sleep(50);
    const other = requestOf({ headers: { authorization: 'Bearer other' } });
    expect(await textOf(await transport.send(other, NEVER))).toBe('ok');
    stop.abort();
    await expect(held).rejects.toMatchObject({ status: 499 });
  });

  it('that is longer than we are patient fails at once, for those that wait too, and nothing more is sent', async () => {
    await using upstream = await openUpstream((response) =>
      response.writeHead(429, { 'retry-after': '3600' }).end(),
    );
    await using transport = transportTo(upstream.url, { concurrency: 1 });
    const all = await Promise.allSettled([1, 2, 3].map(() => transport.send(requestOf(), NEVER)));
    all.push(...(await Promise.allSettled([transport.send(requestOf(), NEVER)])));
    for (const each of all)
      expect(each).toMatchObject({ status: 'rejected', reason: { kind: 'rate-limit', status: 429 } });
    expect(String((all[0] as PromiseRejectedResult).reason)).toMatch(
      /limits the rate of this key until 20.*patience/,
    );
    expect(upstream.received).toHaveLength(1);
  });

  it('without a word on how long is met with waits that double, until patience ends', async () => {
    await using upstream = await openUpstream((response) => response.writeHead(429).end());
    await using transport = transportTo(upstream.url, { patience: '2500ms' }, { random: () => 0 });
    await expect(transport.send(requestOf(), NEVER)).rejects.toMatchObject({ kind: 'rate-limit' });
    const times = upstream.received.map(({ atMs }) => atMs);
    expect(times).toHaveLength(3); // after 500 and 1000 ms; 2000 more would be too long
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(500);
    expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(1000);
  });

  it('that says "now" again and again is not believed for ever', async () => {
    await using upstream = await openUpstream((response) =>
      response.writeHead(429, { 'retry-after': '0' }).end(),
    );
    await using transport = transportTo(upstream.url, { patience: '800ms' }, { random: () => 0 });
    await expect(transport.send(requestOf(), NEVER)).rejects.toMatchObject({ kind: 'rate-limit' });
    expect(upstream.received).toHaveLength(3); // at once, and after 500 ms; 1000 more would be too long
  });

  it.each([
    ['x-should-retry: false', { 'x-should-retry': 'false' }, ''],
    ['an empty account', {}, '{"error":{"code":"insufficient_quota"}}'],
  ])('with %s is given to the agent as it is', async (_, headers, body) => {
    await using upstream = await openUpstream((response) => response.writeHead(429, headers).end(body));
    await using transport = transportTo(upstream.url);
    const response = await transport.send(requestOf(), NEVER);
    expect(response).toMatchObject({ status: 429, headers: { 'x-should-retry': 'false' } });
    expect(await textOf(response)).toBe(body);
    expect(upstream.received).toHaveLength(1);
  });
});

describe('turns', () => {
  it('go round the tasks, so that a busy one does not starve the others', async () => {
    await using upstream = await openUpstream((response) => void setTimeout(() => response.end('ok'), 5));
    await using transport = transportTo(upstream.url, { concurrency: 1 });
    const send = async (task: string, n: number): Promise<string> =>
      textOf(await transport.send(requestOf({ task, body: Buffer.from(`${task}${n}`) }), NEVER));
    await Promise.all([
      ...Array.from({ length: 10 }, (_, n) => send('busy', n)),
      send('calm', 0),
      send('calm', 1),
      send('late', 0),
    ]);
    const order = upstream.received.map(({ body }) => body);
    expect(order.slice(0, 6)).toEqual(['busy0', 'busy1', 'calm0', 'late0', 'busy2', 'calm1']);
    expect(order.filter((body) => body.startsWith('busy'))).toEqual(
      Array.from({ length: 10 }, (_, n) => `busy${n}`),
    );
  });

  it('are never more at once than the configuration says, also while answers are read slowly', async () => {
    let going = 0;
    let most = 0;
    await using upstream = await openUpstream((response) => {
      most = Math.max(most, ++going);
      response.once('close', () => going--);
      response.write('a');
      setTimeout(() => response.end('b'), 10);
    });
    await using transport = transportTo(upstream.url, { concurrency: 3 });
    await Promise.all(
      Array.from({ length: 12 }, async () => textOf(await transport.send(requestOf(), NEVER))),
    );
    expect(most).toBe(3);
    expect(upstream.received).toHaveLength(12);
  });

  it('are given up at once by who hangs up, and go to the next', async () => {
    await using upstream = await openUpstream((response, _, n) =>
      n === 1 ? response.write('x') : response.end('ok'),
    );
    await using transport = transportTo(upstream.url, { concurrency: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const begun = await transport.send(requestOf(), first.signal);
    const waiting = transport.send(requestOf(), second.signal);
    const third = transport.send(requestOf(), NEVER);
    second.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'network', status: 499 });
    first.abort();
    await expect(textOf(begun)).rejects.toMatchObject({ status: 499 });
    expect(await textOf(await third)).toBe('ok');
    expect(upstream.received).toHaveLength(2);
  });

  it('end where an answer is not read at all but given back', async () => {
    await using upstream = await openUpstream((response) => void response.write('one of many'));
    await using transport = transportTo(upstream.url, { concurrency: 1 });
    for (let n = 0; n < 3; n++) {
      const { body } = await transport.send(requestOf(), NEVER);
      await body[Symbol.asyncIterator]().return?.();
    }
    expect(upstream.received).toHaveLength(3);
  });
});

describe('a provider that fails', () => {
  const quick = { random: () => 0 };

  it.each([500, 502, 503, 504, 529])('with %i is asked again', async (status) => {
    await using upstream = await openUpstream((response, _, n) =>
      n === 1 ? response.writeHead(status).end('{}') : response.end('ok'),
    );
    await using transport = transportTo(upstream.url, {}, quick);
    expect(await textOf(await transport.send(requestOf(), NEVER))).toBe('ok');
    expect(upstream.received).toHaveLength(2);
  });

  it.each([400, 401, 403, 404, 413, 422])('with %i is not asked again', async (status) => {
    await using upstream = await openUpstream((response) => response.writeHead(status).end('no'));
    await using transport = transportTo(upstream.url);
    const response = await transport.send(requestOf(), NEVER);
    expect([response.status, await textOf(response)]).toEqual([status, 'no']);
    expect(upstream.received).toHaveLength(1);
  });

  it('all the time gets its last answer given on, without the key in it, and without inviting another try', async () => {
    await using upstream = await openUpstream((response, _, n) => response.writeHead(500).end(`${KEY} ${n}`));
    await using transport = transportTo(upstream.url, { patience: '1s' }, quick);
    const response = await transport.send(requestOf(), NEVER);
    expect(response).toMatchObject({ status: 500, headers: { 'x-should-retry': 'false' } });
    expect(await textOf(response)).toBe(`${'*'.repeat(KEY.length)} ${upstream.received.length}`);
    expect(upstream.received.length).toBeGreaterThan(1);
  });

  it('and is overloaded until a given time is left alone until then', async () => {
    await using upstream = await openUpstream((response, _, n) =>
      n === 1 ? response.writeHead(529, { 'retry-after': '1' }).end() : response.end('ok'),
    );
    await using transport = transportTo(upstream.url, {}, quick);
    await transport.send(requestOf(), NEVER);
    const [first, second] = upstream.received;
    expect(second!.atMs - first!.atMs).toBeGreaterThanOrEqual(1000);
  });

  it.each([
    ['before its headers', (response: ServerResponse) => void response.destroy()],
    [
      'before the first byte of its body',
      (response: ServerResponse) => {
        response.flushHeaders();
        setTimeout(() => response.destroy(), 30);
      },
    ],
    [
      'before the first event of a stream, politely',
      (response: ServerResponse) =>
        void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
    ],
  ])('by breaking off %s is asked again', async (_, breakOff) => {
    await using upstream = await openUpstream((response, __, n) =>
      n === 1 ? breakOff(response) : response.end('ok'),
    );
    await using transport = transportTo(upstream.url, {}, quick);
    expect(await textOf(await transport.send(requestOf(), NEVER))).toBe('ok');
  });

  it('in the first event of its stream is asked again, and in the end that event is given on', async () => {
    const event = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n';
    await using upstream = await openUpstream((response, _, n) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(n === 2 ? 'event: message_start\n\n' : event);
    });
    await using transport = transportTo(upstream.url, {}, { ...quick, limits: { triesMax: 2 } });
    expect(await textOf(await transport.send(requestOf(), NEVER))).toMatch('message_start');
    const response = await transport.send(requestOf(), NEVER);
    expect([response.status, await textOf(response)]).toEqual([200, event]);
    expect(upstream.received).toHaveLength(4);
  });

  it.each([
    ['text/event-stream; charset=utf-8', '\r\xb4\x02[data: x', ': hello\n\ndata: {}\n\n'],
    ['text/event-stream', '<html>', '\xef\xbb\xbf\ndata: {}\n\n'],
    ['application/json', 'upstream connect error', '\n {"id": 1}'],
  ])('by sending %s that is none is asked again, and in the end that is said', async (type, none, some) => {
    await using upstream = await openUpstream((response, _, n) => {
      response.writeHead(200, { 'content-type': type });
      response.end(Buffer.from(n === 2 ? some : none, 'latin1'));
    });
    await using transport = transportTo(upstream.url, {}, { ...quick, limits: { triesMax: 2 } });
    const response = await transport.send(requestOf(), NEVER);
    expect(Buffer.from(await textOf(response)).includes(some.trim().at(-2)!)).toBe(true);
    const failed = transport.send(requestOf(), NEVER);
    await expect(failed).rejects.toMatchObject({ kind: 'network', status: 502 });
    await expect(failed).rejects.toThrow(/^up returned a malformed response \(2 tries\)$/);
    expect(upstream.received).toHaveLength(4);
  });

  it.each([
    ['no headers', () => {}],
    ['headers but no body', (response: { flushHeaders(): void }) => response.flushHeaders()],
  ])('by sending %s, and hanging, is asked again', async (_, hang) => {
    await using upstream = await openUpstream((response, __, n) =>
      n === 1 ? hang(response) : response.end('ok'),
    );
    await using transport = transportTo(upstream.url, { 'timeout-idle': '200ms' }, quick);
    expect(await textOf(await transport.send(requestOf(), NEVER))).toBe('ok');
  });

  it('by breaking off in the middle is not asked again: the body ends with an error', async () => {
    await using upstream = await openUpstream((response) => {
      response.write('half');
      setTimeout(() => response.destroy(), 30);
    });
    await using transport = transportTo(upstream.url);
    const response = await transport.send(requestOf(), NEVER);
    await expect(textOf(response)).rejects.toMatchObject({ name: 'TransportError', kind: 'network' });
    expect(upstream.received).toHaveLength(1);
  });

  it('by stalling in the middle ends the body with an error that says what to raise', async () => {
    await using upstream = await openUpstream((response) => void response.write('half'));
    await using transport = transportTo(upstream.url, { 'timeout-idle': '150ms' });
    const response = await transport.send(requestOf(), NEVER);
    await expect(textOf(response)).rejects.toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('providers.up.timeout-idle'),
    });
  });

  it('is not taken for stalled where it is the agent who reads slowly', async () => {
    await using upstream = await openUpstream((response) => {
      response.write('a');
      setTimeout(() => response.end('b'), 50);
    });
    await using transport = transportTo(upstream.url, { 'timeout-idle': '150ms' });
    const { body } = await transport.send(requestOf(), NEVER);
    let text = '';
    for await (const chunk of body) {
      text += String(chunk);
      await sleep(250);
    }
    expect(text).toBe('ab');
  });

  it('by not being there is tried a few times, and the error says where', async () => {
    await using gone = await openUpstream(() => {});
    await gone[Symbol.asyncDispose]();
    const waits: ProviderWait[] = [];
    await using transport = transportTo(
      gone.url,
      {},
      { ...quick, limits: { triesMax: 3 }, onWait: (wait) => waits.push(wait) },
    );
    const sent = transport.send(requestOf(), NEVER);
    await expect(sent).rejects.toThrow(
      `up cannot be reached at ${new URL(gone.url).host}: ECONNREFUSED (3 tries)`,
    );
    await expect(sent).rejects.toMatchObject({ kind: 'network', status: 502 });
    expect(waits).toHaveLength(2);
    expect(waits[0]).toMatchObject({ provider: 'up', tasks: [{ run: 'demo-1', task: 'build' }] });
  });

  it('is not waited for by who hangs up meanwhile', async () => {
    await using upstream = await openUpstream((response) => response.writeHead(500).end());
    const stop = new AbortController();
    let untilMs = 0;
    const onWait = (wait: ProviderWait): void => {
      ({ untilMs } = wait);
      setTimeout(() => stop.abort(), 10);
    };
    await using transport = transportTo(upstream.url, {}, { random: () => 1, onWait });
    await expect(transport.send(requestOf(), stop.signal)).rejects.toMatchObject({ status: 499 });
    expect(Date.now()).toBeLessThan(untilMs);
    expect(upstream.received).toHaveLength(1);
  });
});

it('closing ends what waits and what is under way', async () => {
  await using upstream = await openUpstream((response) => void response.write('x'));
  const transport = transportTo(upstream.url, { concurrency: 1 });
  const begun = await transport.send(requestOf(), NEVER);
  const waiting = transport.send(requestOf(), NEVER);
  await transport[Symbol.asyncDispose]();
  await expect(waiting).rejects.toMatchObject({ kind: 'network' });
  await expect(textOf(begun)).rejects.toMatchObject({ kind: 'network' });
});

it('closing ends what has no answer yet, and tries nothing again', async () => {
  const waits: ProviderWait[] = [];
  const sent = Promise.withResolvers<void>();
  await using upstream = await openUpstream(() => sent.resolve());
  const transport = transportTo(upstream.url, {}, { onWait: (wait) => waits.push(wait) });
  const pending = transport.send(requestOf(), NEVER);
  await sent.promise;
  await transport[Symbol.asyncDispose]();
  await expect(pending).rejects.toThrow('the gateway was closed');
  expect(waits).toEqual([]);
});
