import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startModelServer, type ModelServer } from '../src/model-server/server.ts';
import { ClaudeInput } from '../src/runtime/claude-code/input.ts';
import { SDK_VARIABLE } from '../src/runtime/claude-code/sdk.ts';
import { claudeCode } from '../src/runtime/claude-code/claude-code.ts';
import { runtimeCases } from './cases/runtime.case.ts';
import { person } from './fixtures/person.ts';
import { Bench, REAL_BIN } from './fixtures/runtime-job.ts';

const SDK = path.resolve(REAL_BIN, '../@anthropic-ai/claude-agent-sdk');
process.env[SDK_VARIABLE] = SDK;

const agent = { runtime: 'claude-code' as const };

runtimeCases('claude-code', () => ({ runtime: claudeCode, agent }));

describe('Claude Code', () => {
  let bench: Bench;
  let server: ModelServer | undefined;
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(async () => {
    process.env[SDK_VARIABLE] = SDK;
    await server?.[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  type Script = Parameters<typeof startModelServer>[0]['script'];
  const ran = async (script: Script, wish: Parameters<Bench['job']>[2] = {}, more: object = {}) => {
    server = await startModelServer({ script });
    const trial = bench.job(server.url, { ...agent, ...more }, wish);
    return { ...trial, result: await claudeCode.run(trial.job) };
  };
  const asked = (): string => JSON.stringify(server!.requests.map(({ body }) => body));
  const HELLO = {
    answers: [{ write: { path: 'hello.txt', content: 'hi\n' } }, { run: 'env > seen' }, { text: 'ok' }],
  };

  it('sees nothing of the environment of the engine', async () => {
    process.env.BOSUN_TEST_SECRET = 'tell nobody';
    await ran(HELLO);
    delete process.env.BOSUN_TEST_SECRET;
    expect(readFileSync(path.join(bench.workspace, 'seen'), 'utf8')).not.toContain('tell nobody');
  });

  it('leaves no listener on the signals that stop it', async () => {
    const { job } = await ran({ answers: [{ text: 'ok' }] });
    expect(getEventListeners(job.stop.graceful, 'abort')).toHaveLength(0);
    expect(getEventListeners(job.stop.now, 'abort')).toHaveLength(0);
  });

  const QUESTION = {
    name: 'AskUserQuestion',
    input: {
      questions: [
        {
          question: 'Which colour?',
          header: 'colour',
          multiSelect: false,
          options: [
            { label: 'red', description: 'like roses' },
            { label: 'blue', description: 'like violets' },
          ],
        },
      ],
    },
  };

  const hasHeard = (words: string): boolean => asked().includes(JSON.stringify(words).slice(1, -1));

  it('asks a person what the agent asks, with all options, and goes on with the answer', async () => {
    const someone = person('2');
    const { result, events } = await ran({ answers: [{ tools: [QUESTION] }, { text: 'ok' }] }, someone);
    expect(result.output).toBe('ok');
    const choices = [
      { label: 'red', about: 'like roses' },
      { label: 'blue', about: 'like violets' },
    ];
    expect(someone.asked).toEqual([{ text: 'Which colour?', default: null, choices, freeText: true }]);
    expect(events).toContainEqual({ kind: 'asked', id: 'ask-1', text: 'Which colour?', answer: 'blue' });
    expect(hasHeard('"Which colour?"="blue"')).toBe(true);
  });

  it("asks several questions one after the other, takes words of one's own and more than one choice", async () => {
    const colour = QUESTION.input.questions[0]!;
    const sizes = {
      question: 'Which sizes?',
      header: 'sizes',
      multiSelect: true,
      options: ['small', 'large, with a lid', 'huge'].map((label) => ({ label, description: '' })),
    };
    const tool = { name: 'AskUserQuestion', input: { questions: [colour, sizes] } };
    const someone = person('a kind of green', '1,2');
    const { result } = await ran({ answers: [{ tools: [tool] }, { text: 'ok' }] }, someone);
    expect(result.output).toBe('ok');
    expect(someone.asked.map(({ text, several }) => [text, several])).toEqual([
      ['Which colour?', undefined],
      ['Which sizes?', true],
    ]);
    expect(hasHeard('"Which colour?"="a kind of green"')).toBe(true);
    expect(hasHeard('"Which sizes?"="small, ')).toBe(true);
  });

  it('tells the agent to decide for itself where nobody answers', async () => {
    const someone = person();
    const { result, events } = await ran({ answers: [{ tools: [QUESTION] }, { text: 'ok' }] }, someone);
    expect(result.output).toBe('ok');
    expect(events).toContainEqual({ kind: 'asked', id: 'ask-1', text: 'Which colour?', answer: null });
    expect(hasHeard('Decide for yourself')).toBe(true);
  });

  it('gives what is said at the very end of a turn a turn of its own', async () => {
    const input = new ClaudeInput();
    input.say('the prompt');
    input.say('too late for it');
    input.close();
    const uuids: string[] = [];
    for await (const { uuid } of input) uuids.push(uuid);
    const result = { type: 'result' as const, subtype: 'success' };
    expect(input.answered({ ...result, user_message_uuids: [uuids[0]!] })).toBe(true);
    expect(input.answered({ ...result, user_message_uuids: [uuids[1]!] })).toBe(false);
  });

  it('ends where it has had its turns', async () => {
    const { result } = await ran({ rules: [{ run: 'true' }] }, {}, { turns: 2 });
    expect(result).toEqual({
      outcome: {
        kind: 'failed',
        reason: 'limit',
        message: 'claude-code was not done after 2 turns; allow more with `turns`',
      },
      output: null,
    });
  });

  it('says so where the model refuses', async () => {
    const { result } = await ran({ rules: [{ text: 'I will not.', stop: 'refusal' }] });
    expect(result).toMatchObject({
      outcome: { kind: 'failed', reason: 'agent' },
      error: { kind: 'refused' },
    });
  });

  it('has no tools to change files where it may change none', async () => {
    await ran({ answers: [{ text: 'ok' }] }, { isReadOnly: true });
    expect(asked()).toContain('"name":"Read"');
    expect(asked()).not.toMatch(/"name":"(Write|Edit|NotebookEdit)"/);
  });

  it('uses the tool servers that it is given', async () => {
    const program = path.resolve('test/fixtures/mcp-program.ts');
    const script = {
      answers: [{ tools: [{ name: 'mcp__crew__shout', input: {} }] }, { text: 'ok' }],
    };
    const { events } = await ran(script, {
      mcp: { crew: { command: process.execPath, args: [program], env: { MCP_WORD: 'hey' } } },
    });
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'tool-result', isError: false, text: 'LOUD hey' }),
    );
  });

  it('begins anew where the conversation to go on with is lost', async () => {
    const session = { id: '00000000-0000-4000-8000-000000000000', fork: false };
    const { result } = await ran({ answers: [{ text: 'ok' }] }, { session });
    expect(result).toEqual({ outcome: { kind: 'done' }, output: 'ok' });
  });

  it('says what to install where its SDK is not there', async () => {
    process.env[SDK_VARIABLE] = path.join(bench.root, 'nothing');
    const { result } = await ran({ answers: [{ text: 'ok' }] });
    expect(result).toMatchObject({
      outcome: {
        kind: 'failed',
        reason: 'start',
        message: expect.stringContaining('npm install -g @anthropic-ai') as string,
      },
      error: { kind: 'crashed' },
    });
  });
});
