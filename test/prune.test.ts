/** What `bosun prune` takes away, what it keeps, and what it says; test/fault/prune.test.ts has runs and prunes that were killed. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findHome, type Home } from '../src/store/home.ts';
import { Bosun, workflow } from '../src/index.ts';
import { prune, type Prunable } from '../src/operations/prune.ts';
import { bosun as cli } from './fixtures/cli.ts';
import { historyOf, leftOf, runs } from './fixtures/pruned.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

describe('bosun prune', () => {
  it('keeps a run that somebody went on with while it was asked about', async () => {
    await using repository = await makeRepository();
    const bosun = new Bosun(repository.path);
    const { id, finished } = await bosun.run(workflow({ name: 'w', tasks: { a: { run: 'exit 1' } } }));
    await finished;
    const confirm = async ({ runs }: Prunable): Promise<boolean> => {
      await (
        await bosun.resume(id)
      ).finished;
      return runs.length === 1;
    };
    expect(await prune({ cwd: repository.path, keep: 0, unmerged: true, confirm })).toMatchObject({
      runs: [],
    });
    expect(await historyOf(repository)).toEqual([id]);
  });

  it(
    'takes what is old and merged, frees its space, and keeps the rest whole',
    { timeout: 120_000 },
    async () => {
      await using repository = await makeRepository();
      const [first, second, third] = await runs(repository, 3);
      const bosun = new Bosun(repository.path);
      await bosun.merge(first);
      const home = findHome(repository.path)!;
      const sizes = (): number => statSync(home.journal).size;
      // A conversation that a person may want to go on with.
      mkdirSync(home.memory(second!, 'one'), { recursive: true });
      const [objects, journal] = [await packed(repository, home), sizes()];

      const seen: Prunable[] = [];
      const ask = (keep: number, more = {}): ReturnType<typeof prune> =>
        prune({ cwd: repository.path, keep, ...more, confirm: async (found) => seen.push(found) > 0 });
      const preview = await cli(repository.path, 'prune', '--keep', '1', '--dry-run');
      expect([preview.code, preview.stdout]).toEqual([0, expect.stringMatching(/ {2}done {7}w-1\n$/)]);
      expect(preview.stderr).toContain('kept w-2: its branch is not merged (--unmerged takes it, too)');
      expect(preview.stderr).toContain('would remove 1 run; nothing was removed');
      const unasked = await cli(repository.path, 'prune', '--keep', '1');
      expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('add --yes')]);
      expect((await cli(repository.path, 'prune')).stderr).toContain('say which runs may go');
      expect((await cli(repository.path, 'prune', '--older-than', 'x')).stderr).toContain(
        '--older-than must be',
      );
      expect(await historyOf(repository)).toEqual([third, second, first]);

      expect((await ask(1))!.freedBytes).toBeGreaterThan(300_000);
      expect(seen.at(-1)!.runs.map(({ id }) => id)).toEqual([first]);
      expect(await historyOf(repository)).toEqual([third, second]);
      expect(await leftOf(home, repository.git, first!)).toEqual([]);
      expect(existsSync(home.memory(second!, 'one'))).toBe(true);
      expect(sizes()).toBeLessThan(journal - 200_000);

      await ask(1, { unmerged: true });
      expect(await historyOf(repository)).toEqual([third]);
      expect(await packed(repository, home)).toBeLessThan(objects - 300_000);
      expect((await bosun.diff(third)).files).toHaveLength(1);
      expect((await bosun.report(third)).run.id).toBe(third);
      await repository.git(`--git-dir=${home.git}`, 'fsck', '--no-dangling');
      expect(await runs(repository, 1)).toEqual(['w-4']);
      // By size: the oldest go until the rest fits.
      await ask(0, { maxBytes: 1, unmerged: true });
      expect(await historyOf(repository)).toEqual([]);
      expect(await runs(repository, 1)).toEqual(['w-5']);
    },
  );
});

async function packed(repository: TestRepository, home: Home): Promise<number> {
  const counted = await repository.git(`--git-dir=${home.git}`, 'count-objects', '-v');
  const of = (name: string): number => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(counted)![1]) * 1024;
  return of('size') + of('size-pack');
}
