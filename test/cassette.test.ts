import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../src/gateway/transport.ts';
import { TransportError } from '../src/gateway/transport.ts';
import { ask, hear, inputOf, place, provider, refusal, Shelf, toolCall } from './fixtures/cassette.ts';

const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };
const JSON_TYPE = { 'content-type': 'application/json' };

function answer(response: ServerResponse, body: string | string[], headers = STREAM): void {
  response.writeHead(200, headers);
  for (const part of [body].flat()) response.write(part);
  response.end();
}

/** A transport that answers each request with the next of these. */
function saying(...answers: { headers: Record<string, string>; chunks: Buffer[] }[]): Transport {
  let next = 0;
  return {
    send: () => {
      const { headers, chunks } = answers[next++]!;
      const body = (async function* () {
        for (const chunk of chunks) yield chunk;
      })();
      return Promise.resolve({ status: 200, headers, body });
    },
  };
}

describe('a cassette', () => {
  it('answers as the provider did, once the provider is gone', async () => {
    using shelf = new Shelf();
    const request = ask({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
    let recorded;
    {
      await using server = await provider((_, response) => answer(response, toolCall({ path: 'a' }, 3)));
      await using recorder = shelf.record(server);
      recorded = await hear(recorder, request);
    }
    const replayed = await hear(shelf.replay(), request);
    expect(replayed).toMatchObject({ status: 200, text: recorded.text });
    expect(replayed.headers).toEqual({ 'content-type': STREAM['content-type'] });
    expect(inputOf(replayed.text)).toEqual({ path: 'a' });
  });

  it('gives back every byte, however the answer was cut into chunks', async () => {
    const headers = fc.constantFrom<Record<string, string>>(
      STREAM,
      JSON_TYPE,
      { 'content-type': 'text/plain' },
      {},
    );
    const bytes = fc.oneof(
      fc.json().map((json) => Buffer.from(json)),
      fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
      fc
        .array(fc.json(), { maxLength: 5 })
        .map((all) => Buffer.from(all.map((one) => `data: ${one}\n\n`).join(''))),
      fc.array(fc.string(), { maxLength: 9 }).map((all) => Buffer.from(toolCall(all, 4).join(''))),
      fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
    );
    const cuts = fc.array(fc.nat(400), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(headers, bytes, cuts, fc.json(), async (headers, bytes, cuts, body) => {
        using shelf = new Shelf();
        const borders = [
          0,
          ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b),
          bytes.length,
        ];
        const chunks = borders.slice(1).map((end, n) => bytes.subarray(borders[n], end));
        const request = ask(Buffer.from(body));
        {
          await using recorder = shelf.record(saying({ headers, chunks }), place('one'));
          expect((await hear(recorder, request)).bytes).toEqual(bytes);
        }
        expect((await hear(shelf.replay(place('one')), request)).bytes).toEqual(bytes);
      }),
      { numRuns: 100 },
    );
  });

  it('knows a request again by its content, whatever ids, times, paths and hashes are in it', async () => {
    using shelf = new Shelf();
    const request = (at: ReturnType<typeof place>, n: number): unknown => ({
      model: 'claude-opus-4-20250514',
      messages: [
        { role: 'user', content: [{ type: 'text', text: `cwd: ${at.paths.workspace}\n${n}ab034${n} base` }] },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: `toolu_${n}50a0a649998d58b`, input: { file: `${at.paths.workspace}/a` } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: `toolu_${n}50a0a649998d58b`,
              content: [
                `-rw-r--r-- 1 root root 2 Nov 1${n} 02:1${n} a.txt`,
                `Mon Nov 1${n} 02:10:4${n} UTC 2026`,
                `Date:   Mon Nov 1${n} 02:10:48 2026 +0000`,
                `2026-11-1${n}T02:03:04.00${n}Z took ${n}2ms, Wall time: 0.0${n} seconds`,
                `/tmp/tmp.LjXiJsJkP${n} http://127.0.0.1:4000${n}/x`,
                `Process Group PGID: 446${n}, Chunk ID: 9a56c${n}, msg_01a1e21f-1d5a-7012-bc3a-46e96e114a5${n}`,
                `write_file_179479507693${n}_0 on Linux 6.18.4${n}-fc, Monday, November 1${n}, 2026`,
                `/home/me${n}/.gemini/tmp/agent-demo-${n}-hello-1-2026111${n}t02030405${n}z/memory`,
                `~/.claude/projects/${at.paths.workspace!.replaceAll(/\W/g, '-')}/memory`,
                `commit 0ab0345bc474ec6b72c4cf55d541d98f6e3b423${n}`,
                `Today's date is 2026-11-1${n}. Started demo-${n} as ${n}5e42f44-71f7-4fdd-bc88-a837cef60c50.`,
              ].join('\n'),
            },
          ],
          ...(n === 1 && { cache_control: { type: 'ephemeral' } }),
        },
      ],
      metadata: { user_id: `user-${n}` },
    });
    const [one, two] = [place('one', 1), place('two', 2)];
    {
      await using recorder = shelf.record(
        saying({ headers: JSON_TYPE, chunks: [Buffer.from('{"ok":1}')] }),
        one,
      );
      await hear(recorder, ask(request(one, 1)));
    }
    const shuffled = Object.fromEntries(Object.entries(request(two, 2) as object).toReversed());
    expect((await hear(shelf.replay(two), ask(shuffled))).text).toBe('{"ok":1}');
  });

  it('tells requests apart that differ in what they ask', async () => {
    using shelf = new Shelf();
    const same = { model: 'm-1', messages: [{ role: 'user', content: 'say 1' }] };
    {
      await using recorder = shelf.record(saying({ headers: JSON_TYPE, chunks: [Buffer.from('1')] }));
      await hear(recorder, ask(same));
    }
    const replay = shelf.replay();
    for (const other of [
      ask({ ...same, messages: [{ role: 'user', content: 'say 2' }] }),
      ask({ ...same, model: 'm-2' }),
      ask(same, { provider: 'other' }),
      ask(same, { path: '/v1/messages/count_tokens' }),
      ask(same, { method: 'GET' }),
    ])
      expect((await refusal(replay, other)).status).toBe(400);
    expect((await hear(replay, ask(same))).text).toBe('1');
  });

  it('keeps ids that are used twice apart from ids that are used once', async () => {
    using shelf = new Shelf();
    const calls = (...ids: string[]): unknown => ids.map((id) => ({ id: `call_${id}23456789` }));
    {
      await using recorder = shelf.record(saying({ headers: JSON_TYPE, chunks: [] }));
      await hear(recorder, ask(calls('a', 'b', 'a')));
    }
    const replay = shelf.replay();
    expect((await refusal(replay, ask(calls('c', 'd', 'd')))).kind).toBe('bad-request');
    await hear(replay, ask(calls('c', 'd', 'c')));
  });

  it('puts the present workspace into answers, also where the path came in pieces', async () => {
    const [one, two] = [place('one', 1), place('somewhere else', 2)];
    for (const pieceChars of [1, 2, 7, 17, 1000]) {
      using shelf = new Shelf();
      {
        const input = {
          file_path: `${one.paths.workspace}/hello.txt`,
          content: `in ${one.paths.repository}/x, done`,
        };
        const stream = toolCall(input, pieceChars).map((event) => Buffer.from(event));
        await using recorder = shelf.record(saying({ headers: STREAM, chunks: stream }), one);
        await hear(recorder, ask({ cwd: one.paths.workspace }));
      }
      expect(readFileSync(shelf.file, 'utf8')).not.toContain('/srv/one');
      const { text } = await hear(shelf.replay(two), ask({ cwd: two.paths.workspace }));
      expect(inputOf(text)).toEqual({
        file_path: `${two.paths.workspace}/hello.txt`,
        content: `in ${two.paths.repository}/x, done`,
      });
    }
  });

  it('puts the present workspace into the answers of every dialect', async () => {
    const [one, two] = [place('one', 1), place('two', 2)];
    const at = (where: string, from: number, to?: number): string => `{"p":"${where}/a"}`.slice(from, to);
    const streams: ((where: string) => unknown[])[] = [
      (where) => [
        {
          choices: [
            { index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: at(where, 0, 12) } }] } },
          ],
        },
        {
          choices: [
            { index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: at(where, 12) } }] } },
          ],
        },
      ],
      (where) => [
        { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: at(where, 0, 12) },
        { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: at(where, 12) },
        { type: 'response.completed', response: { output: [{ arguments: at(where, 0) }] } },
      ],
      (where) => [
        { candidates: [{ content: { parts: [{ functionCall: { args: { p: `${where}/a` } } }] } }] },
      ],
    ];
    for (const stream of streams) {
      using shelf = new Shelf();
      const sse = (where: string): string =>
        stream(where)
          .map((event) => `data: ${JSON.stringify(event)}\n\n`)
          .join('');
      {
        const chunks = [Buffer.from(sse(one.paths.workspace!))];
        await using recorder = shelf.record(saying({ headers: STREAM, chunks }), one);
        await hear(recorder, ask({}));
      }
      const { text } = await hear(shelf.replay(two), ask({}));
      expect(text).not.toContain('/srv/one');
      const said = text.replaceAll(/^data: |\n/gm, '').replaceAll('\\', '');
      expect(said).toContain(two.paths.workspace!);
    }
  });

  it('answers equal requests of parallel tasks each as its own, in the order in which each asked', async () => {
    using shelf = new Shelf();
    const said = (text: string): { headers: Record<string, string>; chunks: Buffer[] } => ({
      headers: JSON_TYPE,
      chunks: [Buffer.from(JSON.stringify(text))],
    });
    const order: [string, number][] = [
      ['a', 1],
      ['b', 1],
      ['a', 1],
      ['b', 2],
      ['b', 1],
    ];
    {
      const answers = order.map(([task, attempt], n) => said(`${task}${attempt} ${n}`));
      await using recorder = shelf.record(saying(...answers));
      for (const [task, attempt] of order) await hear(recorder, ask({ q: 1 }, { task, attempt }));
    }
    const replay = shelf.replay();
    const heard: unknown[] = [];
    const asked: [string, number][] = [
      ['b', 2],
      ['b', 1],
      ['b', 1],
      ['a', 1],
      ['a', 1],
    ];
    for (const [task, attempt] of asked)
      heard.push(JSON.parse((await hear(replay, ask({ q: 1 }, { task, attempt }))).text));
    expect(heard).toEqual(['b2 3', 'b1 1', 'b1 4', 'a1 0', 'a1 2']);
    const { message } = await refusal(replay, ask({ q: 1 }, { task: 'a' }));
    expect(message).toContain('asked 5 times when it was recorded, and now once more');
  });

  it('answers equal requests in the order in which they were made, not in which they ended', async () => {
    using shelf = new Shelf();
    {
      let times = 0;
      await using server = await provider((_, response) => {
        const n = ++times;
        setTimeout(() => answer(response, String(n), JSON_TYPE), n === 1 ? 100 : 0);
      });
      await using recorder = shelf.record(server);
      const first = hear(recorder, ask({}));
      await sleep(30);
      await Promise.all([first, hear(recorder, ask({}))]);
    }
    const replay = shelf.replay();
    expect([(await hear(replay, ask({}))).text, (await hear(replay, ask({}))).text]).toEqual(['1', '2']);
  });

  it('plays faults again, and what was answered when the same was asked once more', async () => {
    using shelf = new Shelf();
    const request = ask({ q: 1 });
    {
      let times = 0;
      await using server = await provider((_, response) => {
        times++;
        if (times === 1) {
          response.writeHead(529, { ...JSON_TYPE, 'retry-after': '7' });
          response.end('{"error":{"type":"overloaded_error"}}');
        } else if (times === 2) {
          response.writeHead(200, STREAM);
          response.write('data: {"half":1}\n\n', () => response.destroy());
        } else if (times === 3) response.destroy();
        else answer(response, 'data: {"whole":1}\n\n');
      });
      await using recorder = shelf.record(server);
      for (const times of [1, 2, 3, 4])
        if (times === 3) await refusal(recorder, request);
        else await hear(recorder, request);
    }
    const replay = shelf.replay();
    const first = await hear(replay, request);
    expect(first).toMatchObject({ status: 529, headers: { 'retry-after': '7' } });
    const second = await hear(replay, request);
    expect(second).toMatchObject({ text: 'data: {"half":1}\n\n', error: { kind: 'network', status: 502 } });
    expect(await refusal(replay, request)).toMatchObject({ kind: 'network', status: 502 });
    expect((await hear(replay, request)).text).toBe('data: {"whole":1}\n\n');
  });

  it('shows the nearest recorded request and the difference when nothing fits', async () => {
    using shelf = new Shelf();
    const talk = (...words: string[]): unknown => ({
      system: `${'x'.repeat(300)} be ${words[0]}`,
      messages: words.map((content) => ({ role: 'user', content: `line one\n${content}` })),
    });
    {
      const nothing = { headers: JSON_TYPE, chunks: [] };
      await using recorder = shelf.record(saying(nothing, nothing, nothing));
      await hear(recorder, ask(talk('kind', 'b'), { task: 'other' }));
      await hear(recorder, ask(talk('kind', 'far', 'away', 'from', 'all')));
      await hear(recorder, ask(talk('kind', 'a')));
    }
    const error = await refusal(shelf.replay(), ask(talk('rude', 'b')));
    expect(error).toMatchObject({ kind: 'bad-request', status: 400 });
    const lines = error.message.split('\n');
    expect(lines[0]).toContain('hello (attempt 1) asked anthropic POST /v1/messages?beta=true');
    expect(lines[0]).toContain('The nearest that was recorded is of hello (attempt 1');
    expect(lines.slice(1, -1)).toEqual([
      '- body.messages[0].content: kind',
      '+ body.messages[0].content: rude',
      '- body.messages[1].content: a',
      '+ body.messages[1].content: b',
      expect.stringMatching(/^- body\.system: x+ … x+ be kind$/),
      expect.stringMatching(/^\+ body\.system: x+ … x+ be rude$/),
    ]);
  });

  it('keeps the difference short, however much differs', async () => {
    using shelf = new Shelf();
    const words = (of: string): unknown =>
      Array.from({ length: 3000 }, (_, n) => `${of}${n} ${'y'.repeat(500)}`);
    {
      await using recorder = shelf.record(saying({ headers: JSON_TYPE, chunks: [] }));
      await hear(recorder, ask(words('a')));
    }
    const { message } = await refusal(shelf.replay(), ask(words('b')));
    expect(message.split('\n').length).toBeLessThan(25);
    expect(message.length).toBeLessThan(5000);
  });

  it('plays a stream as slowly as it came, or at once', async () => {
    using shelf = new Shelf();
    {
      await using server = await provider((_, response) => {
        response.writeHead(200, STREAM);
        response.flushHeaders();
        setTimeout(() => response.write('data: 1\n\n'), 100);
        setTimeout(() => response.end('data: 2\n\n'), 300);
      });
      await using recorder = shelf.record(server);
      await hear(recorder, ask({}));
      await hear(recorder, ask({}));
    }
    const slow = await hear(shelf.replay(undefined, { timing: true }), ask({}));
    expect(slow.chunks.map(({ text }) => text)).toEqual(['data: 1\n\n', 'data: 2\n\n']);
    expect(slow.chunks[0]!.atMs).toBeGreaterThan(80);
    expect(slow.chunks[1]!.atMs).toBeGreaterThan(280);
    const quick = await hear(shelf.replay(), ask({}));
    expect(quick.chunks.at(-1)!.atMs).toBeLessThan(80);
  });

  it('ends as soon as the agent goes away, and lets one go that went away before', async () => {
    using shelf = new Shelf();
    {
      await using server = await provider((_, response) => {
        response.writeHead(200, STREAM);
        response.write('data: 1\n\n');
      });
      await using recorder = shelf.record(server);
      const leaving = new AbortController();
      setTimeout(() => leaving.abort(), 100);
      await hear(recorder, ask({}), leaving.signal);
    }
    const leaving = new AbortController();
    const heard = hear(shelf.replay(), ask({}), leaving.signal);
    expect(await Promise.race([heard, sleep(200, 'waits')])).toBe('waits');
    leaving.abort();
    expect(await heard).toMatchObject({ text: 'data: 1\n\n', error: { kind: 'network' } });
  });

  it('says on a cassette what an agent never read to its end', async () => {
    using shelf = new Shelf();
    {
      await using recorder = shelf.record(saying({ headers: STREAM, chunks: [Buffer.from('data: 1\n\n')] }));
      await recorder.send(ask({}), new AbortController().signal);
    }
    expect(readFileSync(shelf.file, 'utf8')).toContain('"broke":"left"');
  });
});

