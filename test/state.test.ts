import {
  appendFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
  utimes,
} from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findHome } from '../src/store/home.ts';
import { openEngine } from '../src/run/open-engine.ts';
import { clearAttempts, createHome } from '../src/run/prepare-home.ts';
import { openEngineGit } from '../src/system/git/engine-git.ts';
import { inspectRepository } from '../src/system/git/repository.ts';
import { findGit, makeStateDirectory } from '../src/system/files/state-directory.ts';
import { openWorkTree } from '../src/system/git/work-tree.ts';
import { bosun } from './fixtures/cli.ts';
import { gitIn, makeRepository, type TestRepository } from './fixtures/repository.ts';

const WORKFLOW = 'name: w\ntasks: { one: { run: echo 1 > one.txt } }\n';

/** What an earlier version left in the work tree: today's state, put where it was then. */
async function putBack(repository: TestRepository): Promise<void> {
  const state = path.join(repository.path, '.git/bosun');
  const earlier = path.join(repository.path, '.bosun');
  await mkdir(earlier, { recursive: true });
  for (const name of await readdir(path.join(state, 'sandbox')))
    await rename(path.join(state, 'sandbox', name), path.join(earlier, name));
  for (const name of await readdir(state)) {
    if (!['sandbox', 'tmp', 'reserve', 'engines'].includes(name))
      await rename(path.join(state, name), path.join(earlier, name));
  }
  await writeFile(path.join(earlier, '.gitignore'), '*\n!/agents/\n!/agents/**\n!/config.yaml\n');
}

async function modeOf(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

describe('the state of a repository', () => {
  it('is in its git directory, nobody else can enter it, and git clean leaves it alone', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': WORKFLOW } });
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    expect(existsSync(path.join(repository.path, '.bosun'))).toBe(false);
    expect(await modeOf(path.join(repository.path, '.git/bosun'))).toBe('700');
    for (const name of ['journal.db', 'engine.lock', 'runs/w-1/report.html', 'runs/w-1/report.json'])
      expect(await modeOf(path.join(repository.path, '.git/bosun', name)), name).toBe('600');
    await repository.git('clean', '-ffdxq');
    expect(await repository.git('status', '--porcelain')).toBe('');
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await readFile(path.join(repository.path, 'one.txt'), 'utf8')).toBe('1\n');
  });

  it('has a git directory that obeys nothing that somebody else wrote into it', async () => {
    const files = { 'bosun.yaml': WORKFLOW.replace('{ one:', '{ two: { run: echo 2 > README.md }, one:') };
    await using repository = await makeRepository({ files: { ...files, 'README.md': 'hello\n' } });
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    const git = path.join(repository.path, '.git/bosun/git');
    const proof = `${repository.path}-proof`;
    await appendFile(path.join(git, 'config'), `[merge "x"]\n\tdriver = touch ${proof}\n`);
    await writeFile(path.join(git, 'info/attributes'), '* merge=x\n');
    await writeFile(path.join(git, 'config.worktree'), `[core]\n\tsshCommand = touch ${proof}\n`);
    await repository.write({ 'README.md': 'mine\n' });
    await repository.git('commit', '--quiet', '-am', 'Mine');
    expect((await bosun(repository.path, 'merge')).stderr).toContain('conflict');
    expect(existsSync(proof)).toBe(false);
    expect(await readFile(path.join(git, 'config'), 'utf8')).not.toContain('driver');
    expect(existsSync(path.join(git, 'config.worktree'))).toBe(false);
  });

  it('serves all work trees of the repository', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': WORKFLOW } });
    const linked = `${repository.path}-linked`;
    await repository.git('worktree', 'add', '--quiet', linked);
    expect((await bosun(linked, 'run')).code).toBe(0);
    expect((await bosun(repository.path, 'history')).stdout).toContain('w-1');
    expect(findHome(path.join(linked))).toMatchObject({
      top: linked,
      directory: path.join(repository.path, '.git/bosun'),
    });
  });

  it('is that of the repository that a command stands in, never of one above it', async () => {
    await using repository = await makeRepository({ files: { 'a/b/c.txt': 'c\n' } });
    const nested = path.join(repository.path, 'a/b/nested');
    await mkdir(path.join(nested, 'deep'), { recursive: true });
    await gitIn(nested)('init', '--quiet');
    const bare = path.join(repository.path, 'a/bare');
    await gitIn(repository.path)('init', '--quiet', '--bare', bare);
    makeStateDirectory(path.join(repository.path, '.git/bosun'));
    await writeFile(path.join(repository.path, '.git/bosun/journal.db'), '');
    expect(findHome(path.join(repository.path, 'a/b'))?.top).toBe(repository.path);
    expect(findGit(path.join(nested, 'deep'))?.top).toBe(nested);
    expect(findHome(path.join(nested, 'deep'))).toBeUndefined();
    expect(findGit(path.join(bare, 'refs'))).toBeUndefined();
    expect((await bosun(nested, 'status')).stderr).toMatch(/no run was ever started/);
  });

  it('has a git directory whose links lead to no file elsewhere', async () => {
    await using repository = await makeRepository();
    const inspected = await inspectRepository(repository.path);
    await (await openEngineGit(inspected))[Symbol.asyncDispose]();
    const git = path.join(repository.path, '.git/bosun/git');
    const victim = `${repository.path}-victim`;
    const content = await readFile(path.join(git, 'config'), 'utf8');
    await writeFile(victim, content);
    await rename(path.join(git, 'config'), path.join(git, 'config.old'));
    await symlink(victim, path.join(git, 'config'));
    await (await openEngineGit(inspected))[Symbol.asyncDispose]();
    expect((await lstat(path.join(git, 'config'))).isFile()).toBe(true);
    await writeFile(victim, 'precious\n');
    await writeFile(path.join(git, 'config'), '');
    await symlink(victim, path.join(git, 'config.new'));
    await (await openEngineGit(inspected))[Symbol.asyncDispose]();
    expect([await readFile(victim, 'utf8'), await readFile(path.join(git, 'config'), 'utf8')]).toEqual([
      'precious\n',
      content,
    ]);
    await rename(path.join(git, 'info'), `${victim}-info`);
    await symlink(`${victim}-info`, path.join(git, 'info'));
    await expect(openEngineGit(inspected)).rejects.toThrow(/info is a symbolic link/);
  });

  it('is not made where something else stands', async () => {
    await using repository = await makeRepository();
    const state = path.join(repository.path, '.git/bosun');
    const elsewhere = await mkdtemp(`${repository.path}-elsewhere-`);
    await symlink(elsewhere, state);
    expect(() => makeStateDirectory(state)).toThrow(/must be a directory.*is a symbolic link: move it away/);
    expect(await readdir(elsewhere)).toEqual([]);
  });
});

