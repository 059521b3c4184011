/** What an answer cost, for every interface, whole and in pieces; and what a request may cost. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { meterFor } from '../src/gateway/money/meter.ts';
import type { TalkApi } from '../src/gateway/request/repeated-calls.ts';
import type { Api } from '../src/gateway/request/route.ts';
import { ask, events, makeRig, sendEvents, sendJson, type Rig } from './fixtures/gateway.ts';

let rig: Rig;
beforeAll(async () => void (rig = await makeRig()));
afterEach(() => rig.reset());
afterAll(() => rig[Symbol.asyncDispose]());

const MESSAGES = '/anthropic/v1/messages';
const CHAT = '/openai/v1/chat/completions';
const RESPONSES = '/openai/responses';
const GENERATE = '/gemini/v1beta/models/gemini-2.5-pro:generateContent';
const STREAM = '/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent';

const CLAUDE = {
  input_tokens: 10,
  output_tokens: 1,
  cache_read_input_tokens: 3000,
  cache_creation_input_tokens: 200,
};
const CHAT_USAGE = {
  prompt_tokens: 3210,
  completion_tokens: 55,
  prompt_tokens_details: { cached_tokens: 3000, cache_write_tokens: 200 },
};
const RESPONSES_USAGE = {
  input_tokens: 3210,
  output_tokens: 55,
  input_tokens_details: { cached_tokens: 3000, cache_write_tokens: 200 },
};
const GEMINI = {
  promptTokenCount: 3200,
  cachedContentTokenCount: 3000,
  toolUsePromptTokenCount: 10,
  candidatesTokenCount: 50,
  thoughtsTokenCount: 5,
};
const TOKENS = { input: 10, output: 55, cacheRead: 3000, cacheWrite: 200 };
const GEMINI_TOKENS = { input: 210, output: 55, cacheRead: 3000, cacheWrite: 0 };

const ANSWERS: [what: string, url: string, api: Api, text: string, tokens: unknown][] = [
  ['messages', MESSAGES, 'messages', JSON.stringify({ usage: { ...CLAUDE, output_tokens: 55 } }), TOKENS],
  [
    'a stream of messages',
    MESSAGES,
    'messages',
    'event: message_start\n' +
      events({ type: 'message_start', message: { content: [], usage: CLAUDE } }) +
      events({ type: 'content_block_delta', delta: { text: 'my "usage":{"output_tokens":9999}' } }) +
      events({ type: 'message_delta', usage: { input_tokens: 0, output_tokens: 55 } }),
    TOKENS,
  ],
  ['chat completions', CHAT, 'chat', JSON.stringify({ choices: [], usage: CHAT_USAGE }), TOKENS],
  [
    'a stream of chat completions',
    CHAT,
    'chat',
    events({ choices: [1], usage: null }, { choices: [], usage: CHAT_USAGE }, '[DONE]'),
    TOKENS,
  ],
  ['responses', RESPONSES, 'responses', JSON.stringify({ output: [], usage: RESPONSES_USAGE }), TOKENS],
  [
    'a stream of responses',
    RESPONSES,
    'responses',
    events(
      { type: 'response.created', response: { usage: null, tools: [{ parameters: { usage: {} } }] } },
      { type: 'response.completed', response: { output: ['é'.repeat(9000)], usage: RESPONSES_USAGE } },
    ),
    TOKENS,
  ],
  ['Gemini', GENERATE, 'generate', JSON.stringify({ usageMetadata: GEMINI }), GEMINI_TOKENS],
  [
    'a stream of Gemini',
    `${STREAM}?alt=sse`,
    'generate',
    events({ usageMetadata: { promptTokenCount: 3200 } }, { usageMetadata: GEMINI }),
    GEMINI_TOKENS,
  ],
  [
    'a stream of Gemini as an array',
    STREAM,
    'generate',
    JSON.stringify([{ usageMetadata: { ...GEMINI, candidatesTokenCount: 1 } }, { usageMetadata: GEMINI }]),
    GEMINI_TOKENS,
  ],
];

describe('the meter', () => {
  it.each(ANSWERS)('reads what %s cost', async (_what, url, _api, text, tokens) => {
    rig.serve((outgoing) => {
      if (text.startsWith('{') || text.startsWith('[')) sendJson(outgoing, JSON.parse(text));
      else sendEvents(outgoing, text);
    });
    const answer = await ask(await rig.open(), url, { model: 'gpt-6-sol', messages: [] });
    expect(answer.status).toBe(200);
    expect(rig.settled).toMatchObject([{ tokens, usd: expect.any(Number) }]);
  });

  it.each(ANSWERS)('reads %s in pieces of any size', (_what, _url, api, text, tokens) => {
    const type = text.startsWith('{') || text.startsWith('[') ? 'application/json' : 'text/event-stream';
    const bytes = Buffer.from(text.replaceAll('\n', type === 'text/event-stream' ? '\r\n' : '\n'));
    for (const size of [1, 2, 3, 7, 64, 1000, bytes.length]) {
      const meter = meterFor(api, type);
      for (let at = 0; at < bytes.length; at += size) meter.push(bytes.subarray(at, at + size));
      expect(meter.seen().tokens).toEqual(tokens);
    }
  });

  it('reads a last event that has no end of line', () => {
    const meter = meterFor('chat', 'text/event-stream');
    meter.push(Buffer.from(events({ choices: [], usage: CHAT_USAGE }).trimEnd()));
    expect(meter.seen().tokens).toEqual(TOKENS);
  });

  it('knows what is kept for an hour from what is kept for minutes', async () => {
    const usage = {
      ...CLAUDE,
      cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
    };
    rig.serve((outgoing) => sendJson(outgoing, { usage }));
    await ask(await rig.open(), MESSAGES, { model: 'claude-opus-5-5' });
    expect(rig.settled[0]!.usd).toBeCloseTo((10 * 4 + 20 + 3000 * 0.2 + 50 * 5 + 150 * 8) / 1e6, 12);
  });

  it('estimates where an answer says nothing of tokens', async () => {
    rig.serve((outgoing) => sendJson(outgoing, { text: 'x'.repeat(389) }));
    const body = JSON.stringify({ model: 'own', messages: ['x'.repeat(400)] });
    await ask(await rig.open(), '/local/chat/completions', body);
    const tokens = { input: Math.ceil(body.length / 4), output: 100, cacheRead: 0, cacheWrite: 0 };
    expect(rig.settled).toEqual([{ provider: 'local', model: 'own', tokens, usd: null, estimated: true }]);
  });

  it('asks for counts where a stream of chat completions would have none, and for nothing else', async () => {
    const door = await rig.open();
    rig.serve((outgoing) => sendEvents(outgoing, events('[DONE]')));
    const asked = { include_usage: true };
    const bodies = [
      [{ model: 'a', stream: true, n: 1 }, asked],
      [
        { model: 'a', stream: true, stream_options: { include_obfuscation: false } },
        { include_obfuscation: false, ...asked },
      ],
      [{ model: 'a', stream: true, stream_options: null }, asked],
      [{ model: 'a', stream: false }, undefined],
      [{ model: 'a' }, undefined],
    ] as const;
    for (const [body] of bodies) await ask(door, CHAT, body);
    const expected = bodies.map(([body, options]) => (options ? { ...body, stream_options: options } : body));
    expect(rig.got.map(({ body }) => JSON.parse(body))).toEqual(expected);
    await ask(door, RESPONSES, { model: 'a', stream: true });
    expect(JSON.parse(rig.got.at(-1)!.body)).toEqual({ model: 'a', stream: true });
  });

  it('says whose login was used', async () => {
    const body = (async function* () {
      yield Buffer.from(JSON.stringify({ usage: CLAUDE }));
    })();
    const send = async (): Promise<never> => ({ status: 200, headers: {}, body, ownLogin: true }) as never;
    await ask(await rig.open(undefined, { transport: { send } }), MESSAGES, { model: 'x' });
    expect(rig.settled).toMatchObject([{ ownLogin: true }]);
  });
});

describe('a wish', () => {
  it('knows tools also where they come with the conversation', async () => {
    rig.serve((outgoing) => sendJson(outgoing, {}));
    const tools = [{ type: 'function', name: 'shell' }];
    const input = [{ type: 'additional_tools', role: 'developer', tools }];
    await ask(await rig.open(), RESPONSES, { model: 'a', input });
    await ask(await rig.open(), RESPONSES, { model: 'a', input: [] });
    expect(rig.wishes.map(({ hasTools }) => hasTools)).toEqual([true, undefined]);
  });

  it.each([
    [MESSAGES, { model: 'claude-opus-5-5', max_tokens: 500 }, 500],
    [CHAT, { model: 'gpt-6-sol', max_completion_tokens: 600 }, 600],
    [RESPONSES, { model: 'gpt-6-sol', max_output_tokens: 700 }, 700],
    [GENERATE, { generationConfig: { maxOutputTokens: 800 } }, 800],
    [RESPONSES, { model: 'gpt-6-sol' }, 128_000],
    [CHAT, { model: 'gpt-6-sol', max_completion_tokens: 600, n: 3 }, 1800],
  ])('says the most that a request to %s may cost', async (url, body, output) => {
    rig.serve((outgoing) => sendJson(outgoing, {}));
    await ask(await rig.open(), url, body);
    const input = Math.ceil(JSON.stringify(body).length / 4);
    const { tokens, usd } = rig.wishes[0]!;
    expect(tokens).toEqual({ input, output, cacheRead: 0, cacheWrite: 0 });
    expect(usd).toBeGreaterThan(0);
  });

  it.each([
    [MESSAGES, { model: 'nobody-knows' }],
    [MESSAGES, { model: 'claude-opus-5-5', speed: 'fast' }],
    [RESPONSES, { model: 'gpt-6-sol', service_tier: 'priority' }],
    [MESSAGES, { model: 'claude-opus-4-6', inference_geo: 'us' }],
    ['/openai/embeddings', { model: 'text-embedding-3-small' }],
  ])('has no dollars where nobody knows the price: %s %o', async (url, body) => {
    rig.serve((outgoing) => sendJson(outgoing, {}));
    await ask(await rig.open(), url, body);
    expect(rig.wishes).toMatchObject([{ usd: null }]);
    expect(rig.settled).toMatchObject([{ usd: null }]);
  });

  it.each([
    [`${MESSAGES}/count_tokens`, {}],
    ['/gemini/v1beta/models/gemini-2.5-pro:countTokens', {}],
    ['/openai/v1/models', undefined],
  ])('is free where no model thinks: %s', async (url, body) => {
    rig.serve((outgoing) => sendJson(outgoing, { data: [] }));
    expect((await ask(await rig.open(), url, body)).body).toBe('{"data":[]}');
    const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    expect(rig.wishes).toMatchObject([{ tokens, usd: 0 }]);
    expect(rig.settled).toMatchObject([{ tokens, usd: 0 }]);
  });
});

describe('the same tool call again and again', () => {
  const say = (name: string, input: unknown): Record<TalkApi, unknown[]> => ({
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'again' },
          { type: 'tool_use', id: Math.random(), name, input },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', content: 'no' }] },
    ],
    chat: [
      {
        role: 'assistant',
        tool_calls: [{ id: Math.random(), function: { name, arguments: JSON.stringify(input) } }],
      },
      { role: 'tool', content: 'no' },
    ],
    responses: [
      { type: 'function_call', call_id: Math.random(), name, arguments: JSON.stringify(input) },
      { type: 'function_call_output', output: 'no' },
    ],
    generate: [
      { role: 'model', parts: [{ text: 'again' }, { functionCall: { name, args: input } }] },
      { role: 'user', parts: [{ functionResponse: { name } }] },
    ],
  });
  const PLACES: [TalkApi, string, string][] = [
    ['messages', MESSAGES, 'messages'],
    ['chat', CHAT, 'messages'],
    ['responses', RESPONSES, 'input'],
    ['generate', GENERATE, 'contents'],
  ];

  it.each(PLACES)('is counted in %s', async (api, url, field) => {
    rig.serve((outgoing) => sendJson(outgoing, {}));
    const door = await rig.open();
    const other = say('read', { path: 'b' })[api];
    const same = (): unknown[] => say('read', { path: 'a' })[api];
    await ask(door, url, { model: 'm', [field]: [...same(), ...other, ...same(), ...same(), ...same()] });
    await ask(door, url, { model: 'm', [field]: [...same(), ...other] });
    await ask(door, url, { model: 'm', [field]: 'hello' });
    expect(rig.wishes.map(({ loop }) => loop)).toEqual([{ tool: 'read', times: 3 }, undefined, undefined]);
  });
});

it('an answer of more parts than anybody means is not taken apart, and is estimated', () => {
  const parts = '{},'.repeat(200_000);
  const usage = '"usage":{"input_tokens":5,"output_tokens":5}';
  for (const [type, text] of [
    ['application/json', `{"a":[${parts}{}],${usage}}`],
    ['text/event-stream', `data: {"a":[${parts}{}],${usage}}\n\n`],
  ] as const) {
    const meter = meterFor('messages', type);
    meter.push(Buffer.from(text));
    expect(meter.seen()).toMatchObject({ tokens: undefined, isFinal: false });
  }
});

it.each([
  ['nothing', MESSAGES, {}],
  ['no number', MESSAGES, { input_tokens: -5, output_tokens: 12.5 }],
  ['words', MESSAGES, { input_tokens: '9e15', output_tokens: '1e999', cache_read_input_tokens: [9e15] }],
  ['more than a number can hold', MESSAGES, { input_tokens: 1e300, output_tokens: 2 ** 53 }],
  ['no input', MESSAGES, { input_tokens: 0, output_tokens: 12 }],
  ['null', CHAT, { prompt_tokens: null, completion_tokens: null }],
  ['the words of others', CHAT, { input_tokens: 5, output_tokens: 5 }],
  ['no output', RESPONSES, { input_tokens: 50 }],
])('an answer that counts %s is estimated, %s', async (_, url, usage) => {
  rig.serve((outgoing) => sendJson(outgoing, { choices: [], content: 'x'.repeat(400), usage }));
  await ask(await rig.open(), url, { model: 'claude-opus-5-5', max_tokens: 500, messages: 'x'.repeat(400) });
  const { tokens, estimated } = rig.settled[0]!;
  expect(estimated).toBe(true);
  expect(tokens.input).toBeGreaterThanOrEqual(50);
  expect(tokens.output).toBeGreaterThanOrEqual(12);
});

const GEMINI_USE = { promptTokenCount: 50, totalTokenCount: 50 };
it.each([
  ['messages', MESSAGES, { content: [], usage: { input_tokens: 50, output_tokens: 0 } }],
  [
    'chat',
    CHAT,
    { choices: [{ message: { content: '' } }], usage: { prompt_tokens: 50, completion_tokens: 0 } },
  ],
  ['responses', RESPONSES, { output: [], usage: { input_tokens: 50, output_tokens: 0 } }],
  ['generate', GENERATE, { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: GEMINI_USE }],
])(
  'a whole answer with no output that says so costs its input and is no estimate: %s',
  async (_, url, said) => {
    rig.serve((outgoing) => sendJson(outgoing, { id: 'x'.repeat(100), ...said }));
    await ask(await rig.open(), url, { model: 'claude-opus-5-5', max_tokens: 500 });
    expect(rig.settled[0]).toMatchObject({ tokens: { input: 50, output: 0 } });
    expect(rig.settled[0]).not.toHaveProperty('estimated');
  },
);

it('a whole stream with no output that says so costs its input and is no estimate', async () => {
  const start = { type: 'message_start', message: { usage: { input_tokens: 50, output_tokens: 0 } } };
  const end = { type: 'message_delta', usage: { output_tokens: 0 } };
  rig.serve((outgoing) => sendEvents(outgoing, events(start, end, { type: 'message_stop' })));
  await ask(await rig.open(), MESSAGES, { model: 'claude-opus-5-5', max_tokens: 500 });
  expect(rig.settled[0]).toMatchObject({ tokens: { input: 50, output: 0 } });
  expect(rig.settled[0]).not.toHaveProperty('estimated');
});

it('a count of 0 for an answer that has output is not believed', async () => {
  const usage = { input_tokens: 50, output_tokens: 0 };
  rig.serve((outgoing) => sendJson(outgoing, { content: [{ type: 'text', text: 'x'.repeat(400) }], usage }));
  const door = await rig.open();
  await ask(door, MESSAGES, { model: 'claude-opus-5-5', max_tokens: 500 });
  const start = { type: 'message_start', message: { usage } };
  const delta = { type: 'content_block_delta', delta: { text: 'word' } };
  const end = { type: 'message_delta', usage };
  const words = Array.from({ length: 100 }, () => delta);
  rig.serve((outgoing) => sendEvents(outgoing, events(start, ...words, end)));
  await ask(door, MESSAGES, { model: 'claude-opus-5-5', max_tokens: 500 });
  for (const use of rig.settled) {
    expect(use).toMatchObject({ estimated: true });
    expect(use!.tokens.output).toBeGreaterThanOrEqual(100);
  }
});
