/** What every runtime that speaks to a model must do; run against each of them with the scripted model server. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
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
  /** Variables that make its program cheaper to start. */
  env?: Record<string, string>;
}

const GUIDANCE = 'GUIDANCE-OF-THE-REPOSITORY';
const HELLO: Script = { answers: [{ write: { path: 'hello.txt', content: 'hi\n' } }, { text: 'all done' }] };
/** Long enough for the slowest agent to start on a busy machine. */
const SLOW_MS = 120_000;

export function runtimeCases(name: string, make: () => RuntimeUnderTest): void {
  describe(`runtime ${name}`, { timeout: SLOW_MS }, () => {
    const { runtime, agent, obeyed = [], env = {} } = make();
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

    const jobOf = (
      at: Bench,
      { url }: ModelServer,
      wish: Parameters<Bench['job']>[2],
      more: Partial<Agent>,
    ): TriedJob => {
      const trial = at.job(url, { ...agent, ...more }, wish);
      Object.assign(trial.job.env, env);
      return trial;
    };
    const tried = async (
      script: Script,
      wish: Parameters<Bench['job']>[2] = {},
      more: Partial<Agent> = {},
    ) => {
      await server?.[Symbol.asyncDispose]();
      server = await startModelServer({ script });
      return jobOf(bench, server, wish, more);
    };
    const ran = async (script: Script, ...rest: [Parameters<Bench['job']>[2]?, Partial<Agent>?]) => {
      const trial = await tried(script, ...rest);
      return { ...trial, result: await runtime.run(trial.job) };
    };
    /** A program of our own in place of the agent's. */
    const ranProgram = (script: string): Promise<TriedJob & { result: Result }> =>
      ran(HELLO, {}, { command: ['/bin/sh', '-c', script] });

    /** A start costs seconds: these cases look at the four attempts of one task, each made when first looked at. */
    describe('in one conversation', () => {
      const home = new Bench();
      const servers: ModelServer[] = [];
      afterAll(async () => {
        for (const each of servers) await each[Symbol.asyncDispose]();
        await home[Symbol.asyncDispose]();
      });
      const begin = async (
        script: Script,
        wish: Parameters<Bench['job']>[2],
        more: Partial<Agent> = {},
      ): Promise<Attempt> => {
        const ours = await startModelServer({ script });
        servers.push(ours);
        const trial = jobOf(home, ours, wish, more);
        return { ...trial, server: ours, ending: runtime.run(trial.job) };
      };

      const model = agent.model ?? 'claude-scripted';
      const PROMPT = 'Say "PROMPT-1 it".\nTwice $(id) `id`. REMEMBER-ME';
      const usage = { input: 100, output: 10, cacheRead: 40, cacheWrite: 0 };
      const first = once(async () => {
        const program = path.resolve('test/fixtures/mcp-program.ts');
        const mcp = {
          'my-tools': {
            command: process.execPath,
            args: [program],
            env: { MCP_WORD: 'enough "x"' },
          },
        };
        const answers = [
          { write: { path: 'hello.txt', content: 'hi\n' }, usage },
          { text: 'all done', usage },
        ];
        const wish = { prompt: PROMPT, feedback: 'FEEDBACK-2', mcp };
        return finished(await begin({ answers }, wish, { model, prompt: 'You are ROLE-3.' }));
      });
      const sessionOf = ({ events }: Pick<TriedJob, 'events'>): string => of(events, 'started')[0]!.session!;

      const LONG = `of course ${'long '.repeat(20_000)}end`;
      const second = once(async () => {
        const session = { id: sessionOf(await first()), fork: false };
        const run = 'head -c 30000000 /dev/zero | tr "\\0" x';
        const answers = [{ text: 'no' }, { text: 'no' }, { run }, { text: LONG }];
        return finished(await begin({ answers }, { session, prompt: 'NOT-AGAIN' }));
      });

      const third = once(async () => {
        const session = { id: sessionOf(await first()), fork: false };
        await second();
        const no = { text: 'no' };
        const answers = [no, no, no, no, { run: 'touch begun; sleep 47' }, { text: 'too late' }];
        const attempt = await begin({ answers }, { session, prompt: 'ONCE-MORE', feedback: 'WRONG-WAS' });
        await until(() => existsSync(path.join(home.workspace, 'begun')));
        const cancelledAtMs = performance.now();
        attempt.cancel();
        return { ...(await finished(attempt)), tookMs: performance.now() - cancelledAtMs };
      });

      it('writes a file and ends with what the model said last', async () => {
        const { result, events, listeners } = await first();
        expect(result).toEqual({ outcome: { kind: 'done' }, output: 'all done' });
        expect(readFileSync(path.join(home.workspace, 'hello.txt'), 'utf8').trim()).toBe('hi');
        expect(kinds(events)).toEqual(
          expect.arrayContaining(['started', 'tool-call', 'tool-result', 'text', 'finished']),
        );
        expect(of(events, 'started').map(({ session }) => typeof session)).toEqual(['string']);
        expect(of(events, 'finished')).toEqual([{ kind: 'finished', turns: 2, toolCalls: 1 }]);
        expect(listeners.size).toBe(0);
      });

      it('tells the model the prompt, who the agent is, and what was wrong before', async () => {
        const words = [JSON.stringify(PROMPT).slice(1, -1), 'FEEDBACK-2', 'ROLE-3'];
        expect(wordsIn((await first()).server, words)).toEqual(words);
      });

      it('asks the model that it is told to, with the placeholder for a key', async () => {
        const { requests } = (await first()).server;
        const asked = requests.find((request) => request.model !== undefined)!;
        expect(model.endsWith(asked.model!)).toBe(true);
        expect(JSON.stringify(asked.headers)).toContain('placeholder');
      });

      it('claims what it used', async () => {
        const { events } = await first();
        expect(of(events, 'usage').at(-1)).toMatchObject({
          tokens: { input: 200, output: 20, cacheRead: 80, cacheWrite: 0 },
        });
      });

      it('offers the model the tools of servers, with what they need', async () => {
        const asked = asksOf((await first()).server)[0] as { tools: unknown[] };
        expect(JSON.stringify(asked.tools).includes('shout')).toBe(true);
      });

      it('goes on with a conversation', async () => {
        const { result, events, server: asked } = await second();
        expect(result).toEqual({ outcome: { kind: 'done' }, output: LONG });
        const words = ['REMEMBER-ME', 'all done', 'You were interrupted'];
        expect(wordsIn(asked, [...words, 'NOT-AGAIN'])).toEqual(words);
        expect(sessionOf({ events })).toBe(sessionOf(await first()));
      });

      it('survives a command that prints without end, and cuts what it tells of it', async () => {
        const { result, events } = await second();
        expect(result.outcome).toEqual({ kind: 'done' });
        expect(kinds(events)).toContain('tool-result');
        expect(Math.max(...events.map((event) => JSON.stringify(event).length))).toBeLessThan(20_000);
      });

      it('cuts a long text in what it tells, not in its output', async () => {
        const { result, events } = await second();
        expect(result.output).toBe(LONG);
        expect(Math.max(...of(events, 'text').map((event) => event.text.length))).toBeLessThanOrEqual(
          16 * 1024,
        );
      });

      it('is told only what was wrong where it knows its task', async () => {
        const { server: asked } = await third();
        expect(wordsIn(asked, ['REMEMBER-ME', 'ONCE-MORE', 'WRONG-WAS'])).toEqual([
          'REMEMBER-ME',
          'WRONG-WAS',
        ]);
      });

      it('is cancelled in the middle of a command, soon', async () => {
        const { result, listeners, tookMs } = await third();
        expect(result).toEqual({ outcome: { kind: 'cancelled' }, output: null });
        expect(tookMs).toBeLessThan(2000);
        expect(listeners.size).toBe(0);
      });

      it('goes on from a conversation in another workspace, and leaves that one as it is', async () => {
        const id = sessionOf(await first());
        await third();
        const cwd = await home.anotherWorkspace();
        const fork = await finished(
          await begin({ rules: [{ text: 'forked' }] }, { session: { id, fork: true }, cwd }),
        );
        expect(fork.result.output).toBe('forked');
        expect(sessionOf(fork) === id).toBe(false);
        const words = ['REMEMBER-ME', 'all done', 'WRONG-WAS'];
        expect(wordsIn(fork.server, words)).toEqual(words);
      });
    });

    it('gives structured output as JSON', async () => {
      const schema = {
        type: 'object',
        properties: { answer: { type: 'number' } },
        required: ['answer'],
        additionalProperties: false,
      };
      const { result } = await ran({ answers: [{ output: { answer: 42 } }, { text: 'ok' }] }, { schema });
      // Some programs have a form for it themselves, and say so.
      const { isStructured: _, ...said } = result;
      expect(said).toEqual({ outcome: { kind: 'done' }, output: { answer: 42 } });
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

    it('says what is missing where there is no such program', async () => {
      const { result } = await ran(HELLO, {}, { command: ['/nowhere/at-all'] });
      expect(result).toMatchObject({
        outcome: { kind: 'failed', reason: 'start' },
        error: { kind: 'crashed' },
      });
    });
  });
}

interface Attempt extends TriedJob {
  server: ModelServer;
  ending: Promise<Result>;
}

async function finished(attempt: Attempt): Promise<Attempt & { result: Result }> {
  return { ...attempt, result: await attempt.ending };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
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
