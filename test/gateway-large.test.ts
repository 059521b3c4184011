import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { mayReach } from '../src/egress/may-reach.ts';
import { judge } from '../src/gateway/request/judge.ts';
import { busiestMs } from './fixtures/busiest.ts';
import { ask, makeRig, sendJson, type Rig } from './fixtures/gateway.ts';

const MB = 1024 ** 2;
const MESSAGES = '/anthropic/v1/messages';
const LONG = 'long '.repeat(500_000);
const list = (count: number, item: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => item(n)).join(',');

let rig: Rig;
beforeAll(async () => (rig = await makeRig()));
afterEach(() => rig.reset());
afterAll(() => rig[Symbol.asyncDispose]());

it.each<[string, string]>([
  ['blanks', `{"messages":[],${' '.repeat(31 * MB)}"model":"m"}`],
  ['escapes', `{"messages":[{"content":"${'\\n'.repeat(15 * MB)}"}],"stream":true}`],
  ['keys', `{"messages":[{${list(99_000, (n) => `"${'x'.repeat(200)}${n}":1`)}}],"stream":true}`],
  ['keys that stand twice', `{"messages":[{${list(40_000, (n) => `"k${n}":1,"k${n}":2`)}}]}`],
  ['numbers', `{"messages":[${list(990_000, (n) => `1.2345678901234567e-30${n % 10}`)}],"stream":true}`],
  [
    'a long conversation',
    `{"messages":[{"content":${JSON.stringify('line\n'.repeat(300_000))}}],"stream":true}`,
  ],
  ['objects', `{"messages":[${list(99_000, () => '{"a":1}')}],"stream":true}`],
])('a large request of %s keeps the engine for less than 100 ms', async (_, text) => {
  const body = Buffer.from(text);
  const no = { mayReach: () => false, mayUse: () => false };
  await judge(body, { api: 'chat' }, no); // the thread is there
  expect(await busiestMs(() => judge(body, { api: 'chat' }, no))).toBeLessThan(100);
});

it('a large request is held to the same fence as a small one', async () => {
  rig.serve((outgoing) => sendJson(outgoing, {}));
  const door = await rig.open(undefined, {}, undefined, { mayReach: mayReach(['good.test']) });
  const picture = (host: string): unknown[] => [
    { role: 'user', content: [{ type: 'image', source: { type: 'url', url: `https://${host}/x.png` } }] },
    { role: 'user', content: LONG },
  ];
  const own = { name: 'bash', input_schema: {} };
  const body = { model: 'm', messages: picture('good.test'), tools: [own] };
  expect((await ask(door, MESSAGES, body)).status).toBe(200);
  expect(rig.got.at(-1)!.body).toBe(JSON.stringify(body));
  const search = { type: 'web_search_20250305', name: 'web_search' };
  expect((await ask(door, MESSAGES, { ...body, tools: [own, search] })).status).toBe(200);
  expect(rig.got.at(-1)!.body).toBe(JSON.stringify(body));
  const { status, body: said } = await ask(door, MESSAGES, { ...body, messages: picture('evil.test') });
  expect([status, said]).toEqual([402, expect.stringContaining('fetch https://evil.test/x.png')]);
  expect((await ask(door, MESSAGES, `[${JSON.stringify(LONG)}`)).status).toBe(400);
  expect(rig.got).toHaveLength(2);
  expect(rig.wishes.map(({ isUnbounded, hasTools }) => [isUnbounded, hasTools])).toEqual([
    [true, true],
    [true, true],
  ]);
});
