import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CassettePlace } from '../src/gateway/cassette/place.ts';
import {
  answer,
  ask,
  hear,
  inputOf,
  JSON_TYPE,
  nameOf,
  place,
  provider,
  refusal,
  saying,
  Shelf,
  STREAM,
  toolCall,
} from './fixtures/cassette.ts';

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
      { numRuns: 60 },
    );
  });

  it('puts the present workspace into answers, also where the path came in pieces', async () => {
    const [one, two] = [place('one', 1), place('somewhere else', 2)];
    for (const pieceChars of [1, 2, 7, 17, 1000]) {
      using shelf = new Shelf();
      {
        const input = {
          file_path: `${one.paths.workspace}/hello.txt`,
          content: `in ${one.paths.repository}/x, done ~/${nameOf(one)}`,
        };
        const stream = toolCall(input, pieceChars).map((event) => Buffer.from(event));
        await using recorder = shelf.record(saying({ headers: STREAM, chunks: stream }), one);
        await hear(recorder, ask({ cwd: one.paths.workspace }));
      }
      expect(readFileSync(shelf.file, 'utf8')).not.toMatch(/srv.one/);
      const { text } = await hear(shelf.replay(two), ask({ cwd: two.paths.workspace }));
      expect(inputOf(text)).toEqual({
        file_path: `${two.paths.workspace}/hello.txt`,
        content: `in ${two.paths.repository}/x, done ~/${nameOf(two)}`,
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

  it('knows the workspace of an earlier attempt, whose session is gone on with', async () => {
    using shelf = new Shelf();
    const at = (n: number): CassettePlace => {
      const { run, paths } = place('one', n);
      return { run, paths: { ...paths, 'workspace@1': paths.workspace!.replace('hello.1', 'hello.0') } };
    };
    const [one, two] = [at(1), at(2)];
    {
      const chunks = [Buffer.from(JSON.stringify(one.paths['workspace@1']))];
      await using recorder = shelf.record(saying({ headers: JSON_TYPE, chunks }), one);
      await hear(recorder, ask(Object.values(one.paths)));
    }
    const { text } = await hear(shelf.replay(two), ask(Object.values(two.paths)));
    expect(JSON.parse(text)).toBe(two.paths['workspace@1']);
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

  it('says of an answer that was too long for it, and keeps what came before and after', async () => {
    using shelf = new Shelf();
    const short = { headers: JSON_TYPE, chunks: [Buffer.from('1')] };
    const long = { headers: JSON_TYPE, chunks: Array.from({ length: 65 }, () => Buffer.alloc(1024 ** 2)) };
    {
      await using recorder = shelf.record(saying(short, long, short));
      for (const n of [1, 2, 3]) expect((await hear(recorder, ask(n))).status).toBe(200);
    }
    const replay = shelf.replay();
    expect((await hear(replay, ask(2))).error?.message).toBe(
      'the answer was longer than 64 MB, so it is not on the cassette',
    );
    for (const n of [1, 3]) expect((await hear(replay, ask(n))).text).toBe('1');
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
    const tookMs: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const quick = await hear(shelf.replay(), ask({}));
      tookMs.push(quick.chunks.at(-1)!.atMs);
    }
    expect(Math.min(...tookMs)).toBeLessThan(280);
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
      const { body } = await recorder.send(ask({}), leaving.signal);
      await expect(
        (async () => {
          for await (const _ of body) leaving.abort();
        })(),
      ).rejects.toMatchObject({ kind: 'network' });
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
