/** The scripted model server, asked by a plain client in every dialect. */
import { describe, expect, it } from 'vitest';
import type { ModelScriptSource } from '../src/model-server/script.ts';
import { startModelServer, type ModelServer } from '../src/model-server/server.ts';

const TOOLS = {
  write: { type: 'object', properties: { file_path: { type: 'string' }, content: { type: 'string' } } },
  bash: {
    type: 'object',
    properties: { command: { type: 'string' }, description: { type: 'string' } },
    required: ['command', 'description'],
  },
};
const HELLO: ModelScriptSource = {
  answers: [{ write: { path: 'hello.txt', content: 'hi' } }, { text: 'All is done now, in several pieces.' }],
};
const USAGE = { input: 7, output: 11, cacheRead: 13, cacheWrite: 17 };

/** What a dialect's client sends: a prompt, as many answers as `turn`, and the tools of an agent. */
interface Dialect {
  path: (isStream: boolean) => string;
  body: (turn: number, isStream: boolean, prompt?: string) => object;
  /** Name and input of each call, and the text, as a client puts them together again. */
  read: (events: any[], isStream: boolean) => { text: string; calls: [string, any][]; usage: object };
  usage: object;
}

const anthropic: Dialect = {
  path: () => '/v1/messages',
  body: (turn, stream, prompt = 'go') => ({
    model: 'claude-x',
    stream,
    system: 'Primary working directory: /srv/place',
    messages: talk(turn, prompt).map(([role, content]) => ({ role, content })),
    tools: [
      { name: 'Write', input_schema: TOOLS.write },
      { name: 'Bash', input_schema: TOOLS.bash },
    ],
  }),
  read: (events, isStream) => {
    if (!isStream) {
      const [{ content, usage }] = events;
      const calls = content.filter((part: any) => part.type === 'tool_use');
      return {
        text: content.map((part: any) => part.text ?? '').join(''),
        calls: calls.map(({ name, input }: any) => [name, input]),
        usage,
      };
    }
    const blocks: any[] = [];
    for (const { type, index, content_block, delta } of events) {
      if (type === 'content_block_start') blocks[index] = { ...content_block, json: '' };
      if (type === 'content_block_delta') blocks[index].text += delta.text ?? '';
      if (type === 'content_block_delta') blocks[index].json += delta.partial_json ?? '';
    }
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    return {
      text: blocks.map(({ type, text }) => (type === 'text' ? text : '')).join(''),
      calls: calls.map(({ name, json }) => [name, JSON.parse(json)]),
      usage: events.find(({ type }) => type === 'message_delta').usage,
    };
  },
  usage: {
    input_tokens: 7,
    output_tokens: 11,
    cache_read_input_tokens: 13,
    cache_creation_input_tokens: 17,
  },
};

const chat: Dialect = {
  path: () => '/chat/completions',
  body: (turn, stream, prompt = 'go') => ({
    model: 'gpt-x',
    stream,
    stream_options: { include_usage: true },
    messages: [
      { role: 'system', content: '<env>\n  Working directory: /srv/place\n</env>' },
      ...talk(turn, prompt).map(([role, content]) => ({ role, content })),
    ],
    tools: Object.entries(TOOLS).map(([name, parameters]) => ({
      type: 'function',
      function: { name, parameters },
    })),
  }),
  read: (events, isStream) => {
    const deltas = events.flatMap(({ choices }) =>
      choices.map((choice: any) => (isStream ? choice.delta : choice.message)),
    );
    const calls: [string, string][] = [];
    for (const call of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
      const index = call.index ?? calls.length;
      calls[index] ??= [call.function.name, ''];
      calls[index][1] += call.function.arguments;
    }
    return {
      text: deltas.map(({ content }) => content ?? '').join(''),
      calls: calls.map(([name, json]) => [name, JSON.parse(json)]),
      usage: events.at(-1).usage,
    };
  },
  usage: {
    prompt_tokens: 37,
    completion_tokens: 11,
    total_tokens: 48,
    prompt_tokens_details: { cached_tokens: 13 },
  },
};

