/** What all runs of a user spend in a day and a month: in several processes, after a kill, and with a clock that jumps. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Config, ConfigFile } from '../src/contract/config.ts';
import type { Admission } from '../src/contract/model.ts';
import { raiseCommand } from '../src/report/money.ts';
import { SharedAccounts } from '../src/run/shared-budgets.ts';
import { Machine } from '../src/store/machine/machine.ts';
import { startProgram, type Started } from './fixtures/cli.ts';
import { TestMachine } from './fixtures/shared-machine.ts';
import { TinyLoop, tokensOf } from './fixtures/tiny-loop.ts';
import { testProgram } from './fixtures/test-program.ts';

const ALL_DAY = { repository: undefined, period: 'day', usd: 20 } as const;
const TASK = { agent: { runtime: 'codex', model: 'm' }, prompt: 'Work.' } as const;
const USE = { provider: 'p', model: 'm', tokens: tokensOf(1000, 1000), usd: 2 };

function stateDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'bosun-spending-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function spender(directory: string, ...args: string[]): Started {
  const program = testProgram('spend');
  return startProgram([process.execPath, program, directory, ...args], process.cwd());
}

interface Spender {
  machine: Machine;
  budget: Config['budget'];
  isUsers?: boolean;
  run?: string;
}

function loopOf({ machine, budget, isUsers = true, run = 'w-1' }: Spender): TinyLoop {
  const configs: ConfigFile[] = [{ file: 'config.yaml', isUsers, config: { budget } }];
  const shared = new SharedAccounts({
    repository: 'r',
    run,
    configs: () => configs,
    open: () => machine.spending,
    onTrouble: () => {},
  });
  return new TinyLoop({ tasks: { a: TASK } }, undefined, shared);
}

function settle(granted: Admission): void {
  if (!granted.isAdmitted) throw new Error(granted.message);
  granted.settle(USE);
}

describe('a limit for a day', () => {
  it('holds for two processes together, to the cent', async () => {
    const directory = stateDirectory();
    const both = [spender(directory, 'w-1', 'spend'), spender(directory, 'w-2', 'spend')];
    const counts = await Promise.all(both.map(async ({ finished }) => Number((await finished).stdout)));
    expect(counts[0]! + counts[1]!).toBe(20);
    await using machine = new Machine(directory);
    expect(machine.spending.standing(ALL_DAY)).toMatchObject({ spentUsd: 20, promisedCount: 0 });
  });

  it('counts what a killed engine had sent, once, until the run settles it', async () => {
    const directory = stateDirectory();
    await using machine = new Machine(directory);
    const killed = spender(directory, 'w-1', 'hang');
    await killed.prints('reserved');
    const tight = { ...ALL_DAY, usd: 5 };
    expect(machine.spending.standing(tight)).toMatchObject({ spentUsd: 0, promisedUsd: 5, promisedCount: 1 });
    killed.child.kill('SIGKILL');
    await killed.finished;
    expect(machine.spending.standing(tight)).toMatchObject({ spentUsd: 5, promisedCount: 0 });
    const of = { repository: 'r', run: 'w-1', note: 'left' };
    machine.spending.settle(of, 3);
    machine.spending.settle(of, 3);
    expect(machine.spending.standing(tight)).toMatchObject({ spentUsd: 3, promisedCount: 0 });
  });

  it('is there again on the next day, and a clock that is set back gives nothing twice', async () => {
    let now = new Date(2026, 10, 18, 23, 59).getTime();
    await using machine = new Machine(stateDirectory(), () => now);
    const spent = (period: 'day' | 'month'): number =>
      machine.spending.standing({ ...ALL_DAY, period }).spentUsd;
    const of = { repository: 'r', run: 'w-1', note: '1' };
    machine.spending.reserve(of, 20, [{ ...ALL_DAY, nextUsd: 0 }]);
    now += 2 * 60_000;
    machine.spending.settle(of, 20); // sent yesterday
    expect([spent('day'), spent('month')]).toEqual([0, 20]);
    now -= 24 * 3_600_000;
    expect(spent('day')).toBe(20);
    now -= 40 * 24 * 3_600_000;
    expect([spent('day'), spent('month')]).toEqual([20, 20]);
    now = new Date(2026, 11, 1).getTime();
    expect([spent('day'), spent('month')]).toEqual([0, 0]);
  });

  it('holds the next request and asks; a yes is for today, and for the runs of other engines too', async () => {
    const directory = stateDirectory();
    await using machine = new Machine(directory);
    await using other = new Machine(directory);
    const budget = { 'usd-per-day': 4 };
    const [mine, theirs] = [loopOf({ machine, budget }), loopOf({ machine: other, budget, run: 'w-2' })];
    settle(await mine.admit('a'));
    settle(await theirs.admit('a'));
    const held = [mine.admit('a'), theirs.admit('a')];
    await vi.waitFor(() => expect(theirs.of('question.asked')).toHaveLength(1));
    expect(mine.of('question.asked').map(({ id, text }) => [id, text])).toEqual([
      ['all:day+budget', 'All runs today have used $4.00 of $4.00. Raise it to $8.00 and go on?'],
    ]);
    mine.answer('all:day+budget', 'yes');
    settle((await held[0])!);
    settle((await held[1])!);
    expect(theirs.state.questions.size).toBe(0);
    expect(mine.state.limits.size).toBe(0);
    expect(machine.spending.standing({ ...ALL_DAY, usd: 4 })).toMatchObject({ limitUsd: 8, spentUsd: 8 });
    expect(machine.spending.standing({ ...ALL_DAY, period: 'month', usd: 3 }).limitUsd).toBe(3);
  });

  it('of a repository is for that one alone, and a no stops the run', async () => {
    await using machine = new Machine(stateDirectory());
    machine.spending.reserve({ repository: 'other', run: 'w-9', note: '1' }, 100, []);
    const loop = loopOf({ machine, budget: { 'usd-per-month': 1 }, isUsers: false });
    settle(await loop.admit('a'));
    const held = loop.admit('a');
    await vi.waitFor(() => expect(loop.of('question.asked')).toHaveLength(1));
    loop.answer('repository:month+budget', 'no');
    expect(await held).toMatchObject({
      message: 'the budget is spent: all runs in this repository this month have used $2.00 of $1.00',
    });
    expect(loop.state).toMatchObject({ because: 'budget', short: { account: 'repository:month' } });
  });

  it('that is hard reserves the worst case and asks nobody', async () => {
    await using machine = new Machine(stateDirectory());
    const loop = loopOf({ machine, budget: { 'usd-per-day': 3, enforce: 'hard' } });
    const first = await loop.admit('a');
    expect(machine.spending.standing(ALL_DAY).promisedUsd).toBe(2);
    settle(first);
    expect(await loop.admit('a')).toMatchObject({ isAdmitted: false });
    expect(loop.of('question.asked')).toEqual([]);
  });
});

describe('bosun budget', () => {
  it('shows what all runs have spent, and raises the limit for today', async () => {
    await using user = new TestMachine('budget: { usd-per-day: 20 }\n');
    const repository = await user.repository({ name: 'w', tasks: { a: { run: 'true' } } });
    await user.bosun(repository, ['run']).finished;
    const raised = await user.bosun(repository, ['budget', '--usd-per-day', '40']).finished;
    expect(raised).toMatchObject({ code: 0, stderr: 'all runs today: $0.00  of $40.00\n' });
    const { stdout } = await user.bosun(repository, ['budget']).finished;
    expect(stdout).toContain('  all runs today: $0.00  of $40.00\n');
    const unlimited = await user.bosun(repository, ['budget', '--usd-per-month', '40']).finished;
    expect(unlimited.stderr).toMatch(
      /there is no limit for a month to raise; set one in .*usd-per-month: 40/,
    );
  });

  it('raises the limits of the day and of the month in one command', async () => {
    await using user = new TestMachine('budget: { usd-per-day: 20, usd-per-month: 200 }\n');
    const repository = await user.repository({ name: 'w', tasks: { a: { run: 'true' } } });
    const both = ['budget', '--usd-per-day', '40', '--usd-per-month', '400'];
    expect(await user.bosun(repository, both).finished).toMatchObject({
      code: 0,
      stderr: 'all runs today: $0.00  of $40.00\nall runs this month: $0.00  of $400.00\n',
    });
  });

  it('is what a run that was stopped says to type', () => {
    const short = { account: 'all:day', unit: 'usd', spent: 20.5, limit: 20 } as const;
    expect(raiseCommand('w-1', undefined, {}, short)).toBe('bosun budget --usd-per-day 40');
  });
});

describe('where the database is gone', () => {
  it('nothing goes that a limit is for, and the message says what to do', async () => {
    const directory = stateDirectory();
    await using machine = new Machine(directory);
    const loop = loopOf({ machine, budget: { 'usd-per-day': 3 } });
    rmSync(path.join(directory, 'machine.db'));
    expect(await loop.admit('a')).toMatchObject({
      isAdmitted: false,
      message: expect.stringMatching(
        /^the limits on spending .* cannot be enforced: .*machine\.db was removed .*bosun resume$/,
      ) as string,
    });
    settle(await loopOf({ machine, budget: undefined }).admit('a'));
  });

  it('what a request used is still in the journal of its run', async () => {
    await using machine = new Machine(stateDirectory());
    let isGone = false;
    const config: Config = { budget: { 'usd-per-day': 9, enforce: 'hard' } };
    const shared = new SharedAccounts({
      repository: 'r',
      run: 'w-1',
      configs: () => [{ file: 'config.yaml', isUsers: true, config }],
      open() {
        if (isGone) throw new Error('disk I/O error');
        return machine.spending;
      },
      onTrouble: () => {},
    });
    const loop = new TinyLoop({ tasks: { a: TASK } }, undefined, shared);
    const granted = await loop.admit('a');
    isGone = true;
    settle(granted);
    expect(loop.of('model.used')).toMatchObject([{ usd: 2 }]);
  });

  it('or a newer bosun wrote it, or it is locked for a moment, it is neither changed nor given up', async () => {
    const directory = stateDirectory();
    await using machine = new Machine(directory);
    using other = new DatabaseSync(path.join(directory, 'machine.db'));
    other.exec('BEGIN IMMEDIATE');
    const waiting = loopOf({ machine, budget: { 'usd-per-day': 3 } }).admit('a');
    setTimeout(() => other.exec('COMMIT; PRAGMA user_version = 99'), 600);
    settle(await waiting);
    expect(() => new Machine(directory)).toThrow(
      /machine\.db was written by a newer version of bosun; use that one/,
    );
  });

  it('a run with a limit does not begin where it is damaged', async () => {
    await using machine = new TestMachine('budget: { usd-per-day: 20 }\n');
    const agents = { quick: { runtime: 'cli', command: 'true' } };
    const tasks = { a: { agent: 'quick', prompt: 'Work.' } };
    const repository = await machine.repository({ name: 'w', agents, tasks });
    mkdirSync(machine.state, { recursive: true, mode: 0o700 });
    writeFileSync(machine.database, 'no database '.repeat(1000));
    const { code, stderr } = await machine.bosun(repository, ['run']).finished;
    expect(stderr).toMatch(/cannot be enforced: cannot use .*machine\.db .*move it away: mv /);
    expect(code).toBe(1);
  });
});
