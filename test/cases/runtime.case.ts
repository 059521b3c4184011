/** What every runtime that speaks to a model must do; run against each of them with the scripted model server. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/contract/model.ts';
import type { Agent } from '../../src/contract/workflow.ts';
import { startModelServer, type ModelServer } from '../../src/model-server/server.ts';
import type { Result, Runtime } from '../../src/runtime/runtime.ts';
import { plantSettings } from '../fixtures/planted.ts';
import { Bench, type TriedJob } from '../fixtures/runtime-job.ts';

type Script = Parameters<typeof startModelServer>[0]['script'];

export interface RuntimeUnderTest {
  runtime: Runtime;
  /** Says at least which runtime, and how its program is found. */
  agent: Partial<Agent>;
  /** What the program runs of a repository's settings whatever it is told: only the fence holds that. */
  obeyed?: string[];
}

const GUIDANCE = 'GUIDANCE-OF-THE-REPOSITORY';
const HELLO: Script = { answers: [{ write: { path: 'hello.txt', content: 'hi\n' } }, { text: 'all done' }] };
/** Long enough for the slowest agent to start on a busy machine. */
const SLOW_MS = 120_000;

export function runtimeCases(name: string, make: () => RuntimeUnderTest): void {
  describe(`runtime ${name}`, { timeout: SLOW_MS }, () => {
    const { runtime, agent, obeyed = [] } = make();
    let bench: Bench;
    let server: ModelServer | undefined;
    beforeEach(() => {
      bench = new Bench();
    });
    afterEach(async () => {
      await server?.[Symbol.asyncDispose]();
      server = undefined;
      await bench[Symbol.asyncDispose]();
    });

    const tried = async (
      script: Script,
      wish: Parameters<Bench['job']>[2] = {},
      more: Partial<Agent> = {},
    ) => {
      await server?.[Symbol.asyncDispose]();
      server = await startModelServer({ script });
      return bench.job(server.url, { ...agent, ...more }, wish);
    };
    const ran = async (script: Script, ...rest: [Parameters<Bench['job']>[2]?, Partial<Agent>?]) => {
      const trial = await tried(script, ...rest);
      return { ...trial, result: await runtime.run(trial.job) };
    };
    /** A program of our own in place of the agent's. */
    const ranProgram = (script: string): Promise<TriedJob & { result: Result }> =>
      ran(HELLO, {}, { command: ['/bin/sh', '-c', script] });

    it('writes a file and ends with what the model said last', async () => {
      const { result, events, listeners } = await ran(HELLO);
      expect(result).toEqual({ outcome: { kind: 'done' }, output: 'all done' });
      expect(readFileSync(path.join(bench.workspace, 'hello.txt'), 'utf8').trim()).toBe('hi');
      expect(kinds(events)).toEqual(
        expect.arrayContaining(['started', 'tool-call', 'tool-result', 'text', 'finished']),
      );
      expect(of(events, 'started').map(({ session }) => typeof session)).toEqual(['string']);
      expect(of(events, 'finished')).toEqual([{ kind: 'finished', turns: 2, toolCalls: 1 }]);
      expect(listeners.size).toBe(0);
    });

    it('tells the model the prompt, who the agent is, and what was wrong before', async () => {
      const wish = { prompt: 'Say "PROMPT-1 it".\nTwice $(id) `id`.', feedback: 'FEEDBACK-2' };
      await ran({ answers: [{ text: 'ok' }] }, wish, { prompt: 'You are ROLE-3.' });
      const words = [JSON.stringify(wish.prompt).slice(1, -1), 'FEEDBACK-2', 'ROLE-3'];
      expect(wordsIn(server!, words)).toEqual(words);
    });

    it('asks the model that it is told to, with the placeholder for a key', async () => {
      const model = agent.model ?? 'claude-scripted';
      await ran({ answers: [{ text: 'ok' }] }, {}, { model });
      const first = server!.requests.find(({ model: asked }) => asked !== undefined)!;
      expect(model.endsWith(first.model!)).toBe(true);
      expect(JSON.stringify(first.headers)).toContain('placeholder');
    });

    it('gives structured output as JSON', async () => {
      const schema = {
        type: 'object',
        properties: { answer: { type: 'number' } },
        required: ['answer'],
        additionalProperties: false,
      };
      const { result } = await ran({ answers: [{ output: { answer: 42 } }, { text: 'ok' }] }, { schema });
      expect(result).toEqual({ outcome: { kind: 'done' }, output: { answer: 42 } });
    });

    it('goes on with a conversation', async () => {
      const before = await ran({ answers: [{ text: 'I am FIRST-WORDS' }] }, { prompt: 'REMEMBER-ME' });
      const session = { id: of(before.events, 'started')[0]!.session!, fork: false };
      const after = await ran(
        { answers: [{ text: 'no' }, { text: 'of course' }] },
        { session, prompt: 'NOT-AGAIN' },
      );
      expect(after.result).toEqual({ outcome: { kind: 'done' }, output: 'of course' });
      const words = ['REMEMBER-ME', 'FIRST-WORDS', 'You were interrupted'];
      expect(wordsIn(server!, [...words, 'NOT-AGAIN'])).toEqual(words);
      expect(of(after.events, 'started')[0]!.session).toBe(session.id);
    });

    it('is told only what was wrong where it knows its task', async () => {
      const before = await ran({ answers: [{ text: 'done' }] }, { prompt: 'REMEMBER-ME' });
      const session = { id: of(before.events, 'started')[0]!.session!, fork: false };
      await ran(
        { answers: [{ text: 'no' }, { text: 'ok' }] },
        { session, prompt: 'ONCE-MORE', feedback: 'WRONG-WAS' },
      );
      expect(wordsIn(server!, ['REMEMBER-ME', 'ONCE-MORE', 'WRONG-WAS'])).toEqual([
        'REMEMBER-ME',
        'WRONG-WAS',
      ]);
    });

    it('goes on from a conversation in another workspace, and leaves that one as it is', async () => {
      const before = await ran({ answers: [{ text: 'I am FIRST-WORDS' }] }, { prompt: 'REMEMBER-ME' });
      const id = of(before.events, 'started')[0]!.session!;
      const fork = await ran(
        { answers: [{ text: 'no' }, { text: 'forked' }] },
        { session: { id, fork: true }, cwd: await bench.anotherWorkspace() },
      );
      expect(fork.result.output).toBe('forked');
      expect(of(fork.events, 'started')[0]!.session === id).toBe(false);
      expect(wordsIn(server!, ['FIRST-WORDS'])).toEqual(['FIRST-WORDS']);
    });

    it('hears what people say meanwhile', async () => {
      const script: Script = {
        rules: [{ when: { conversation: 'STEERED-THUS' }, text: 'steered' }],
        answers: [{ run: 'touch begun; sleep 1' }, { text: 'not steered' }],
      };
      const trial = await tried(script);
      const running = runtime.run(trial.job);
      await until(() => existsSync(path.join(bench.workspace, 'begun')));
      trial.steer('STEERED-THUS');
      expect(await running).toEqual({ outcome: { kind: 'done' }, output: 'steered' });
      expect(trial.listeners.size).toBe(0);
    });

    it('is cancelled in the middle of a command, soon', async () => {
      const trial = await tried({ answers: [{ run: 'touch begun; sleep 47' }, { text: 'too late' }] });
      const running = runtime.run(trial.job);
      await until(() => existsSync(path.join(bench.workspace, 'begun')));
      const cancelledAtMs = performance.now();
      trial.cancel();
      expect(await running).toEqual({ outcome: { kind: 'cancelled' }, output: null });
      expect(performance.now() - cancelledAtMs).toBeLessThan(2000);
      expect(trial.listeners.size).toBe(0);
    });

    it('is cancelled where the program does not listen', async () => {
      const script = 'trap "" TERM INT; touch begun; while :; do sleep 0.1; done';
      const trial = await tried(HELLO, {}, { command: ['/bin/sh', '-c', script] });
      const running = runtime.run(trial.job);
      await until(() => existsSync(path.join(bench.workspace, 'begun')));
      const cancelledAtMs = performance.now();
      trial.cancel();
      expect(await running).toEqual({ outcome: { kind: 'cancelled' }, output: null });
      expect(performance.now() - cancelledAtMs).toBeLessThan(2000);
    });

    it('is cancelled while the model is silent', async () => {
      const trial = await tried({ answers: [{ fault: 'hang' }] });
      const running = runtime.run(trial.job);
      await until(() => asksOf(server!).length > 0);
      trial.kill();
      expect(await running).toEqual({ outcome: { kind: 'cancelled' }, output: null });
    });

    it('ends at its time-out', async () => {
      const { result } = await ran({ answers: [{ fault: 'hang' }] }, { timeoutMs: 1500 });
      expect(result.outcome).toMatchObject({
        kind: 'failed',
        reason: 'timeout',
        message: 'it did not end within 1.5s',
      });
    });

    it('fails for its key at once where the model refuses it', async () => {
      const { result, events } = await ran({ answers: [{ fault: 401 }] });
      expect(result).toMatchObject({
        outcome: { kind: 'failed', reason: 'agent' },
        output: null,
        error: { kind: 'auth' },
      });
      expect(of(events, 'error')).toEqual([{ kind: 'error', error: result.error }]);
      expect(asksOf(server!).length).toBeLessThanOrEqual(3);
    });

    it('fails where the model has nothing but failures of its own', async () => {
      const { result } = await ran({ rules: [{ fault: 500 }] });
      expect(result).toMatchObject({
        outcome: { kind: 'failed', reason: 'agent' },
        error: { kind: 'overloaded' },
      });
    });

    it('fails where the model answers garbage', async () => {
      const { result } = await ran({ rules: [{ fault: 'garbage' }] }, { timeoutMs: 90_000 });
      expect(result.outcome).toMatchObject({ kind: 'failed', reason: 'agent' });
    });

    it('claims what it used', async () => {
      const usage = { input: 100, output: 10, cacheRead: 40, cacheWrite: 0 };
      const { events } = await ran({
        answers: [
          { run: 'true', usage },
          { text: 'ok', usage },
        ],
      });
      expect(of(events, 'usage').at(-1)).toMatchObject({
        tokens: { input: 200, output: 20, cacheRead: 80, cacheWrite: 0 },
      });
    });

    it('survives a command that prints without end, and cuts what it tells of it', async () => {
      const run = 'head -c 30000000 /dev/zero | tr "\\0" x';
      const { result, events } = await ran({ answers: [{ run }, { text: 'all done' }] });
      expect(result).toEqual({ outcome: { kind: 'done' }, output: 'all done' });
      expect(Math.max(...events.map((event) => JSON.stringify(event).length))).toBeLessThan(20_000);
    });

    it('cuts a long text in what it tells, not in its output', async () => {
      const text = `${'long '.repeat(20_000)}end`;
      const { result, events } = await ran({ answers: [{ text }] });
      expect(result.output).toBe(text);
      expect(Math.max(...of(events, 'text').map((event) => event.text.length))).toBeLessThanOrEqual(
        16 * 1024,
      );
    });

    it.each([
      ['ends at once without a word', 'exit 0', ''],
      ['fails at once', 'echo "no such thing" >&2; exit 3', 'no such thing'],
      ['prints garbage', 'echo "what is this"; echo "{"; echo "[1]"; echo null', ''],
      [
        'prints a line of 10 MB',
        'head -c 10000000 /dev/zero | tr "\\0" x; echo; echo "out of words" >&2',
        'out of words',
      ],
      ['prints bytes', 'head -c 100000 /dev/urandom', ''],
    ])('fails where the program %s', async (_, program, said) => {
      const { result, events } = await ranProgram(program);
      expect(result).toMatchObject({ outcome: { kind: 'failed' }, output: null, error: { kind: 'crashed' } });
      expect(result.error!.message).toContain(said);
      expect(kinds(events)).toContain('error');
    });

    it('does not obey the settings of the repository, but is told its guidance', async () => {
      await using evil = await startModelServer({ script: { answers: [{ text: 'evil' }] } });
      plantSettings(bench.workspace, evil.url);
      const { result } = await ran(HELLO);
      expect(result).toEqual({ outcome: { kind: 'done' }, output: 'all done' });
      expect(readdirSync(bench.workspace).filter((file) => file.startsWith('evil'))).toEqual(obeyed);
      expect(evil.requests).toEqual([]);
      expect(wordsIn(server!, [GUIDANCE, 'EVIL-ROLE'])).toEqual([GUIDANCE]);
    });

    it('offers the model the tools of servers, with what they need', async () => {
      const program = path.resolve('test/fixtures/mcp-program.ts');
      const env = { MCP_WORD: 'enough "x"' };
      const mcp = { 'my-tools': { command: process.execPath, args: [program], env } };
      const trial = await tried({ answers: [{ text: 'ok' }] }, { mcp });
      expect((await runtime.run(trial.job)).outcome).toEqual({ kind: 'done' });
      const asked = asksOf(server!)[0] as { tools: unknown[] };
      expect(JSON.stringify(asked.tools).includes('shout')).toBe(true);
    });

    it('says what is missing where there is no such program', async () => {
      const { result } = await ran(HELLO, {}, { command: ['/nowhere/at-all'] });
      expect(result).toMatchObject({
        outcome: { kind: 'failed', reason: 'start' },
        error: { kind: 'crashed' },
      });
    });
  });
}

/** Requests that are the agent's work: titles and the like are not. */
function asksOf(server: ModelServer): unknown[] {
  return server.requests
    .filter(({ model, rule }) => model !== undefined && rule !== 'side')
    .map(({ body }) => body);
}

/** Those that the model was told in the last request; a failure shows them and not the whole request. */
function wordsIn(server: ModelServer, words: string[]): string[] {
  const asked = JSON.stringify(asksOf(server).at(-1));
  return words.filter((word) => asked.includes(word));
}

function kinds(events: AgentEvent[]): string[] {
  return events.map(({ kind }) => kind);
}

function of<K extends AgentEvent['kind']>(events: AgentEvent[], kind: K): Extract<AgentEvent, { kind: K }>[] {
  return events.filter((event): event is Extract<AgentEvent, { kind: K }> => event.kind === kind);
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}
