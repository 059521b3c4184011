import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { agentError } from '../src/runtime/agent/error.ts';
import { makeHome, writeAnew } from '../src/runtime/agent/home.ts';
import { readMessages, type AgentMessage } from '../src/runtime/agent/lines.ts';
import { chooseModel } from '../src/runtime/agent/choose-model.ts';
import { CODEX } from '../src/runtime/codex/descriptor.ts';
import { cli } from '../src/runtime/cli/cli.ts';
import { agentVersion, findAgent, needAgent } from '../src/runtime/agent/find-agent.ts';
import { jsonIn } from '../src/runtime/output/json-in-text.ts';
import type { Result } from '../src/runtime/runtime.ts';
import { Bench, REAL_BIN } from './fixtures/runtime-job.ts';

describe('what agents share', () => {
  it('reads messages out of anything, whatever the pieces', async () => {
    const text = '{"a":"ü"}\n\nnoise\n{"b":\n[1]\n"x"\n{"c":3}\r\n{"d":4}';
    const pieces = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
    const seen: AgentMessage[] = [];
    const garbage = await readMessages(Readable.from(pieces), { take: (message) => seen.push(message) });
    expect(seen).toEqual([{ a: 'ü' }, { c: 3 }, { d: 4 }]);
    expect(garbage).toBe('noise\n{"b":\n[1]\n"x"');
  });

  it('drops a line that is too long and goes on after it', async () => {
    const seen: AgentMessage[] = [];
    const lines = Readable.from([Buffer.from(`{"a":"${'x'.repeat(200)}`), Buffer.from('x"}\n{"b":2}\n')]);
    expect(await readMessages(lines, { take: (message) => seen.push(message), lineBytesMax: 100 })).toBe(
      '(a line of more than 100 bytes)',
    );
    expect(seen).toEqual([{ b: 2 }]);
  });

  it.each([
    ['unexpected status 401 Unauthorized: bad key', 'auth', 401],
    ['exceeded retry limit, last status: 429 Too Many Requests', 'rate-limit', 429],
    ['Rate limit reached for gpt-5', 'rate-limit', undefined],
    ['We’re currently experiencing high demand, which may cause temporary errors.', 'overloaded', undefined],
    ['unexpected status 529 Overloaded', 'overloaded', 529],
    ['stream disconnected before completion: error sending request', 'network', undefined],
    ['You exceeded your current quota: insufficient_quota', 'budget', undefined],
    ['unexpected status 400 Bad Request: no such model', 'bad-request', 400],
    ['it took 500 ms and then broke', 'crashed', undefined],
  ])('knows what kind of failure it is: %s', (message, kind, status) => {
    expect(agentError(message)).toEqual({ kind, message, ...(status !== undefined && { status }) });
  });

  it('finds the last JSON in a text where it was asked for, and only there', () => {
    expect(jsonIn('Here: {"a": {"b": 1}} and {"c": [{}, 2]} bye', true)).toEqual({ c: [{}, 2] });
    expect(jsonIn('x\n```json\n{"a": 1}\n```\nand [that] is it', true)).toEqual({ a: 1 });
    expect(jsonIn('[[1, 2], [3]]', false)).toEqual([[1, 2], [3]]);
    expect(jsonIn('so [[1], 2]', true)).toEqual([[1], 2]);
    expect(jsonIn('Here: {"a": 1}', false)).toBeUndefined();
    expect(jsonIn('{'.repeat(100_000), true)).toBeUndefined();
    expect(jsonIn(`${'{'.repeat(100_000)}x}`, true)).toBeUndefined();
  });

  it('counts no time in which it waited for a person', async () => {
    await using bench = new Bench();
    const waited = async (heldMsMax: number): Promise<Result['outcome']> => {
      const beganMs = performance.now();
      const heldMs = (): number => Math.min(heldMsMax, performance.now() - beganMs);
      const agent = { runtime: 'cli' as const, command: ['sleep', '1'] };
      const { job } = bench.job('', agent, { timeoutMs: 200, heldMs });
      return (await cli.run(job)).outcome;
    };
    expect(await waited(2000)).toEqual({ kind: 'done' });
    expect(await waited(300)).toMatchObject({ kind: 'failed', reason: 'timeout' });
  });

  it('writes nothing through what an earlier attempt left in its memory', async () => {
    await using bench = new Bench();
    const victim = path.join(bench.root, 'victim');
    mkdirSync(victim);
    writeFileSync(path.join(victim, 'config.toml'), 'untouched');
    symlinkSync(victim, path.join(bench.memory, 'codex'));
    const home = await makeHome(bench, 'codex');
    symlinkSync(path.join(victim, 'config.toml'), path.join(home, 'config.toml'));
    await writeAnew(home, 'config.toml', 'ours');
    expect(readFileSync(path.join(home, 'config.toml'), 'utf8')).toBe('ours');
    expect(readFileSync(path.join(victim, 'config.toml'), 'utf8')).toBe('untouched');
    expect(await makeHome(bench, 'codex')).toBe(home);
  });

  it('finds the program of an agent, where its packages lie and its version', async () => {
    const found = findAgent(CODEX, { command: [path.join(REAL_BIN, 'codex'), '--flag'] })!;
    expect(found.argv).toEqual([path.resolve(REAL_BIN, '../@openai/codex/bin/codex.js'), '--flag']);
    expect(found.reads).toEqual([path.dirname(REAL_BIN)]);
    expect(await agentVersion({ ...found, argv: found.argv.slice(0, 1) })).toBe('0.166.0');
    expect(await agentVersion({ argv: ['/nowhere/x'], reads: [] })).toBeUndefined();
  });

  it('says how to get a program that is not there', () => {
    expect(findAgent(CODEX, { command: ['/nowhere/x'] })).toBeUndefined();
    expect(() => needAgent(CODEX, { command: ['/nowhere/x'] })).toThrow(
      'cannot start codex: /nowhere/x is not there; install it with npm install -g @openai/codex',
    );
  });

  it.each([
    ['claude-x', 'anthropic', 'claude-x'],
    ['openai/gpt-x', 'openai', 'gpt-x'],
    ['ollama/org/model', 'ollama', 'org/model'],
    ['org/model', 'ollama', 'org/model'],
    [undefined, 'ollama', undefined],
  ])('asks the right provider for the model %s', async (model, provider, name) => {
    await using bench = new Bench();
    const { job } = bench.job('http://127.0.0.1:9', {
      runtime: 'opencode',
      ...(model !== undefined && { model }),
    });
    const providers = { ollama: 'openai', openai: 'openai', anthropic: 'anthropic' } as const;
    const models = { ...job.models!, providers };
    expect(chooseModel({ ...job, models }, ['openai', 'anthropic'])).toMatchObject({ provider, model: name });
    expect(() => chooseModel({ ...job, models }, ['gemini'])).toThrow(
      'opencode speaks gemini, and no such provider',
    );
  });
});
