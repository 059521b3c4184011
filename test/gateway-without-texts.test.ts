/** Long texts are left out of what is judged; what is around them is judged as ever. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge } from '../src/gateway/request/judge.ts';
import { withoutTexts } from '../src/gateway/request/without-texts.ts';

const NO = { mayReach: () => false, mayUse: () => false };
const NAMES = ['text', 'content', 'description', 'thinking', 'data'];
const PARTS = ['word ', '"', '\\', '\n', 'ü', '\\"', '":"', '{"text":"', '\u2028', '😀', 'x'.repeat(60)];
const LONG = 'some words of a conversation '.repeat(2000);

type Value = string | number | null | Value[] | { [key: string]: Value };

describe('what is left of a request without its long texts', () => {
  it('is what it was, with nothing in place of each, whatever the texts hold', () => {
    const text = fc.array(fc.constantFrom(...PARTS), { maxLength: 6 }).map((parts) => parts.join(''));
    const long = fc
      .array(fc.constantFrom(...PARTS), { minLength: 400, maxLength: 500 })
      .map((parts) => parts.join(''));
    const { value } = fc.letrec<{ value: Value }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.oneof(fc.integer(), fc.constant(null), text, long),
        fc.array(tie('value'), { maxLength: 5 }),
        fc.dictionary(fc.oneof(fc.constantFrom(...NAMES), text), tie('value'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.record({ value, content: long, model: fc.constant(LONG) }),
        fc.nat(2),
        (body, spaces) => {
          const { json, isWhole } = withoutTexts(Buffer.from(JSON.stringify(body, null, spaces)));
          expect(JSON.parse(json)).toEqual(shortenedOf(body));
          expect(isWhole).toBe(false);
        },
      ),
    );
  });

  it('is all of it where it ends within a text', () => {
    const text = `{"content":"${LONG}`;
    expect(withoutTexts(Buffer.from(text))).toEqual({ json: text, isWhole: true });
  });
});

describe('a request with long texts', () => {
  const judged = (body: unknown) => judge(Buffer.from(JSON.stringify(body)), { api: 'messages' }, NO);
  const said = (text: string, more: object = {}): Record<string, unknown> => ({
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user', content: [{ type: 'text', text }] }, ...messagesIn(more)],
    ...more,
  });

  it('is judged as the same one with short texts is', async () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://evil.test/x.png' } };
    for (const more of [
      {},
      { messages: [{ role: 'user', content: [image] }] },
      { tools: [{ name: 'bash', description: LONG, input_schema: {} }] },
      { container: 'c' },
      { Tools: [] },
    ])
      expect(await judged(said(`${LONG}"\\`, more))).toEqual(await judged(said('short', more)));
  });

  it('cannot hide an address in a long one', async () => {
    const url = `https://good.test${'a'.repeat(20_000)}@evil.test/x.png`;
    const body = said(LONG, { messages: [{ content: [{ type: 'image', source: { type: 'url', url } }] }] });
    const { reached } = await judged(body);
    expect(reached[0]!.refusal).toMatchObject({ host: 'evil.test', port: 443 });
  });

  it('is sent with all of them where something was taken out', async () => {
    const own = { name: 'bash', input_schema: {} };
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const { body } = await judged({ ...said(LONG), tools: [own, search] });
    expect(JSON.parse(body!.toString())).toEqual({ ...said(LONG), tools: [own] });
  });

  it('is sent as it was read where a name stands twice', async () => {
    const text = `{"model":"m","messages":[{"content":"${LONG}","content":"${LONG}!"}]}`;
    const { body } = await judge(Buffer.from(text), { api: 'messages' }, NO);
    expect(body!.toString()).toBe(`{"model":"m","messages":[{"content":"${LONG}!"}]}`);
  });

  it('repeats a call only where its long texts are the same, too', async () => {
    const call = (content: string): unknown => ({
      role: 'assistant',
      content: [{ type: 'tool_use', name: 'write', input: { path: 'x', content } }],
    });
    const same = await judged({ messages: [call(LONG), call(LONG)] });
    expect(same.asked.loop).toEqual({ tool: 'write', times: 2 });
    const other = `${LONG.slice(0, 20_000)}!${LONG.slice(20_001)}`;
    expect((await judged({ messages: [call(LONG), call(other)] })).asked.loop).toBeUndefined();
  });
});

function messagesIn(more: object): unknown[] {
  return 'messages' in more ? (more.messages as unknown[]) : [];
}

function shortenedOf(value: Value, name = ''): Value {
  if (Array.isArray(value)) return value.map((item) => shortenedOf(item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortenedOf(item, key)]));
  if (typeof value !== 'string' || !NAMES.includes(name)) return value;
  return Buffer.byteLength(JSON.stringify(value)) - 2 >= 1024 ? '' : value;
}
