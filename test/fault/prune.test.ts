/** What `bosun prune` and `bosun workspaces clean` keep of runs that were killed, and that they finish what was killed of their own. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { findHome, type Home } from '../../src/store/home.ts';
import { Bosun, workflow } from '../../src/index.ts';
import { prune } from '../../src/operations/prune.ts';
import { takeLock } from '../../src/store/lock.ts';
import { historyOf, leftOf, runs } from '../fixtures/pruned.ts';
import { makeRepository } from '../fixtures/repository.ts';
import { testProgram } from '../fixtures/test-program.ts';

const PROGRAM = testProgram('prune');

describe('bosun prune', () => {
  it('keeps runs that can be resumed, and resumes them after it', { timeout: 60_000 }, async () => {
    await using repository = await makeRepository();
    const bosun = new Bosun(repository.path);
    const [old] = await runs(repository, 1);
    // Killed after its first task was merged: what it goes on from is on no ref.
    expect(await engine('run', repository.path, '14')).toBe('killed');
    const { run } = await bosun.status();
    expect(run.state).toBe('interrupted');
    const pruned = await prune({
      cwd: repository.path,
      keep: 0,
      unmerged: true,
      confirm: () => Promise.resolve(true),
    });
    expect(pruned!.kept).toEqual([{ id: run.id, why: 'it can be resumed (--interrupted takes it, too)' }]);
    expect(pruned!.runs.map(({ id }) => id)).toEqual([old]);
    const again = await bosun.resume(run.id);
    await again.finished;
    expect((await bosun.status()).tasks.map(({ state, message }) => message ?? state)).toEqual(
      Array.from({ length: 4 }, () => 'done'),
    );
    expect((await bosun.diff(run.id)).files.length).toBeGreaterThan(3);
  });

  it('keeps what is on no branch, and holds the base of the next run anew', { timeout: 60_000 }, async () => {
    await using repository = await makeRepository();
    const bosun = new Bosun(repository.path);
    const home = (): Home => findHome(repository.path)!;
    const ask = (more = {}): ReturnType<typeof prune> =>
      prune({ cwd: repository.path, keep: 0, ...more, confirm: () => Promise.resolve(true) });
    const fails = workflow({ name: 'f', tasks: { one: { run: 'echo work > one.txt; exit 1' } } });
    await (
      await bosun.run(fails)
    ).finished;
    // Killed while its first tasks are at work: all that there is of them is in workspaces.
    expect(await engine('run', repository.path, '4')).toBe('killed');
    expect((await ask({ interrupted: true }))!.kept.toReversed()).toEqual([
      {
        id: 'chain-1',
        why: expect.stringMatching(/a workspace whose work is not a commit|made is on no branch/),
      },
      { id: 'f-1', why: 'what one made is on no branch (--unmerged takes it, too)' },
    ]);
    {
      using _ = takeLock(home().mergeLock)!;
      await expect(ask()).rejects.toMatchObject({ code: 'busy' });
    }

    expect((await ask({ interrupted: true, unmerged: true }))!.runs).toHaveLength(2);
    const base = await repository.git('rev-parse', 'HEAD');
    const [next] = await runs(repository, 1);
    await repository.git('commit', '-q', '--amend', '--allow-empty', '-m', 'Amended');
    await repository.git('reflog', 'expire', '--expire=now', '--all');
    await repository.git('gc', '-q', '--prune=now');
    await expect(repository.git('cat-file', '-e', base)).rejects.toThrow();
    expect((await bosun.diff(next)).files).toHaveLength(1);
    // A squash counts as long as a branch has it.
    const { head } = await bosun.merge(next, { squash: true });
    await repository.git('reset', '-q', '--hard', 'HEAD~1');
    expect((await ask())!.kept).toEqual([{ id: next, why: expect.stringMatching('branch is not merged') }]);
    await repository.git('reset', '-q', '--hard', head);
    expect((await ask())!.runs).toMatchObject([{ id: next }]);
    await repository.git(`--git-dir=${home().git}`, 'fsck', '--no-dangling');
  });

  it('that is killed at any point is finished by the next one', { timeout: 120_000 }, async () => {
    await using repository = await makeRepository();
    await runs(repository, 2);
    const home = findHome(repository.path)!;
    // In the journal and after it, with files and with refs of the first; so too of the second; cleaned; swept.
    for (const [n, point] of [1, 1, 2, 3, 3, 2, 0].entries()) {
      expect(await engine('prune', repository.path, String(point)), `prune ${n}`).toMatch(
        point === 0 ? /^ended/ : 'killed',
      );
      for (const id of await historyOf(repository))
        expect((await new Bosun(repository.path).diff(id)).files, `prune ${n}: ${id}`).toHaveLength(1);
    }
    expect(await historyOf(repository)).toEqual([]);
    for (const id of ['w-1', 'w-2']) expect(await leftOf(home, repository.git, id)).toEqual([]);
    expect(existsSync(path.join(home.git, 'refs', 'bosun-held'))).toBe(false);
    await repository.git(`--git-dir=${home.git}`, 'fsck', '--no-dangling');
  });
});

it(
  'bosun workspaces clean that is killed loses nothing, and the next one finishes',
  { timeout: 120_000 },
  async () => {
    await using repository = await makeRepository();
    expect(await engine('run', repository.path, '4')).toBe('killed'); // with work that is not a commit
    const home = findHome(repository.path)!;
    const [held] = readdirSync(home.layers).filter((name) => name.includes('chain-1'));
    const [done] = await runs(repository, 1);
    let name = '';
    for await (const page of new Bosun(repository.path).events(done))
      for (const { event } of page) if (event.type === 'attempt.workspace') name = event.workspace;
    const ref = path.join(home.git, `refs/bosun/${done}/one@1`);
    /** As if the engine had been killed after it collected. */
    const leave = (): void => {
      mkdirSync(path.join(home.layers, name, 'upper'), { recursive: true });
      writeFileSync(path.join(home.layers, name, 'upper', 'one.bin'), '');
      utimesSync(ref, new Date(), new Date(Date.now() + 60_000));
    };
    for (const point of [1, 2, 0]) {
      leave();
      // and another one in the middle of a removal
      mkdirSync(path.join(home.layers, `.gone-x-${name}`, 'upper'), { recursive: true });
      const ended = await engine('clean', repository.path, String(point));
      expect(ended).toMatch(point === 0 ? /^ended 3/ : 'killed');
      expect(existsSync(path.join(home.layers, held!)), `killed at ${point}`).toBe(true);
      expect((await new Bosun(repository.path).diff(done)).files).toHaveLength(1);
    }
    expect(readdirSync(home.layers).filter((each) => each.includes(name))).toEqual([]);
    const resumed = await new Bosun(repository.path).resume('chain-1');
    expect((await resumed.finished).state).toBe('done');
  },
);

async function engine(mode: 'run' | 'prune' | 'clean', repository: string, dieAt: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, mode, repository, dieAt]);
    return stdout.trim();
  } catch (error) {
    const { signal, stderr } = error as { signal: string | null; stderr: string };
    if (signal === 'SIGKILL') return 'killed';
    throw new Error(`it failed: ${stderr}`, { cause: error });
  }
}