describe('the state of an earlier version', () => {
  it('has all scratch of its own, and the next engine removes what a killed one left there', async () => {
    await using repository = await makeRepository();
    const place = await inspectRepository(repository.path);
    const home = await createHome(place);
    const scratch = path.join(home.directory, 'tmp');
    {
      await using _ = await openWorkTree(place);
      expect(await readdir(scratch)).toEqual([expect.stringMatching(`^${process.pid}-`)]);
    }
    const { pid: dead } = spawnSync('true');
    for (const name of [`${dead}-killed`, `${process.pid}-used`])
      await mkdir(path.join(scratch, name, 'objects'), { recursive: true });
    const anHourAgo = Date.now() / 1000 - 4000;
    await utimes(path.join(scratch, `${dead}-killed`), anHourAgo, anHourAgo);
    await mkdir(path.join(home.sandbox, 'try-killed'));
    await clearAttempts(home);
    expect(await readdir(scratch)).toEqual([`${process.pid}-used`]);
    expect(await readdir(home.sandbox)).not.toContain('try-killed');
    // one that came in an archive leads nowhere
    await rename(scratch, path.join(repository.path, 'elsewhere'));
    await mkdir(path.join(repository.path, 'elsewhere', `${dead}-precious`));
    await symlink(path.join(repository.path, 'elsewhere'), scratch);
    await clearAttempts(home);
    await using _ = await openWorkTree(place);
    const left = await readdir(path.join(repository.path, 'elsewhere'));
    expect(left.toSorted()).toEqual([`${dead}-precious`, `${process.pid}-used`].toSorted());
  });

  it('is never used where it stands, and whoever has some is told how to move it', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': WORKFLOW } });
    await bosun(repository.path, 'run');
    await putBack(repository);
    await rm(path.join(repository.path, '.git/bosun'), { recursive: true });
    expect(await repository.git('status', '--porcelain')).toBe(''); // ignored by its own .gitignore
    const { stderr } = await bosun(repository.path, 'status');
    expect(stderr).toMatch(
      /no run was ever started.*\.bosun looks like the state of an earlier bosun; it is not used/,
    );
    const command = /next run: (.+)$/m.exec(stderr)![1]!;
    {
      await using engine = await openEngine(repository.path);
      expect(engine.notes).toEqual([expect.stringContaining(command)]);
      expect(await engine.store.runs(9)).toEqual([]);
    }
    await rm(path.join(repository.path, '.git/bosun'), { recursive: true });
    expect(spawnSync('sh', ['-c', command]).status).toBe(0);
    expect((await bosun(repository.path, 'diff', '--stat')).stdout).toContain('one.txt');
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    expect((await bosun(repository.path, 'history')).stdout).toMatch(/w-2[\s\S]*w-1/);
  });
});
