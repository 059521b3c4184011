import { getEventListeners } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startModelServer, type ModelServer } from '../src/model-server/server.ts';
import { acp } from '../src/runtime/acp/acp.ts';
import type { Result } from '../src/runtime/runtime.ts';
import { runTalk } from '../src/runtime/agent/talk.ts';
import { runtimeCases } from './cases/runtime.case.ts';
import { person } from './fixtures/person.ts';
import { Bench, REAL_BIN, type TriedJob } from './fixtures/runtime-job.ts';

const CLAUDE = [path.join(REAL_BIN, 'claude-agent-acp')];
const CODEX = [path.join(REAL_BIN, 'codex-acp')];

runtimeCases('acp (claude-agent-acp)', () => ({
  runtime: acp,
  agent: { runtime: 'acp', command: CLAUDE },
}));

runtimeCases('acp (codex-acp)', () => ({
  runtime: acp,
  agent: { runtime: 'acp', command: CODEX, model: 'gpt-5.1' },
  obeyed: ['evil-mcp'],
}));

describe('ACP', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  const PROGRAM = [process.execPath, path.resolve('test/fixtures/acp-agent-program.ts')];
  type RequestEstimate = Parameters<Bench['job']>[2];
  const told = async (
    prompt: string,
    wish: RequestEstimate = {},
    ...args: string[]
  ): Promise<TriedJob & { result: Result }> => {
    const command = [...PROGRAM, ...args];
    const trial = bench.job('http://127.0.0.1:9', { runtime: 'acp', command }, { prompt, ...wish });
    return { ...trial, result: await acp.run(trial.job) };
  };

  it('gives what the agent said last, and leaves no listener behind', async () => {
    const { result, job } = await told('hello');
    expect(result).toEqual({ outcome: { kind: 'done' }, output: 'heard: hello' });
    expect(getEventListeners(job.stop.graceful, 'abort')).toHaveLength(0);
    expect(getEventListeners(job.stop.now, 'abort')).toHaveLength(0);
  });

  it('signs in where the agent demands it', async () => {
    const { result } = await told('hello', {}, 'sign-in');
    expect(result.output).toBe('heard: hello');
  });

  it('lets the agent edit unasked, for this once, since the fence holds it', async () => {
    const { result } = await told('edits');
    expect(result.output).toBe('answer: once');
  });

  it('lets no agent edit that may change nothing', async () => {
    const { result } = await told('edits', { isReadOnly: true });
    expect(result.output).toBe('answer: never');
  });

  it.each([
    ['Always', 'always'],
    ['2', 'once'],
    ['No', 'never'],
  ])('asks a person about what cannot be told, with all options: %s gives %s', async (says, option) => {
    const { ask, asked } = person(says);
    const { result, events } = await told('somethings', { ask });
    expect(result.output).toBe(`answer: ${option}`);
    const text = 'some other: {"a":1}';
    const choices = [{ label: 'Always' }, { label: 'Once' }, { label: 'No' }];
    expect(asked).toEqual([{ text, default: null, choices, tool: true }]);
    expect(events).toContainEqual(expect.objectContaining({ kind: 'asked', id: 'call-1', text }));
  });

  it('says no where nobody answers', async () => {
    const { result, events } = await told('somethings', person());
    expect(result.output).toBe('answer: never');
    expect(events).toContainEqual(expect.objectContaining({ kind: 'asked', answer: null }));
  });

  it.each([
    ['chooses', ['blue'], '{"action":"accept","content":{"colour":"blue"}}'],
    ['chooses', ['neither of them'], '{"action":"accept","content":{"colour_other":"neither of them"}}'],
    ['chooses', [], '{"action":"decline"}'],
    ['chooses-twice', ['1,2', 'no'], '{"action":"accept","content":{"sizes":["s","m"],"sure":false}}'],
    ['chooses-twice', ['M'], '{"action":"accept","content":{"sizes":["m"]}}'],
    ['inquires', ['Ada'], '{"action":"accept","content":{"name":"Ada"}}'],
    ['inquires', [], '{"action":"decline"}'],
    ['counts', ['many', '2.5', '7'], '{"action":"accept","content":{"count":7}}'],
    ['counts', ['many', '2.5', '700'], '{"action":"decline"}'],
  ] as const)('fills in what the agent %s with %j', async (deed, words, form) => {
    const { result } = await told(deed, person(...words));
    expect(result.output).toBe(`form: ${form}`);
  });

  it('asks for each field as it is, one after the other', async () => {
    const someone = person({ says: '2', note: 'the light one' });
    await told('chooses', someone);
    expect(someone.asked).toEqual([
      {
        text: 'Which colour?',
        default: null,
        choices: [{ label: 'red', about: 'like roses' }, { label: 'blue' }],
        freeText: true,
      },
    ]);
    const another = person('S', 'yes');
    await told('chooses-twice', another);
    expect(another.asked).toEqual([
      {
        text: 'Which colour?\nWhich sizes?',
        default: null,
        choices: [{ label: 'S' }, { label: 'M' }],
        several: true,
      },
      { text: 'Which colour?\nAre you sure?', default: null, choices: [{ label: 'yes' }, { label: 'no' }] },
    ]);
  });

  it('does not take for new what is told again of an earlier conversation', async () => {
    const { result, events } = await told('hello', { session: { id: 'session-0', fork: false } }, 'loads');
    expect(result.output).toMatch(/^heard: You were interrupted/);
    expect(events.filter(({ kind }) => kind === 'text')).toHaveLength(1);
  });

  it.each([
    ['copies the conversation where the agent can', 'forks', 'session-0-fork'],
    ['goes on with the conversation where the agent cannot copy it', 'resumes', 'session-0'],
  ])('%s', async (_, can, session) => {
    const { result, events } = await told('hello', { session: { id: 'session-0', fork: true } }, can);
    expect(events).toContainEqual({ kind: 'started', session });
    expect(result.output).toMatch(/^heard: Your last attempt failed/);
  });

  it.each([
    ['refuses', 'agent', 'refused'],
    ['gives-up', 'agent', 'crashed'],
    ['fails', 'agent', 'rate-limit'],
    ['garbles', 'agent', 'crashed'],
    ['dies', 'exit', 'crashed'],
    ['bursts', 'agent', 'crashed'],
  ])('fails where the agent %s', async (deed, reason, kind) => {
    const { result } = await told(deed);
    expect(result).toMatchObject({ outcome: { kind: 'failed', reason }, output: null, error: { kind } });
  });

  it('fails where the agent has had its turns', async () => {
    const { result } = await told('loops');
    expect(result.outcome).toMatchObject({ kind: 'failed', reason: 'limit' });
  });

  it('does not wait for ever for a program that says nothing', async () => {
    const { job } = bench.job('http://127.0.0.1:9', { runtime: 'acp', command: 'unused' });
    const ended = await runTalk(job, {
      argv: ['/bin/sleep', '60'],
      env: {},
      startMs: 50,
      converse: ({ exited }) => exited.then(() => {}),
    });
    expect(ended.outcome).toEqual({ kind: 'failed', reason: 'agent', message: 'it said nothing for 0.05 s' });
  });

  describe('real agents', () => {
    let server: ModelServer;
    afterEach(() => server[Symbol.asyncDispose]());
    const HELLO = { answers: [{ write: { path: 'hello.txt', content: 'hi\n' } }, { text: 'all done' }] };

    it.each([
      ['gemini', ['gemini', '--acp'], 'gemini-2.5-pro'],
      ['opencode', ['opencode', 'acp'], 'claude-scripted'],
    ])('%s writes a file', async (_, [program, ...args], model) => {
      server = await startModelServer({ script: HELLO });
      const command = [path.join(REAL_BIN, program!), ...args];
      const { job } = bench.job(
        server.url,
        { runtime: 'acp', command, model },
        { prompt: 'write hello.txt' },
      );
      expect(await acp.run(job)).toEqual({ outcome: { kind: 'done' }, output: 'all done' });
      expect(readFileSync(path.join(bench.workspace, 'hello.txt'), 'utf8').trim()).toBe('hi');
    });

    it('claude-agent-acp asks what its model asks, and its model hears the answers', async () => {
      const choices = (...labels: string[]): object[] =>
        labels.map((label) => ({ label, description: label }));
      const questions = [
        { question: 'Which colour?', header: 'Colour', multiSelect: false, options: choices('red', 'blue') },
        { question: 'Which sizes?', header: 'Sizes', multiSelect: true, options: choices('s', 'm', 'l') },
      ];
      const tool = { name: 'AskUserQuestion', input: { questions } as never };
      server = await startModelServer({ script: { answers: [{ tools: [tool] }, { text: 'all done' }] } });
      const someone = person('a kind of green', '1,3');
      const agent = { runtime: 'acp', command: CLAUDE, model: 'claude-scripted' } as const;
      const { job } = bench.job(server.url, agent, { prompt: 'ask', ...someone });
      expect((await acp.run(job)).output).toBe('all done');
      expect(
        someone.asked.map(({ choices: shown, several, freeText }) => [shown?.length, several, freeText]),
      ).toEqual([
        [2, undefined, true],
        [3, true, true],
      ]);
      const heard = JSON.stringify(server.requests.at(-1)!.body);
      const has = (words: string): boolean => heard.includes(JSON.stringify(words).slice(1, -1));
      expect([has('"Which colour?"="a kind of green"'), has('"Which sizes?"="s, l"')]).toEqual([true, true]);
    });

    it('gemini goes on with a conversation that it began a moment ago', async () => {
      const command = [path.join(REAL_BIN, 'gemini'), '--acp'];
      const agent = { runtime: 'acp', command, model: 'gemini-2.5-pro' } as const;
      server = await startModelServer({
        script: { rules: [{ when: { conversation: 'MIND-THIS' }, text: 'second' }, { text: 'FIRST' }] },
      });
      const first = bench.job(server.url, agent, { prompt: 'REMEMBER-ME' });
      await acp.run(first.job);
      const { session: id } = first.events.find((event) => event.kind === 'started')!;
      for (const feedback of ['MIND-THIS', 'MIND-THIS again']) {
        const { job } = bench.job(server.url, agent, { session: { id: id!, fork: false }, feedback });
        expect((await acp.run(job)).output).toBe('second');
        expect(JSON.stringify(server.requests.at(-1)!.body)).toMatch(/REMEMBER-ME.*FIRST/);
      }
    });

    it('gemini copies a conversation for a retry, in files of another place', async () => {
      const command = [path.join(REAL_BIN, 'gemini'), '--acp'];
      const agent = { runtime: 'acp', command, model: 'gemini-2.5-pro' } as const;
      server = await startModelServer({
        script: {
          rules: [{ when: { conversation: 'last attempt failed' }, text: 'second' }, { text: 'FIRST' }],
        },
      });
      const first = bench.job(server.url, agent, { prompt: 'REMEMBER-ME' });
      await acp.run(first.job);
      const { session: id } = first.events.find((event) => event.kind === 'started')!;
      const lost = bench.job(server.url, agent, { memory: bench.root, session: { id: id!, fork: true } });
      expect((await acp.run(lost.job)).output).toBe('FIRST');
      const cwd = path.join(bench.root, "an other's");
      mkdirSync(cwd);
      const retry = bench.job(server.url, agent, { prompt: 'Again.', session: { id: id!, fork: true }, cwd });
      expect((await acp.run(retry.job)).output).toBe('second');
      expect(retry.events.find((event) => event.kind === 'started')!.session).not.toBe(id);
      expect(JSON.stringify(server.requests.at(-1)!.body)).toMatch(/REMEMBER-ME.*FIRST/);
    });
  });
});
