/** `git clone` and bosun: nothing that came with a repository runs outside of a fence, and nothing outside of it changes. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  clonePlanted,
  forgetRealState,
  SECRET,
  STOLEN,
  type Plant,
  type PlantedRepository,
} from '../fixtures/planted-repository.ts';

const USERS: [string, boolean][] = [
  ['root', true],
  ['an ordinary user', false],
];
const BEFORE = [['status'], ['history'], ['check']];
const AFTER = [
  ['status'],
  ['logs'],
  ['diff'],
  ['workspaces'],
  ['history'],
  ['merge'],
  ['exec', '--', 'git', 'log'],
];
const TEST_MS = 180_000;
/** Each reaches beyond the repository, or is code. */
const REFUSED = [
  ['run', 'hostile.ts'],
  ['check', 'hostile.ts'],
  ['run', 'read.yaml'],
  ['run', 'shadow.yaml'],
  ['run', 'copy.yaml'],
  ['run', 'leak.yaml'],
];

afterAll(forgetRealState);

describe.runIf(process.getuid?.() === 0).each(USERS)('in what %s cloned', (_, isRoot) => {
  test(
    'state of a stranger is never believed, nor are configuration, code and settings',
    { timeout: TEST_MS },
    async () => {
      await using planted = await clonePlanted('state', isRoot);
      const said = await tryAll(
        planted,
        [...BEFORE, ...(isRoot ? [['doctor']] : [])],
        [...AFTER, ...REFUSED],
      );
      expect(existsSync(path.join(planted.clone, 'made.txt')), 'the merge landed').toBe(true);
      expect(said.get('run')!.stderr).toMatch(/config\.yaml/); // what it says is named, and ignored
      for (const args of REFUSED) expect(said.get(args.join(' ')), args.join(' ')).toMatchObject({ code: 2 });
    },
  );

  // Whoever is root could give away what links lead to; elsewhere one of them stands for the other.
  test.each<Plant>(isRoot ? ['links', 'linked home', 'submodule'] : ['links', 'submodule'])(
    'planted %s: nothing of it is used',
    { timeout: TEST_MS },
    async (plant) => {
      await using planted = await clonePlanted(plant, isRoot);
      await tryAll(planted, [['status']], [['workspaces', 'clean'], ['merge']]);
      if (plant !== 'links') return;
      for (const args of [['status'], ['run', '../bosun.yaml']]) await planted.bosunIn('bare', ...args);
      expect(planted.ran(), 'in a directory that looks like a git directory').toEqual([]);
    },
  );
});

async function tryAll(
  planted: PlantedRepository,
  before: string[][],
  after: string[][],
): Promise<Map<string, { code: number | null; stdout: string; stderr: string }>> {
  const outside = planted.outside();
  const said = new Map<string, { code: number | null; stdout: string; stderr: string }>();
  for (const args of [...before, ['run'], ...after]) {
    const told = await planted.bosun(...args);
    const name = args.join(' ');
    said.set(name, told);
    const all = told.stdout + told.stderr;
    expect(planted.ran(), `ran by ${name}`).toEqual([]);
    expect(planted.outside(), `changed by ${name}`).toEqual(outside);
    expect(all, name).not.toContain(SECRET);
    expect(all, name).not.toContain(STOLEN);
    expect(all, name).not.toMatch(/should not have happened|\n {4}at /);
  }
  expect(planted.leaks()).toEqual([]);
  const run = said.get('run')!;
  expect(run.code, run.stderr).toBe(0);
  return said;
}
