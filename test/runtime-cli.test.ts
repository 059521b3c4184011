import { describe, expect, it } from 'vitest';
import type { AgentEvent, JsonSchema } from '../src/contract/model.ts';
import { Agent, type Agent as AgentType } from '../src/contract/workflow.ts';
import { cli } from '../src/runtime/cli/cli.ts';
import type { Result } from '../src/runtime/runtime.ts';
import { Bench } from './fixtures/runtime-job.ts';

async function ran(
  agent: Partial<AgentType>,
  prompt = 'hello',
  schema?: JsonSchema,
): Promise<{ result: Result; events: AgentEvent[] }> {
  await using bench = new Bench();
  const { job, events } = bench.job('http://127.0.0.1:9', { runtime: 'cli', ...agent }, { prompt, schema });
  return { result: await cli.run(job), events };
}

/** Prints its arguments, one a line, then its stdin. */
const ECHO = ['/bin/sh', '-c', 'printf "<%s>\\n" "$@"; cat', 'sh'];

describe('an agent that is a command', () => {
  it('gets its prompt as one word, whatever is in it, and then not on stdin', async () => {
    const prompt = 'a "b" $(touch evil) `id`\n; --flag {model}';
    const { result } = await ran({ command: [...ECHO, '-p', '{prompt}', '--p={prompt}'] }, prompt);
    expect(result.output).toBe(`<-p>\n<${prompt}>\n<--p=${prompt}>`);
  });

  it('gets its prompt in a file, and its model', async () => {
    const command = ['/bin/sh', '-c', 'cat "$1"; echo " $2"', 'sh', '{prompt-file}', '{model}'];
    expect((await ran({ command, model: 'm-1' })).result.output).toBe('hello m-1');
  });

  it('gets its prompt on stdin where no word stands for it', async () => {
    expect((await ran({ command: [...ECHO, '{other}', 'x{prompt}'] })).result.output).toBe(
      '<{other}>\n<x{prompt}>\nhello',
    );
  });

  it('never has its prompt in the text of a shell', async () => {
    const { result } = await ran({ command: 'echo {prompt}; cat "$BOSUN_PROMPT"' }, '$(echo evil)');
    expect(result.output).toBe('{prompt}\n$(echo evil)');
    const words = await ran({ command: ['/bin/sh', '-c', 'echo {prompt}'] }, '; echo evil');
    expect(words.result.output).toBe('{prompt}');
  });

  it('gives what it prints as text, and as JSON where a structure was asked for', async () => {
    const agent = { command: ['/bin/sh', '-c', 'echo "{\\"tasks\\": {}}"'] };
    expect((await ran(agent)).result.output).toBe('{"tasks": {}}');
    expect((await ran(agent, 'hello', { type: 'object' })).result.output).toEqual({ tasks: {} });
    const number = { command: ['/bin/sh', '-c', 'echo 42'] };
    expect((await ran(number, 'hello', { type: 'string' })).result.output).toBe('42');
    const prose = { command: ['/bin/sh', '-c', 'echo "{ no JSON"'] };
    expect((await ran(prose, 'hello', { type: 'object' })).result.output).toBe('{ no JSON');
  });

  it('is not started where a word stands for nothing', async () => {
    const { result } = await ran({ command: ['echo', '{model}'] });
    expect(result.outcome).toMatchObject({ kind: 'failed', reason: 'start' });
    expect((result.outcome as { message: string }).message).toContain('its agent has no "model"');
  });

  it.each([
    [
      'regular expressions',
      'echo "in: 1 out: 2"; echo "in: 1,200 out: 30" >&2; echo "cost \\$0.05"',
      { 'input-tokens': 'in: ([\\d,]+)', usd: 'cost \\$([\\d.]+)' },
      { input: 1, output: 0, usd: 0.05 },
    ],
    [
      'a path in a line',
      'echo "{\\"u\\":[{\\"i\\":5}],\\"o\\":7}"; echo bye',
      { 'input-tokens': '$.u[0].i', 'output-tokens': '$.o' },
      { input: 5, output: 7 },
    ],
    [
      'a path in all of it',
      'printf "{\\n\\"o\\":\\n7}"',
      { 'output-tokens': '$.o' },
      { input: 0, output: 7 },
    ],
  ])(
    'says what it used: %s',
    async (_, command, usage, { usd, ...tokens }: { input: number; output: number; usd?: number }) => {
      const { events } = await ran({ command, usage });
      expect(events).toEqual([
        {
          kind: 'usage',
          tokens: { ...tokens, cacheRead: 0, cacheWrite: 0 },
          ...(usd !== undefined && { usd }),
        },
      ]);
    },
  );

  it('claims nothing where it says nothing, or no number', async () => {
    const usage = { 'input-tokens': 'in: (\\S+)', 'output-tokens': '$.__proto__.x', usd: '$.usd' };
    const { events } = await ran({ command: 'echo "in: many"; echo "{\\"usd\\":-1}"', usage });
    expect(events).toEqual([]);
  });

  it.each(['(a)(b)', 'a', '(', '$.', '$.a[x]', '(?<n>a)(b)'])('may not look for its use with %s', (rule) => {
    expect(Agent.safeParse({ runtime: 'cli', command: 'x', usage: { usd: rule } }).success).toBe(false);
  });
});

it('says so where an output has too many parts to be read as JSON', async () => {
  await using bench = new Bench();
  const command = `node -e 'console.log(JSON.stringify(Array.from({ length: 100001 }, () => [])))' > $BOSUN_OUTPUT`;
  const told = /output is JSON with more than 100,000 lists and objects.*kept as text/;
  const tried = bench.job('http://127.0.0.1:9', { runtime: 'cli', command });
  const { outcome, output } = await cli.run(tried.job);
  expect(outcome).toEqual({ kind: 'done' });
  expect(output).toMatch(/^\[\[\],/);
  expect(tried.printed.join('')).toMatch(told);
  const asked = bench.job('http://127.0.0.1:9', { runtime: 'cli', command }, { schema: { type: 'array' } });
  expect((await cli.run(asked.job)).outcome).toMatchObject({
    kind: 'failed',
    reason: 'output',
    message: expect.stringMatching(/more than 100,000 lists and objects/),
  });
  const text = bench.job('http://127.0.0.1:9', {
    runtime: 'cli',
    command: 'echo plain: text > $BOSUN_OUTPUT',
  });
  expect((await cli.run(text.job)).output).toBe('plain: text');
  expect(text.printed.join('')).toBe('');
});