const responses: Dialect = {
  path: () => '/v1/responses',
  body: (turn, stream, prompt = 'go') => ({
    model: 'gpt-x',
    stream,
    input: [
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: '<environment_context>\n<cwd>/srv/place</cwd>' }],
      },
      ...talk(turn, prompt).map(([role, text]) => ({
        type: 'message',
        role,
        content: [{ type: 'text', text }],
      })),
    ],
    tools: Object.entries(TOOLS).map(([name, parameters]) => ({ type: 'function', name, parameters })),
  }),
  read: (events, isStream) => {
    const response = isStream ? events.at(-1).response : events[0];
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    if (isStream) expect(done).toEqual(response.output);
    const told = events.filter(({ type }) => type === 'response.output_text.delta');
    const whole = response.output.flatMap((item: any) => item.content ?? []).map((part: any) => part.text);
    return {
      text: isStream ? told.map(({ delta }) => delta).join('') : whole.join(''),
      calls: response.output
        .filter(({ type }: any) => type === 'function_call')
        .map((item: any) => [item.name, JSON.parse(item.arguments)]),
      usage: response.usage,
    };
  },
  usage: {
    input_tokens: 37,
    input_tokens_details: { cached_tokens: 13 },
    output_tokens: 11,
    total_tokens: 48,
  },
};