describe('the file', () => {
  it('holds no secret, in whatever way it came', async () => {
    using shelf = new Shelf();
    const known = 'our own key 12345';
    const keys = [
      known,
      'sk-ant-api03-AAAAAAAAAAAAAAAAAAAA',
      'sk-proj-BBBBBBBBBBBBBBBBBBBBBBBB',
      `AIza${'C'.repeat(35)}`,
      `ghp_${'D'.repeat(36)}`,
      `AKIA${'E'.repeat(16)}`,
      `ya29.${'F'.repeat(30)}`,
    ];
    const text = `line\n${keys.join('\n')}\nAuthorization: Bearer GGGGGGGGGGGG`;
    const twice = JSON.stringify({ command: text });
    const answers = [
      {
        headers: { ...JSON_TYPE, 'set-cookie': `s=${keys[1]}` },
        chunks: [Buffer.from(JSON.stringify({ text, twice }))],
      },
      { headers: STREAM, chunks: toolCall({ text }, 5).map((event) => Buffer.from(event)) },
    ];
    {
      const failing: Transport = {
        send: () => Promise.reject(new TransportError('auth', 401, `${keys[1]} is not accepted`)),
      };
      const good = saying(...answers);
      let times = 0;
      const inner: Transport = { send: (...all) => (times++ < 2 ? good : failing).send(...all) };
      await using recorder = shelf.record(inner, undefined, [known, '']);
      const request = ask(
        { text, twice },
        {
          path: `/v1/x?alt=sse&key=${keys[3]}`,
          headers: { authorization: `Bearer ${keys[2]}`, 'x-api-key': keys[1]!, 'x-goog-api-key': keys[3]! },
        },
      );
      await hear(recorder, request);
      await hear(recorder, request);
      await refusal(recorder, request);
    }
    const file = readFileSync(shelf.file, 'utf8');
    for (const key of [...keys, 'GGGGGGGGGGGG']) expect(file).not.toContain(key.slice(-12));
    // Pieces of keys that came in pieces.
    for (const letters of ['AAAAA', 'BBBBB', 'CCCCC', 'DDDDD', 'EEEEE', 'FFFFF', 'GGGGG'])
      expect(file).not.toContain(letters);
    expect(file.match(/\[secret\]/g)!.length).toBeGreaterThan(4 * keys.length);
    const replay = shelf.replay(undefined, { secrets: [known] });
    const other = ask({ text, twice }, { path: '/v1/x?alt=sse&key=another' });
    expect((await hear(replay, other)).text).toContain('[secret]');
  });

  it('is readable by its owner alone', async () => {
    using shelf = new Shelf();
    await shelf.record(saying())[Symbol.asyncDispose]();
    expect(statSync(shelf.file).mode & 0o777).toBe(0o600);
  });

  it('is never written over, but one that is empty is used', async () => {
    using shelf = new Shelf();
    writeFileSync(shelf.file, '', { mode: 0o644 });
    await shelf.record(saying())[Symbol.asyncDispose]();
    expect(statSync(shelf.file).mode & 0o777).toBe(0o600);
    const before = readFileSync(shelf.file, 'utf8');
    expect(() => shelf.record(saying())).toThrow(/something is on it already; name a new file/);
    expect(readFileSync(shelf.file, 'utf8')).toBe(before);
  });

  it('holds what a conversation says again and again once', async () => {
    using shelf = new Shelf();
    const message = (n: number): unknown => ({
      role: 'user',
      content: [{ type: 'text', text: `${n} ${'words '.repeat(500)}` }],
    });
    const talk = (turns: number): unknown => ({
      system: 'rules '.repeat(5000),
      messages: Array.from({ length: turns }, (_, n) => message(n)),
    });
    const turns = Array.from({ length: 20 }, (_, n) => n + 1);
    {
      const answers = turns.map((n) => ({ headers: JSON_TYPE, chunks: [Buffer.from(`"${n}"`)] }));
      await using recorder = shelf.record(saying(...answers));
      for (const n of turns) await hear(recorder, ask(talk(n)));
    }
    const longest = JSON.stringify(talk(20)).length;
    expect(statSync(shelf.file).size).toBeLessThan(longest + turns.length * 1500);
    const replay = shelf.replay();
    for (const n of turns.toReversed()) expect((await hear(replay, ask(talk(n)))).text).toBe(`"${n}"`);
  });

  it('has each exchange as soon as it has ended, and a last line that was torn is passed over', async () => {
    using shelf = new Shelf();
    const recorder = shelf.record(saying({ headers: JSON_TYPE, chunks: [Buffer.from('1')] }));
    await hear(recorder, ask({ n: 1 }));
    const crashed = readFileSync(shelf.file, 'utf8');
    await recorder[Symbol.asyncDispose]();
    writeFileSync(shelf.file, `${crashed}{"task":"hello","att`);
    expect((await hear(shelf.replay(), ask({ n: 1 }))).text).toBe('1');
  });

  it('is refused with a reason where it is damaged, of another version, missing or something else', async () => {
    using shelf = new Shelf();
    expect(() => shelf.replay()).toThrow(/cannot replay .*run\.cassette: ENOENT/);
    writeFileSync(shelf.file, 'name: x\n');
    expect(() => shelf.replay()).toThrow(/is no cassette: record one with/);
    writeFileSync(shelf.file, '{"cassette":"bosun","version":99}\n');
    expect(() => shelf.replay()).toThrow(/version 99, and this bosun reads version 1/);
    writeFileSync(shelf.file, '{"cassette":"bosun","version":1}\n{"torn\n');
    appendFileSync(shelf.file, '{"torn\n');
    expect(() => shelf.replay()).toThrow(/is damaged in line 2/);
  });
});
