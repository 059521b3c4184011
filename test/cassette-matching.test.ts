import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  answer,
  ask,
  hear,
  JSON_TYPE,
  nameOf,
  place,
  provider,
  refusal,
  saying,
  Shelf,
} from './fixtures/cassette.ts';

describe('a request on a cassette', () => {
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
                `total ${n}6\n-rw-r--r-- 1 user${n} root  ${n === 1 ? ' ' : ''} 2 Nov 1${n} 02:1${n} a.txt`,
                `drwxr-xr-x ${n} root root ${n}096 Nov 1${n} 02:1${n} ..`,
                `Mon Nov 1${n} 02:10:4${n} UTC 2026`,
                `Date:   Mon Nov 1${n} 02:10:48 2026 +0000`,
                `2026-11-1${n}T02:03:04.00${n}Z took ${n}2ms, Wall time: 0.0${n} seconds`,
                `/tmp/tmp.LjXiJsJkP${n} http://127.0.0.1:4000${n}/x`,
                `Process Group PGID: 446${n}, Chunk ID: 9a56c${n}, {"chunk_id":"50${n}a1a","wall_time_seconds":0.0${n}9e-05}, msg_01a1e21f-1d5a-7012-bc3a-46e96e114a5${n}`,
                `write_file_179479507693${n}_0 on Linux 6.18.4${n}-fc, Monday, November 1${n}, 2026`,
                `/home/me${n}/.gemini/tmp/agent-demo-${n}-hello-1-2026111${n}t02030405${n}z/memory`,
                `~/.claude/projects/${nameOf(at)}/memory`,
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
    const same = { model: 'm-2024-08-06', messages: [{ role: 'user', content: 'say 1' }] };
    {
      await using recorder = shelf.record(saying({ headers: JSON_TYPE, chunks: [Buffer.from('1')] }));
      await hear(recorder, ask(same));
    }
    const replay = shelf.replay();
    for (const other of [
      ask({ ...same, messages: [{ role: 'user', content: 'say 2' }] }),
      ask({ ...same, model: 'm-2024-11-20' }),
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
      const waiting: ServerResponse[] = [];
      await using server = await provider((_, response) => {
        if (waiting.push(response) === 2) answer(response, '2', JSON_TYPE);
      });
      await using recorder = shelf.record(server);
      const first = hear(recorder, ask({}));
      while (server.asked === 0) await sleep(5);
      await hear(recorder, ask({}));
      answer(waiting[0]!, '1', JSON_TYPE);
      await first;
    }
    const replay = shelf.replay();
    expect([(await hear(replay, ask({}))).text, (await hear(replay, ask({}))).text]).toEqual(['1', '2']);
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
});
