/** What a script can say, and the command that plays it. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ModelScript, type ModelScriptSource } from '../src/model-server/script.ts';
import { startModelServer, type ModelServer } from '../src/model-server/server.ts';
import { start } from './fixtures/cli.ts';

describe('rules', () => {
  it('answer where all of their conditions hold, the first of them', async () => {
    await using server = await startModelServer({
      script: {
        rules: [
          { when: { dialect: 'gemini' }, text: 'dialect' },
          { when: { model: 'claude-*-mini' }, text: 'model' },
          { when: { user: 'blue', turn: 1 }, text: 'user at turn' },
          { when: { 'tool-result': 'exit 1' }, text: 'result' },
          { when: { conversation: 'secret word' }, text: 'conversation' },
        ],
        answers: [{ text: 'first' }, { text: 'second' }],
      },
    });
    expect(await say(server, {})).toBe('first');
    expect(await say(server, { model: 'claude-x-mini' })).toBe('model');
    expect(await say(server, { model: 'x-claude-x-mini' })).toBe('first');
    expect(await say(server, { messages: [user('be blue')] })).toBe('first');
    expect(await say(server, { messages: [user('red'), model('so'), user('be blue')] })).toBe('user at turn');
    expect(await say(server, { messages: [user('be blue'), model('so'), user('red')] })).toBe('second');
    expect(await say(server, { messages: [user('be blue'), model('so'), tool('fine')] })).toBe(
      'user at turn',
    );
    expect(await say(server, { messages: [user('a'), model('so'), tool('it was exit 1')] })).toBe('result');
    expect(await say(server, { messages: [tool('exit 1'), model('so'), user('x')] })).toBe('second');
    expect(await say(server, { system: 'the secret word', messages: [user('x')] })).toBe('conversation');
  });

  it('with times hold so often, and faults among answers take no turn', async () => {
    await using server = await startModelServer({
      script: {
        rules: [{ when: { user: 'twice' }, text: 'rule', times: 2 }],
        answers: [{ fault: 503, times: 2 }, { text: 'first' }, { fault: 429 }, { text: 'second' }],
      },
    });
    const twice = { messages: [user('twice')] };
    expect([await say(server, twice), await say(server, twice)]).toEqual(['rule', 'rule']);
    expect([await say(server, twice), await say(server, {}), await say(server, {})]).toEqual([
      503,
      503,
      'first',
    ]);
    const later = { messages: [user('a'), model('b'), user('c')] };
    expect([await say(server, later), await say(server, later)]).toEqual([429, 'second']);
  });

  it('need no memory: parallel conversations and repeated requests get the answer of their own turn', async () => {
    await using server = await startModelServer({
      script: { answers: [{ text: '0' }, { text: '1' }, { text: '2' }] },
    });
    const at = (turn: number) => ({
      messages: [user('a'), ...Array.from({ length: turn }, () => [model('b'), tool('c')]).flat()],
    });
    const turns = [2, 0, 1, 0, 2, 2, 1, 0, 3];
    const said = await Promise.all(turns.map((turn) => say(server, at(turn))));
    expect(said).toEqual(['2', '0', '1', '0', '2', '2', '1', '0', 'Done.']);
  });

  it('do not count what an agent adds to what a person says', async () => {
    await using server = await startModelServer({
      script: { rules: [{ when: { user: 'blue' }, text: 'person' }, { text: 'nobody' }] },
    });
    const reminded = [user('<system-reminder>be blue</system-reminder>'), user('hello')];
    expect(await say(server, { messages: reminded })).toBe('nobody');
  });
});

describe('requests beside the work', () => {
  const script: ModelScriptSource = { rules: [{ text: 'scripted work', times: 1 }] };

  it('get a harmless answer in the form they ask for, and leave the script as it was', async () => {
    await using server = await startModelServer({ script });
    const format = {
      schema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
    };
    const title = { system: 'Generate a concise title.', output_config: { format } };
    expect(JSON.parse(String(await say(server, title)))).toEqual({ title: 'scripted' });
    expect(await say(server, {})).toBe('scripted work');
    expect(server.requests.map(({ rule }) => rule)).toEqual(['side', 'rules[0]']);
  });

  it('are those that offer no tools where the answer needs one', async () => {
    await using server = await startModelServer({ script: { rules: [{ run: 'make', times: 1 }] } });
    expect(await say(server, {})).toBe('Scripted');
    const refused = await post(server, { tools: [{ name: 'Read', input_schema: {} }] });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('none of the tools that are offered can do what rules[0] says; offered: Read'),
    ]);
    const shell = { name: 'Bash', input_schema: { properties: { command: {} } } };
    expect(await calls(server, { tools: [shell] })).toEqual([{ name: 'Bash', input: { command: 'make' } }]);
    expect(server.requests.map(({ rule }) => rule)).toEqual(['side', 'no-tool', 'rules[0]']);
  });

  it('may offer one tool that takes programs, in what comes with the conversation, as Codex does', async () => {
    await using server = await startModelServer({
      script: { answers: [{ run: 'make' }, { write: { path: 'a', content: 'b\n' } }] },
    });
    const declare = (what: string): string =>
      `### \`x\`\n\`\`\`ts\ndeclare const tools: { ${what}: Promise<unknown>; };\n\`\`\`\n`;
    const description =
      declare('apply_patch(input: string)') +
      declare('exec_command(args: {\n  // Shell command to execute.\n  cmd: string;\n  tty?: boolean;\n})');
    const tools = [
      { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec', description }] },
    ];
    const offered = { type: 'additional_tools', role: 'developer', tools };
    const asked = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go.' }] };
    const done = { type: 'custom_tool_call', call_id: 'c', name: 'exec', input: 'x' };
    const given = { type: 'custom_tool_call_output', call_id: 'c', output: 'ok' };
    const told: unknown[] = [];
    for (const input of [
      [offered, asked],
      [offered, asked, done, given],
    ]) {
      const body = JSON.stringify({ model: 'gpt-x', input });
      const response = await fetch(`${server.url}/v1/responses`, { method: 'POST', body });
      const { output } = (await response.json()) as { output: Record<string, unknown>[] };
      told.push(
        output.map(({ type, name, namespace, input: program }) => ({ type, name, namespace, program })),
      );
    }
    const call = { type: 'custom_tool_call', name: 'exec', namespace: 'functions' };
    const patch = '*** Begin Patch\n*** Add File: a\n+b\n*** End Patch\n';
    expect(told).toEqual([
      [{ ...call, program: 'text(await tools.exec_command({"cmd":"make"}));' }],
      [{ ...call, program: `text(await tools.apply_patch(${JSON.stringify(patch)}));` }],
    ]);
  });

  it('count tokens and list models', async () => {
    await using server = await startModelServer({ script });
    const counted = await fetch(`${server.url}/v1/messages/count_tokens`, {
      method: 'POST',
      body: '{"a":"bcde"}',
    });
    expect(await counted.json()).toEqual({ input_tokens: 3 });
    const listed = (await (await fetch(`${server.url}/v1/models`)).json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toContain('claude-scripted');
    const missing = await fetch(`${server.url}/v1/other`);
    expect(missing.status).toBe(404);
  });
});

describe('calls of tools', () => {
  const named = (name: string): object => ({ name, input_schema: {} });

  it('by name find the tool of a server behind whatever the agent puts before it', async () => {
    const script = { rules: [{ tools: [{ name: 'publish', input: { a: 1 } }, { name: 'Nobody' }] }] };
    await using server = await startModelServer({ script });
    expect(await calls(server, { tools: [named('Read'), named('mcp__bosun__publish')] })).toEqual([
      { name: 'mcp__bosun__publish', input: { a: 1 } },
      { name: 'Nobody', input: {} },
    ]);
  });

  it('give structured output by the tool for it, else as text', async () => {
    await using server = await startModelServer({ script: { rules: [{ output: { ok: true } }] } });
    expect(await calls(server, { tools: [named('StructuredOutput')] })).toEqual([
      { name: 'StructuredOutput', input: { ok: true } },
    ]);
    expect(await say(server, { tools: [named('Bash')] })).toBe('{"ok":true}');
  });

  it('are patches where the agent has no other way to change a file', async () => {
    const script: ModelScriptSource = {
      answers: [
        { write: { path: 'a.txt', content: 'one\ntwo\n' } },
        { edit: { path: 'a.txt', old: 'two', new: '2' } },
        { write: { path: 'it is/b', content: "it's" } },
      ],
    };
    await using server = await startModelServer({ script });
    const shell = { type: 'function', name: 'exec_command', parameters: { properties: { cmd: {} } } };
    const ask = async (turn: number, tools: object[]) => {
      const said = Array.from({ length: turn }, () => [
        { type: 'message', role: 'assistant', content: 'both are one turn' },
        { type: 'function_call', arguments: '{}' },
        { type: 'function_call_output', output: '' },
      ]);
      const body = JSON.stringify({
        model: 'm',
        input: [{ role: 'user', content: 'go' }, ...said.flat()],
        tools,
      });
      const response = await fetch(`${server.url}/responses`, { method: 'POST', body });
      return ((await response.json()) as { output: { arguments: string; input: string }[] }).output[0]!;
    };
    const patch = '*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch\n';
    expect((await ask(0, [{ type: 'custom', name: 'apply_patch' }])).input).toBe(patch);
    const cmd = `apply_patch <<'EOF'\n${patch}EOF`;
    expect(JSON.parse((await ask(0, [shell])).arguments)).toEqual({ cmd });
    expect(JSON.parse((await ask(1, [shell])).arguments).cmd).toContain('\n@@\n-two\n+2\n');
    expect(JSON.parse((await ask(2, [shell])).arguments)).toEqual({
      cmd: `mkdir -p 'it is' && printf %s 'it'\\''s' > 'it is/b'`,
    });
  });
});

describe('the page on the model server', () => {
  const page = readFileSync('docs/model-server.md', 'utf8');
  const scripts = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1]!);

  it.each(scripts)('has a valid script: %s', (script) => {
    expect(ModelScript.safeParse(parse(script)).error).toBeUndefined();
  });

  it('has all fields, and no other', () => {
    const rule = ModelScript.shape.rules.unwrap().element;
    const { when, answers: _, ...answer } = rule.shape;
    const fields = [...page.matchAll(/^\| `([a-z-]+)` +\|/gm)].map((match) => match[1]!);
    const faults = answer.fault.unwrap().options[1].options;
    const known = [...Object.keys(when.unwrap().shape), 'when', ...Object.keys(answer), ...faults];
    expect(fields.toSorted()).toEqual([...known, 'fault'].sort());
  });
});

describe('limits', () => {
  it('keep the latest requests only', async () => {
    await using server = await startModelServer({ script: { rules: [{ text: 'ok' }] } });
    for (let n = 0; n < 42; n++) await Promise.all(Array.from({ length: 50 }, () => say(server, {})));
    expect(server.requests).toHaveLength(2000);
    expect(server.requests.at(-1)!.n).toBe(2100);
  });

  it('make a huge answer that has an end', async () => {
    await using server = await startModelServer({ script: { rules: [{ fault: 'huge' }] } });
    expect(String(await say(server, {})).length).toBeGreaterThan(16 * 1024 * 1024);
  });

  it('refuse a body that is no JSON, or nested without end', async () => {
    await using server = await startModelServer({ script: { rules: [{ text: 'ok' }] } });
    const response = await fetch(`${server.url}/v1/messages`, { method: 'POST', body: '{"model":' });
    expect(response.status).toBe(400);
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const nested = await fetch(`${server.url}/v1/messages`, { method: 'POST', body: `{"system":${deep}}` });
    expect(nested.status).toBe(400);
  });
});

describe('bosun model-server', () => {
  it('prints where to ask, then a line for each request without its key, until Ctrl-C', async () => {
    await using script = await scriptFile('answers: [{ text: "yes" }]\n');
    const { child, finished, prints } = start(script.directory, 'model-server', 'script.yaml', '--json');
    let stdout = '';
    child.stdout!.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    await prints('GOOGLE_GEMINI_BASE_URL');
    const { url, env } = JSON.parse(stdout) as { url: string; env: Record<string, string> };
    expect(env).toEqual({
      ANTHROPIC_BASE_URL: url,
      OPENAI_BASE_URL: `${url}/v1`,
      GOOGLE_GEMINI_BASE_URL: url,
    });
    const response = await fetch(`${env.OPENAI_BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer a-real-key' },
      body: JSON.stringify({ model: 'm', messages: [user('hello')] }),
    });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'yes' } }] });
    await prints('answers[0]');
    child.kill('SIGINT');
    const ended = await finished;
    expect(ended.code).toBe(0);
    const line: unknown = JSON.parse(ended.stdout.split('\n')[1]!);
    expect(line).toMatchObject({
      n: 1,
      dialect: 'openai',
      model: 'm',
      turn: 0,
      rule: 'answers[0]',
      status: 200,
    });
    expect(ended.stdout + ended.stderr).not.toContain('a-real-key');
  });

  it('says what is wrong with a script, and where', async () => {
    await using script = await scriptFile('rules:\n  - when: { usr: x }\n    fault: hung\n');
    const { finished } = start(script.directory, 'model-server', 'script.yaml');
    const { code, stderr } = await finished;
    expect(code).toBe(2);
    expect(stderr).toContain(
      'script.yaml:2:13: unknown field "usr" in "rules[0].when"; did you mean "user"?',
    );
    expect(stderr).toContain(
      'script.yaml:3:12: "rules[0].fault" must be a status from 400 to 599, or one of hang,',
    );
  });
});

function user(text: string): object {
  return { role: 'user', content: text };
}
function model(text: string): object {
  return { role: 'assistant', content: [{ type: 'text', text }] };
}
function tool(text: string): object {
  return {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text }] }],
  };
}

interface Content {
  type: string;
  text?: string;
  name?: string;
  input?: unknown;
}

function post(server: ModelServer, body: object): Promise<Response> {
  const whole = { model: 'claude-x', messages: [user('hello')], ...body };
  return fetch(`${server.url}/v1/messages`, { method: 'POST', body: JSON.stringify(whole) });
}

async function contentOf(server: ModelServer, body: object): Promise<Content[] | number> {
  const response = await post(server, body);
  const answer = (await response.json()) as { content: Content[] };
  return response.status === 200 ? answer.content : response.status;
}

/** The text of the answer, or its status. */
async function say(server: ModelServer, body: object): Promise<string | number> {
  const content = await contentOf(server, body);
  return typeof content === 'number' ? content : content.map(({ text }) => text).join('');
}

async function calls(server: ModelServer, body: object): Promise<object[]> {
  const content = (await contentOf(server, body)) as Content[];
  return content.map(({ name, input }) => ({ name, input }));
}

async function scriptFile(text: string): Promise<{ directory: string } & AsyncDisposable> {
  const directory = await mkdtemp(path.join(tmpdir(), 'bosun-script-'));
  await writeFile(path.join(directory, 'script.yaml'), text);
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}