const gemini: Dialect = {
  path: (isStream) =>
    `/v1beta/models/gemini-x:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: (turn, _, prompt = 'go') => ({
    contents: [
      {
        role: 'user',
        parts: [{ text: '<session_context>\n- **Workspace Directories:**\n  - /srv/place\n' }],
      },
      ...talk(turn, prompt).map(([role, text]) => ({
        role: role === 'assistant' ? 'model' : 'user',
        parts: [{ text }],
      })),
    ],
    tools: [
      {
        functionDeclarations: Object.entries(TOOLS).map(([name, schema]) => ({
          name: name === 'write' ? 'write_file' : 'run_shell_command',
          parametersJsonSchema: schema,
        })),
      },
    ],
  }),
  read: (events) => {
    const parts = events.flatMap(({ candidates }) => candidates[0].content.parts);
    return {
      text: parts.map(({ text }) => text ?? '').join(''),
      calls: parts
        .filter((part) => part.functionCall)
        .map(({ functionCall: { name, args } }) => [name, args]),
      usage: events.at(-1).usageMetadata,
    };
  },
  usage: {
    promptTokenCount: 37,
    candidatesTokenCount: 11,
    totalTokenCount: 48,
    cachedContentTokenCount: 13,
  },
};

const DIALECTS = Object.entries({ anthropic, chat, responses, gemini });
const WAYS = DIALECTS.flatMap(([name, dialect]) =>
  [true, false].map((isStream) => [name, isStream ? 'streamed' : 'whole', dialect, isStream] as const),
);

describe.each(WAYS)('%s, %s', (_name, _way, dialect, isStream) => {
  it('writes the file where the agent works, with the tool that the agent has, and then says it is done', async () => {
    await using server = await startModelServer({ script: HELLO });
    const first = await ask(server, dialect, isStream, 0);
    expect(first.calls).toEqual([
      [expect.stringMatching(/^write(_file)?$/i), { file_path: '/srv/place/hello.txt', content: 'hi' }],
    ]);
    const second = await ask(server, dialect, isStream, 1);
    expect(second).toMatchObject({ calls: [], text: 'All is done now, in several pieces.' });
    expect(server.requests.map(({ rule, turn }) => [rule, turn])).toEqual([
      ['answers[0]', 0],
      ['answers[1]', 1],
    ]);
  });

  it('tells what was used in its own fields', async () => {
    await using server = await startModelServer({ script: { rules: [{ text: 'x', usage: USAGE }] } });
    expect((await ask(server, dialect, isStream, 0)).usage).toMatchObject(dialect.usage);
  });

  it('has text and several calls in one answer, with all that a tool demands', async () => {
    const script = { rules: [{ text: 'So: ü€😀', run: "echo 'a b'", write: { path: '/x', content: '1' } }] };
    await using server = await startModelServer({ script });
    const { text, calls } = await ask(server, dialect, isStream, 0);
    expect(text).toBe('So: ü€😀');
    expect(calls.map(([, input]) => input)).toEqual([
      { file_path: '/x', content: '1' },
      { command: "echo 'a b'", description: 'scripted' },
    ]);
  });

  it.each([401, 429, 500, 529])('refuses with %i, and says when to come back', async (status) => {
    const script = {
      rules: [{ fault: status, 'retry-after': '1500ms', text: 'not now', times: 1 }, { text: 'ok' }],
    };
    await using server = await startModelServer({ script });
    const response = await post(server, dialect, isStream, 0);
    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(response.headers.get('retry-after-ms')).toBe('1500');
    expect(await response.json()).toMatchObject({ error: { message: 'not now' } });
    expect((await ask(server, dialect, isStream, 0)).text).toBe('ok');
  });

  it('breaks off before the first byte, and in the middle', async () => {
    const script: ModelScriptSource = {
      answers: [{ fault: 'cut-before' }, { fault: 'cut', text: 'long '.repeat(50) }],
    };
    await using server = await startModelServer({ script });
    await expect(post(server, dialect, isStream, 0)).rejects.toThrow('fetch failed');
    const response = await post(server, dialect, isStream, 0);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
  });

  it('stalls after half of the answer, and hangs without one, until the client goes', async () => {
    const script: ModelScriptSource = {
      answers: [{ fault: 'stall', text: 'long '.repeat(50) }, { fault: 'hang' }],
    };
    await using server = await startModelServer({ script });
    const stalled = await post(server, dialect, isStream, 0, AbortSignal.timeout(200));
    const reader = stalled.body!.getReader();
    expect((await reader.read()).value!.length).toBeGreaterThan(10);
    await expect(drained(reader)).rejects.toThrow('aborted due to timeout');
    await expect(post(server, dialect, isStream, 0, AbortSignal.timeout(100))).rejects.toThrow('timeout');
  });

  it('answers with bytes that nobody can read, and with broken JSON', async () => {
    await using server = await startModelServer({
      script: { answers: [{ fault: 'garbage' }, { fault: 'bad-json', text: 'long '.repeat(50) }] },
    });
    for (const fault of ['garbage', 'bad-json']) {
      const response = await post(server, dialect, isStream, 0);
      expect(response.status, fault).toBe(200);
      const text = await response.text();
      expect(() => eventsOf(text, isStream), fault).toThrow(SyntaxError);
    }
  });

  it('takes the time that it is told to take', async () => {
    const slow = { text: 'a'.repeat(24 * 4), delay: '60ms', 'chunk-delay': '20ms' };
    await using server = await startModelServer({ script: { rules: [slow] } });
    const startMs = performance.now();
    const response = await post(server, dialect, isStream, 0);
    expect(performance.now() - startMs).toBeGreaterThan(58);
    await response.text();
    expect(performance.now() - startMs).toBeGreaterThan(isStream ? 58 + 3 * 19 : 58);
  });
});

function talk(turn: number, prompt: string): [role: string, text: string][] {
  const rest = Array.from({ length: turn }, (_, n): [string, string][] => [
    ['assistant', `answer ${n}`],
    ['user', 'go on'],
  ]);
  return [['user', prompt], ...rest.flat()];
}

function post(server: ModelServer, dialect: Dialect, isStream: boolean, turn: number, signal?: AbortSignal) {
  return fetch(`${server.url}${dialect.path(isStream)}`, {
    method: 'POST',
    body: JSON.stringify(dialect.body(turn, isStream)),
    ...(signal && { signal }),
  });
}

async function ask(server: ModelServer, dialect: Dialect, isStream: boolean, turn: number) {
  const response = await post(server, dialect, isStream, turn);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(isStream ? 'text/event-stream' : 'application/json');
  return dialect.read(eventsOf(await response.text(), isStream), isStream);
}

function eventsOf(text: string, isStream: boolean): any[] {
  if (!isStream) return [JSON.parse(text)];
  return text
    .trimEnd()
    .split('\n\n')
    .flatMap((event) => {
      const { type, data } = /^(?:event: (?<type>.+)\n)?data: (?<data>.+)$/.exec(event)?.groups ?? {};
      if (data === undefined) throw new SyntaxError(`no event: ${event}`);
      if (data === '[DONE]') return [];
      const parsed = JSON.parse(data);
      if (type !== undefined) expect(parsed.type).toBe(type);
      return [parsed];
    });
}

async function drained(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  while (!(await reader.read()).done);
}
