/** What a provider would fetch or run for an agent is behind the agent's fence, too. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mayReach } from '../src/egress/may-reach.ts';
import { ask, makeRig, sendJson, type Rig } from './fixtures/gateway.ts';

const MESSAGES = '/anthropic/v1/messages';
const CHAT = '/openai/chat/completions';
const RESPONSES = '/openai/responses';
const GENERATE = '/gemini/v1beta/models/gemini-2.5-pro:generateContent';
const BASH = { name: 'Bash', description: 'runs', input_schema: { type: 'object' } };
const FUNCTION = { type: 'function', name: 'shell', parameters: {} };
const DECLARED = { functionDeclarations: [{ name: 'shell' }] };
const EVIL = 'https://evil.test/x.png';
const DATA = 'data:image/png;base64,AAAA';

let rig: Rig;
beforeAll(async () => {
  rig = await makeRig();
  rig.serve((outgoing) => sendJson(outgoing, {}));
});
afterEach(() => rig.reset());
afterAll(() => rig[Symbol.asyncDispose]());

const user = (...content: unknown[]): unknown => [{ role: 'user', content }];
const sent = (): Record<string, unknown> => JSON.parse(rig.got.at(-1)!.body) as Record<string, unknown>;

describe('a tool that runs at the provider', () => {
  it.each<[string, string, Record<string, unknown>, unknown]>([
    ['web_search', MESSAGES, { tools: [BASH, { type: 'web_search_20250305', name: 'web_search' }] }, [BASH]],
    ['web_fetch', MESSAGES, { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }, BASH] }, [BASH]],
    ['code', MESSAGES, { tools: [{ type: 'code_execution_20250825', name: 'c' }, BASH] }, [BASH]],
    ['web_search', RESPONSES, { tools: [FUNCTION, { type: 'web_search' }] }, [FUNCTION]],
    ['mcp', RESPONSES, { tools: [{ type: 'mcp', server_url: 'https://x.test' }, FUNCTION] }, [FUNCTION]],
    ['code', RESPONSES, { tools: [{ type: 'code_interpreter', container: {} }, FUNCTION] }, [FUNCTION]],
    ['one of tomorrow', RESPONSES, { tools: [{ type: 'teleport' }, FUNCTION] }, [FUNCTION]],
    ['google_search', GENERATE, { tools: [DECLARED, { googleSearch: {} }] }, [DECLARED]],
    ['url_context', GENERATE, { tools: [{ ...DECLARED, url_context: {} }] }, [DECLARED]],
    ['codeExecution', GENERATE, { tools: [DECLARED, { codeExecution: {} }] }, [DECLARED]],
  ])('is taken out, and the rest goes on: %s of %s', async (_, url, body, kept) => {
    const denied: string[] = [];
    const door = await open({ onDenied: ({ host }) => denied.push(host) });
    for (const again of [body, body]) expect(await ask(door, url, again)).toMatchObject({ status: 200 });
    expect(sent().tools).toEqual(kept);
    expect(denied).toHaveLength(1); // told once
  });

  it('is taken out of tools within tools, and of those that come later', async () => {
    const search = { type: 'web_search' };
    const body = {
      tools: [{ type: 'namespace', name: 'n', tools: [FUNCTION, search] }],
      input: [{ type: 'additional_tools', role: 'developer', tools: [FUNCTION, search] }],
    };
    await ask(await open(), RESPONSES, body);
    expect(sent()).toEqual({
      tools: [{ type: 'namespace', name: 'n', tools: [FUNCTION] }],
      input: [{ type: 'additional_tools', role: 'developer', tools: [FUNCTION] }],
    });
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['Claude Code searches', MESSAGES, { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['Gemini searches', GENERATE, { tools: [{ google_search: {} }] }],
    ['the choice', RESPONSES, { tools: [FUNCTION, { type: 'mcp' }], tool_choice: { type: 'mcp' } }],
    ['an option', CHAT, { web_search_options: {} }],
    ['a plugin', CHAT, { plugins: [{ id: 'web' }] }],
    ['a plugin of a router', RESPONSES, { plugins: [{ id: 'web' }] }],
    ['a plugin of a router', MESSAGES, { plugins: [{ id: 'web' }] }],
    ['the model', CHAT, { model: 'gpt-5-search-api' }],
    ['the model of a router', RESPONSES, { model: 'x/y:online' }],
    ['the model of a router', MESSAGES, { model: 'x/y:online' }],
    ['the model of a reseller', CHAT, { model: 'x/y:online' }],
    ['a server', MESSAGES, { mcp_servers: [{ type: 'url', url: 'https://x.test/mcp', name: 'x' }] }],
    ['a container', MESSAGES, { container: { skills: [] } }],
  ])('that the request is all about makes it refused: %s', async (_, url, body) => {
    const answer = await ask(await open(), url, body);
    expect(answer.status).toBe(url.startsWith('/openai') ? 400 : 402);
    expect(answer.body).toMatch(/past its fence; to allow it, add/);
    expect(rig.got).toEqual([]);
    expect(rig.errors).toMatchObject([{ kind: 'bad-request' }]);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['models', CHAT, { models: ['openai/o1-pro:online'] }],
    ['models', RESPONSES, { models: ['openai/o1-pro'] }],
    ['fallbacks', CHAT, { fallbacks: [{ model: 'o1-pro' }] }],
    ['fallbacks', MESSAGES, { fallbacks: ['o1-pro'] }],
    ['api_base', CHAT, { api_base: 'https://x.test' }],
    ['extra_body', CHAT, { extra_body: { models: ['o1-pro'] } }],
  ])('is not chosen by a router either: %s in a request to %s is taken out', async (name, url, fields) => {
    const denied: string[] = [];
    const door = await open({ onDenied: ({ host }) => denied.push(host) });
    const plain = { model: 'gpt-5-nano', max_tokens: 50 };
    expect(await ask(door, url, { ...plain, ...fields })).toMatchObject({ status: 200 });
    expect(sent()).toEqual(plain);
    expect(denied).toEqual([expect.stringMatching(new RegExp(`^${name} of `))]);
  });

  it('passes where the user says so, and then a hard budget knows that nobody can bound it', async () => {
    const door = await open({}, { pass: { anthropic: ['TOOL web_search'] } });
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
    expect(await ask(door, MESSAGES, { tools })).toMatchObject({ status: 200 });
    expect(sent().tools).toEqual(tools);
    expect(rig.wishes).toMatchObject([{ isUnbounded: true }]);
  });

  it('leaves what the agent runs itself as it was', async () => {
    const tools = [
      BASH,
      { ...BASH, type: 'custom' },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'edit' },
      { type: 'computer_20250124', name: 'computer' },
    ];
    await ask(await open(), MESSAGES, { tools });
    expect(sent()).toEqual({ tools });
    expect(rig.wishes[0]).not.toHaveProperty('isUnbounded');
  });
});

describe('an address that the provider would fetch', () => {
  const bodies = (url: string): [string, Record<string, unknown>][] => [
    [MESSAGES, { messages: user({ type: 'image', source: { type: 'url', url } }) }],
    [MESSAGES, { messages: user({ type: 'document', source: { type: 'url', url } }) }],
    [
      MESSAGES,
      {
        messages: user({
          type: 'tool_result',
          tool_use_id: 't',
          content: [{ type: 'image', source: { type: 'url', url } }],
        }),
      },
    ],
    [CHAT, { messages: user({ type: 'image_url', image_url: { url } }) }],
    [CHAT, { messages: user({ type: 'file', file: { file_data: url } }) }],
    [RESPONSES, { input: user({ type: 'input_image', image_url: url }) }],
    [RESPONSES, { input: user({ type: 'input_file', file_url: url }) }],
    [
      RESPONSES,
      { input: [{ type: 'function_call_output', output: [{ type: 'input_image', image_url: url }] }] },
    ],
    [GENERATE, { contents: [{ parts: [{ fileData: { fileUri: url } }] }] }],
    [GENERATE, { contents: [{ parts: [{ file_data: { file_uri: url } }] }] }],
  ];

  it('is refused where the scope does not name its host, with what to add', async () => {
    const denied: unknown[] = [];
    const door = await open({ onDenied: (each) => denied.push(each) });
    for (const [url, body] of bodies('https://evil.test/x.png?secret=1')) {
      const answer = await ask(door, url, body);
      expect([url, answer.status]).toEqual([url, url.startsWith('/openai') ? 400 : 402]);
      expect(answer.body).toContain(String.raw`add \"evil.test\" to scope.network`);
    }
    expect(rig.got).toEqual([]);
    expect(denied).toEqual([{ host: 'evil.test', port: 443, why: 'anthropic would fetch it for the agent' }]);
  });

  it('passes where the scope names it, and pictures in the request itself always do', async () => {
    const door = await open({ mayReach: mayReach(['*.good.test']) });
    for (const address of ['https://a.good.test/x.png', 'http://a.good.test/', DATA])
      for (const [url, body] of bodies(address)) expect((await ask(door, url, body)).status).toBe(200);
    for (const address of ['https://a.good.test:8443/', 'gs://a.good.test/x', 'file:///etc/passwd', '//x'])
      for (const [url, body] of bodies(address).filter(
        ([, each]) => !JSON.stringify(each).includes('file_data'),
      ))
        expect((await ask(door, url, body)).status).not.toBe(200);
  });

  it('in what a tool was called with, or in what was cited, is nothing that is fetched', async () => {
    const url = 'https://evil.test/';
    const door = await open();
    const assistant = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't', name: 'Open', input: { image_url: url } }],
    };
    expect((await ask(door, MESSAGES, { messages: [assistant] })).status).toBe(200);
    const cited = {
      type: 'output_text',
      text: 'x',
      annotations: [{ type: 'url_citation', source_url: url }],
    };
    expect((await ask(door, RESPONSES, { input: user(cited) })).status).toBe(200);
    const called = { functionCall: { name: 'open', args: { fileUri: url } } };
    expect((await ask(door, GENERATE, { contents: [{ parts: [called] }] })).status).toBe(200);
  });
});

it.each<[string, string, Record<string, unknown>]>([
  ['a message that says it is a call', CHAT, { messages: [{ type: 'x_call', ...picture('user') }] }],
  ['a call with content', RESPONSES, { input: [{ type: 'function_call', ...picture('user') }] }],
  ['notes on an answer', CHAT, { messages: [{ role: 'user', content: 'x', annotations: [picture('x')] }] }],
  ['tools of a message', CHAT, { messages: [{ role: 'user', content: 'x', tools: [picture('x')] }] }],
  ['a schema of nobody', RESPONSES, { input: [{ type: 'message', output_schema: picture('x') }] }],
  ['arguments of nobody', GENERATE, { contents: [{ args: { fileData: { fileUri: EVIL } } }] }],
  ['a call that says more', GENERATE, { contents: [{ toolCall: { parts: [{ fileUri: EVIL }] } }] }],
  ['a response of nobody', GENERATE, { contents: [{ response: { fileData: { fileUri: EVIL } } }] }],
  ['what is embedded', '/openai/embeddings', { messages: [picture('user')] }],
  ['what is counted', '/anthropic/v1/messages/count_tokens', { messages: [picture('user')] }],
  ['servers', '/anthropic/v1/messages/count_tokens', { mcp_servers: [{ url: EVIL }] }],
  ['what is counted', '/openai/responses/input_tokens', { input: [picture('user')] }],
  [
    'what is counted',
    '/gemini/v1beta/models/g:countTokens',
    { generateContentRequest: { contents: [{ parts: [{ fileData: { fileUri: EVIL } }] }] } },
  ],
])('an address hides nowhere: %s, %s', async (_, url, body) => {
  const answer = await ask(await open(), url, body);
  expect(answer.body).toContain('past its fence');
  expect(rig.got).toEqual([]);
});

it.each<[string, string, Record<string, unknown>]>([
  ['Tools', RESPONSES, { input: 'x', Tools: [{ type: 'web_search' }] }],
  ['MCP_Servers', MESSAGES, { messages: [], MCP_Servers: [{ url: EVIL }] }],
  ['maxTokens', MESSAGES, { messages: [], maxTokens: 1 }],
  ['Image_URL', CHAT, { messages: user({ type: 'image_url', Image_URL: { url: EVIL } }) }],
  ['imageUrl', CHAT, { messages: user({ type: 'image_url', imageUrl: EVIL }) }],
  ['tool\u017f', MESSAGES, { messages: [], toolſ: [{ type: 'web_search_20250305' }] }],
  ['max_to\u212aens', CHAT, { messages: [], max_toKens: 9 }],
  ['\u017fource', MESSAGES, { messages: user({ type: 'image', ſource: { url: EVIL } }) }],
  ['Url', CHAT, { messages: user({ type: 'image_url', image_url: { Url: EVIL } }) }],
  ['URL', CHAT, { messages: user({ type: 'image_url', image_url: { url: DATA, URL: EVIL } }) }],
  ['Type', MESSAGES, { messages: user({ type: 'image', source: { Type: 'url', Url: EVIL } }) }],
  ['Type', MESSAGES, { messages: [], tools: [{ Type: 'web_fetch_20250910', name: 'web_fetch' }] }],
  ['TYPE', RESPONSES, { input: 'x', tools: [{ type: 'function', TYPE: 'web_search' }] }],
  ['Type', RESPONSES, { input: 'x', tools: [{ type: 'namespace', tools: [{ Type: 'web_search' }] }] }],
  ['Type', RESPONSES, { input: [{ type: 'additional_tools', tools: [{ Type: 'web_search' }] }] }],
  ['Type', RESPONSES, { input: 'x', tools: [{ type: 'shell', environment: { Type: 'container_auto' } }] }],
  ['Url', MESSAGES, { messages: [], mcp_servers: [{ type: 'url', url: DATA, Url: EVIL }] }],
  ['MaxOutputTokens', GENERATE, { contents: [], generationConfig: { MaxOutputTokens: 9 } }],
])('a field that some servers take for another is refused: %s', async (name, url, body) => {
  const answer = await ask(await open(), url, body);
  expect(answer.body).toContain(`may take \\"${name}\\" for`);
  expect(rig.got).toEqual([]);
});

it('what an agent calls the parameters of its own tools, and what it calls them with, is its own', async () => {
  const properties = {
    Url: { Type: 'string' },
    Content: {},
    toolſ: {},
    imageUrl: {},
    Id: {},
    URL: {},
    Type: {},
  };
  const parameters = { type: 'object', properties };
  const declared = { type: 'function', name: 'fetch', parameters, output_schema: parameters };
  const input = { Url: EVIL, Type: 'url' };
  const door = await open();
  const tool = { name: 'fetch', input_schema: parameters };
  const used = { type: 'tool_use', id: 't', name: 'fetch', input };
  const asked = [
    [MESSAGES, { messages: [{ role: 'assistant', content: [used] }], tools: [tool] }],
    [CHAT, { messages: [], tools: [{ type: 'function', function: { name: 'fetch', parameters } }] }],
    [
      RESPONSES,
      {
        input: [
          { type: 'tool_search_output', tools: [declared, { type: 'namespace', tools: [declared] }] },
          { type: 'mcp_list_tools', tools: [{ name: 'fetch', input_schema: parameters }] },
          { type: 'function_call', name: 'fetch', arguments: JSON.stringify(input) },
        ],
      },
    ],
    [GENERATE, { contents: [], tools: [{ functionDeclarations: [{ name: 'fetch', parameters }] }] }],
    ...['toolCall', 'tool_call'].map(
      (key) => [GENERATE, { contents: [{ parts: [{ [key]: { args: input } }] }] }] as const,
    ),
    ...['toolResponse', 'tool_response'].map(
      (key) => [GENERATE, { contents: [{ parts: [{ [key]: { response: input } }] }] }] as const,
    ),
  ] as const;
  for (const [url, body] of asked) await ask(door, url, body);
  expect(rig.errors).toEqual([]);
  expect(rig.got).toHaveLength(asked.length);
});

it.each<[string, string, Record<string, unknown>]>([
  ['a picture', CHAT, { messages: user({ type: 'image', image: EVIL }) }],
  ['the name of a file', CHAT, { messages: user({ type: 'file', file: { file_id: EVIL } }) }],
  ['a source of no type', MESSAGES, { messages: user({ type: 'image', source: { url: EVIL } }) }],
])('an address may not stand for %s', async (_, url, body) => {
  expect((await ask(await open(), url, body)).body).toContain('past its fence');
  expect(rig.got).toEqual([]);
});

it('what is fetched or kept has more tokens than the request has bytes', async () => {
  const door = await open({ mayReach: mayReach(['evil.test']) });
  await ask(door, CHAT, { messages: [picture('user')] });
  await ask(door, MESSAGES, { messages: user({ type: 'document', source: { type: 'file', file_id: 'f' } }) });
  await ask(door, MESSAGES, { messages: user({ type: 'text', text: 'x' }) });
  expect(rig.wishes.map(({ isUnbounded }) => isUnbounded)).toEqual([true, true, undefined]);
});

const PNG = 'iVBORw0KGgo=';
const PDF = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };

it.each<[string, string, Record<string, unknown>]>([
  ['a document', MESSAGES, { messages: user({ type: 'document', source: PDF }) }],
  [
    'one in the answer of a tool',
    MESSAGES,
    { messages: user({ type: 'tool_result', content: [{ source: PDF }] }) },
  ],
  [
    'a file',
    CHAT,
    { messages: user({ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }) },
  ],
  ['a file of no kind', RESPONSES, { input: user({ type: 'input_file', file_data: 'JVBERi0=' }) }],
  [
    'sound',
    CHAT,
    { messages: user({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }) },
  ],
  ['a film', GENERATE, { contents: [{ parts: [{ inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }] }] }],
  ['what is kept', RESPONSES, { input: [{ type: 'item_reference', id: 'msg_1' }] }],
  ['what is kept, by its id alone', RESPONSES, { input: [{ id: 'msg_1' }] }],
])('nobody can tell the tokens of %s, %s', async (_, url, body) => {
  await ask(await open(), url, body);
  expect(rig.wishes).toMatchObject([{ isUnbounded: true }]);
});

it.each<[string, Record<string, unknown>]>([
  [MESSAGES, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }],
  [CHAT, { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }],
  [RESPONSES, { type: 'input_image', image_url: `data:image/png;base64,${PNG}` }],
])('a picture may be as many tokens as some models take it for, %s', async (url, part) => {
  const [door, field] = [await open(), url === RESPONSES ? 'input' : 'messages'];
  await ask(door, url, { [field]: user(part) });
  await ask(door, url, { [field]: user(part, part) });
  const [one, two] = rig.wishes.map(({ tokensMax, tokens }) => tokensMax - tokens.output) as [number, number];
  expect(one).toBeGreaterThan(40_000);
  expect(two - one).toBeGreaterThan(40_000);
  expect(rig.wishes.map(({ isUnbounded }) => isUnbounded)).toEqual([undefined, undefined]);
});

it('a text that is called a document has a token per byte at most', async () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'hello' };
  const thought = { type: 'redacted_thinking', data: 'abc' };
  await ask(await open(), MESSAGES, { messages: user({ type: 'document', source }, thought) });
  expect(rig.wishes[0]!.isUnbounded).toBeUndefined();
  expect(rig.wishes[0]!.tokensMax - rig.wishes[0]!.tokens.output).toBeLessThan(1000);
});

it('a request of more parts than anybody means is refused before it is taken apart', async () => {
  const answer = await ask(await open(), MESSAGES, `{"messages":[${'{},'.repeat(200_000)}{}]}`);
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.body).toContain('too many parts');
  expect(rig.got).toEqual([]);
});

it('a key that stands twice is sent once, as it was judged', async () => {
  const tools = JSON.stringify([{ type: 'web_search_20250305', name: 'web_search' }, BASH]);
  await ask(await open(), MESSAGES, `{"tools":${tools},"max_tokens":9,"tools":[],"max_tokens":1}`);
  expect(rig.got[0]!.body).toBe('{"tools":[],"max_tokens":1}');
});

it.each([
  ['inside of another, behind its own name', '{"a":[{"":1,"x":":\\\\","x":2}]}', '{"a":[{"":1,"x":2}]}'],
  ['written in two ways', '{"max_tokens":9,"max\\u005ftokens":1}', '{"max_tokens":1}'],
  ['hidden by a call for a prototype', '{"__proto__":{"a":1,"a":2}}', '{"__proto__":{"a":2}}'],
])('a key that stands twice is found %s', async (_, sent, received) => {
  await ask(await open(), MESSAGES, sent);
  expect(rig.got[0]!.body).toBe(received);
});

it.each(['x-http-method-override', 'x-http-method', 'x-method-override'])(
  'no header changes what is asked for: %s',
  async (name) => {
    await ask(await open(), MESSAGES, { messages: [] }, { [name]: 'DELETE', 'x-other': 'kept' });
    expect(rig.got[0]!.headers).toMatchObject({ 'x-other': 'kept' });
    expect(rig.got[0]!.headers).not.toHaveProperty(name);
  },
);

it('a part of an item that has an id is nothing that the provider keeps', async () => {
  const checks = [{ id: 'sc_1', code: 'malicious', message: 'x' }];
  await ask(await open(), RESPONSES, { input: [{ type: 'computer_call', pending_safety_checks: checks }] });
  expect(rig.wishes[0]!.isUnbounded).toBeUndefined();
});

it('a body that every reader takes for the same is sent as it came', async () => {
  const sent =
    '{ "messages" : [ {"role":"user", "content":"\\u0041: \\"a\\":1, \\\\"} ], "tools": [], "n": 1.50 }';
  await ask(await open(), MESSAGES, sent);
  expect(rig.got[0]!.body).toBe(sent);
});

it.each(['"tool"', 'null', '{"type":"custom"},7'])(
  'tools that are none, as in %s, are not sent',
  async (tool) => {
    await ask(await open(), MESSAGES, `{"messages": [], "tools": [${tool}]}`);
    expect(rig.got[0]!.body).toBe(
      `{"messages":[],"tools":[${tool.startsWith('{') ? '{"type":"custom"}' : ''}]}`,
    );
  },
);

function picture(role: string): Record<string, unknown> {
  return { role, content: [{ type: 'image_url', image_url: { url: EVIL } }] };
}

type Denying = {
  mayReach?: (url: URL) => boolean;
  onDenied?: (denied: { host: string; port: number; why: string }) => void;
};

function open(caller: Denying = {}, options: Parameters<Rig['open']>[1] = {}): ReturnType<Rig['open']> {
  return rig.open(undefined, options, undefined, caller);
}
