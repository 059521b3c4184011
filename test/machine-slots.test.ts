/** Agents of one user on one machine: how many are at work at once, whoever drives them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentsByDefault, SharedMachine } from '../src/run/shared-machine.ts';
import { Machine } from '../src/store/machine/machine.ts';
import { eventsIn } from './fixtures/cli.ts';
import { TestMachine } from './fixtures/shared-machine.ts';
import { TinyLoop } from './fixtures/tiny-loop.ts';

const NAP = { agents: { napper: { runtime: 'cli', command: 'echo AT-WORK; sleep 30' } } };
const QUICK = { agents: { quick: { runtime: 'cli', command: 'true' } } };
const two = (agent: string): object => ({
  a: { agent, prompt: 'Work.' },
  b: { agent, prompt: 'Work.' },
});

function stateDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'bosun-slots-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe('agents of two engines', () => {
  it('share the slots of the machine, and those of a killed engine are free at once', async () => {
    await using machine = new TestMachine('agents: 2\n');
    const [first, second] = [
      await machine.repository({ name: 'first', ...NAP, tasks: two('napper') }),
      await machine.repository({
        name: 'second',
        ...QUICK,
        tasks: { plain: { run: 'true' }, ...two('quick') },
      }),
    ];
    const killed = machine.bosun(first, ['run', '--json']);
    await killed.prints('"task":"b","attempt":1,"stream":"stdout"');
    await killed.prints('"task":"a","attempt":1,"stream":"stdout"');
    const waiting = machine.bosun(second, ['run', '--json']);
    await waiting.prints('waiting for a slot: 2 agents of 1 other run are at work');
    await waiting.prints('"type":"task.finished","task":"plain"');
    const fromMs = performance.now();
    killed.child.kill('SIGKILL');
    const { code, stdout } = await waiting.finished;
    expect(performance.now() - fromMs).toBeLessThan(5000);
    expect(code).toBe(0);
    const events = eventsIn(stdout);
    const at = (type: string): number => events.findIndex((event) => event.type === type);
    expect(at('attempt.held')).toBeLessThan(at('attempt.released'));
    expect(events.filter(({ type }) => type === 'run.noted')).toEqual([]);
  });

  it('end at once when they are cancelled while they wait', async () => {
    await using machine = new TestMachine('agents: 1\n');
    const repository = await machine.repository({ name: 'w', ...NAP, tasks: two('napper') });
    const run = machine.bosun(repository, ['run', '--json']);
    await run.prints('waiting for a slot: this machine allows 1 agent at work at once');
    await machine.bosun(repository, ['cancel']).finished;
    const { code, stdout } = await run.finished;
    expect(code).toBe(3);
    const ended = eventsIn(stdout).filter((event) => event.type === 'attempt.finished');
    expect(ended.map(({ outcome }) => outcome.kind)).toEqual(['cancelled', 'cancelled']);
    expect(ended.filter(({ durationMs }) => durationMs === 0)).toHaveLength(1);
  });
});

describe('a slot', () => {
  it('goes to the run that has the fewest', async () => {
    const directory = stateDirectory();
    await using one = new Machine(directory);
    await using other = new Machine(directory);
    const signal = new AbortController().signal;
    const order: string[] = [];
    const take = async (machine: Machine, run: string): Promise<Disposable> => {
      const slot = await machine.slots.take({
        repository: 'r',
        run,
        most: 2,
        signal,
        onWait: () => order.push(`${run} waits`),
      });
      order.push(run);
      return slot;
    };
    const held = [await take(one, 'busy'), await take(one, 'busy')];
    const waiting = [take(one, 'busy'), take(one, 'busy'), take(other, 'new')];
    await sleep(10);
    held[0]![Symbol.dispose]();
    (await waiting[2]!)[Symbol.dispose]();
    (await waiting[0]!)[Symbol.dispose]();
    held[1]![Symbol.dispose]();
    (await waiting[1]!)[Symbol.dispose]();
    expect(order.slice(0, 5)).toEqual(['busy', 'busy', 'busy waits', 'busy waits', 'new waits']);
    expect(order[5]).toBe('new');
  });

  it('is by default for four agents a core, one a gigabyte, and at least four', () => {
    expect(agentsByDefault(2, 64 * 1024 ** 3)).toBe(8);
    expect(agentsByDefault(16, 16 * 1024 ** 3)).toBe(16);
    expect(agentsByDefault(1, 1024 ** 3)).toBe(4);
  });

  it('is waited for in minutes that are nobody’s', () => {
    const agent = { runtime: 'codex', model: 'm' } as const;
    const loop = new TinyLoop({ budget: { minutes: 5 }, tasks: { a: { agent, prompt: 'Work.' } } });
    const task = { task: 'a', attempt: 1 };
    const clock = (): object => loop.state.clocks.get('run')!;
    loop.submit({ type: 'attempt.held', ...task, by: 'slot', text: 'waiting' });
    loop.nowMs = 600_000;
    loop.submit({ type: 'attempt.released', ...task });
    expect(clock()).toMatchObject({ running: 1, workedMs: 0, sinceMs: 600_000 });
    expect(loop.node('a').attemptAtMs).toBe(600_000);
    loop.submit({ type: 'attempt.held', ...task, by: 'slot', text: 'waiting' });
    loop.submit({ type: 'attempt.finished', ...task, outcome: { kind: 'cancelled' }, durationMs: 0 });
    expect(clock()).toMatchObject({ running: 0, workedMs: 0 });
  });
});

describe('where the database cannot be used', () => {
  it('for a moment, a slot that is over then is free for the next agent all the same', async () => {
    const directory = stateDirectory();
    await using machine = new Machine(directory);
    const waits: string[] = [];
    const signal = new AbortController().signal;
    const of = { repository: 'r', run: 'w-1', most: 1, signal, onWait: (text: string) => waits.push(text) };
    const first = await machine.slots.take(of);
    using other = new DatabaseSync(path.join(directory, 'machine.db'));
    other.exec('BEGIN IMMEDIATE');
    first[Symbol.dispose]();
    other.exec('COMMIT');
    (await machine.slots.take(of))[Symbol.dispose]();
    expect(waits).toEqual([]);
  });

  it('while an agent asks for a slot, it keeps none that nobody gives back', async () => {
    await using machine = new Machine(stateDirectory());
    const signal = new AbortController().signal;
    const of = { repository: 'r', run: 'w-1', most: 1, signal };
    using first = await machine.slots.take({ ...of, onWait: () => {} });
    const broken = machine.slots.take({
      ...of,
      onWait() {
        throw new Error('disk I/O error');
      },
    });
    await expect(broken).rejects.toThrow('disk I/O error');
    first[Symbol.dispose]();
    const waits: string[] = [];
    (await machine.slots.take({ ...of, onWait: (text) => waits.push(text) }))[Symbol.dispose]();
    expect(waits).toEqual([]);
  });

  it('agents work without slots, and each run says so once', async () => {
    const directory = stateDirectory();
    vi.stubEnv('XDG_STATE_HOME', directory);
    onTestFinished(() => void vi.unstubAllEnvs());
    mkdirSync(path.join(directory, 'bosun'), { mode: 0o700 });
    writeFileSync(path.join(directory, 'bosun', 'machine.db'), 'no database '.repeat(1000));
    await using shared = new SharedMachine({ repository: 'r', configs: () => [] });
    const told: string[] = [];
    const asks = async (run: string): Promise<void> =>
      (await shared.slot({ run, signal: new AbortController().signal, onWait: () => {} }))[Symbol.dispose]();
    const first = shared.onTrouble('w-1', (text) => told.push(`w-1: ${text}`));
    using _ = shared.onTrouble('w-2', (text) => told.push(`w-2: ${text}`));
    for (let n = 0; n < 3; n++) await asks('w-1');
    expect(told).toEqual([
      expect.stringMatching(
        /^w-1: this run shares neither slots nor rate limits with other runs: .*machine\.db .*damaged; move it away: mv /,
      ) as string,
    ]);
    first[Symbol.dispose]();
    for (const run of ['w-1', 'w-2']) await asks(run);
    expect(told.map((text) => text.split(':')[0])).toEqual(['w-1', 'w-2']);
  });

  it('since it was removed meanwhile, whoever waits goes on', async () => {
    const directory = stateDirectory();
    await using one = new Machine(directory);
    const of = { repository: 'r', run: 'w-1', most: 1, signal: new AbortController().signal };
    using first = await one.slots.take({ ...of, onWait: () => {} });
    const second = one.slots.take({ ...of, onWait: () => rmSync(path.join(directory, 'machine.db')) });
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    await expect(one.slots.take({ ...of, onWait: () => {} })).rejects.toThrow(
      /machine\.db was removed or replaced while bosun was using it; .*bosun resume/,
    );
  });
});
