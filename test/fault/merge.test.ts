/** `bosun merge` changes everything or nothing, whatever ends it. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openEngineGit, type EngineGit } from '../../src/system/git/engine-git.ts';
import { land } from '../../src/merge/land.ts';
import { recoverLanding } from '../../src/merge/landing.ts';
import { inspectRepository } from '../../src/system/git/repository.ts';
import { bosun } from '../fixtures/cli.ts';
import { gitIn, makeRepository, type TestRepository } from '../fixtures/repository.ts';
import { HAS_SMALL_DISKS, smallDisk } from '../fixtures/small-disk.ts';
import { testProgram } from '../fixtures/test-program.ts';

const exec = promisify(execFile);
const PROGRAM = testProgram('merge');
const POINTS_MAX = 40;
/** Root takes every point; for an ordinary user every second one is enough, since none of them looks at who merges. */
const STEP = process.getuid?.() === 0 ? 1 : 2;
/** With directories of the user's own, empty and so unknown to git, where the merge puts a file. */
const FILES = {
  'a.txt': 'a\n',
  'beside/made/': '',
  'gone/b.txt': 'b\n',
  becomes: 'a file\n',
  'emptied/deep/e.txt': 'e\n',
  'renamed/old.txt': 'r\n',
  'same.txt': 's\n',
  'ünï.txt': 'u\n',
};

interface World extends AsyncDisposable {
  repository: TestRepository;
  home: string;
  before: string;
  /** Changes, deletes and adds files, and puts a directory in the place of a file. */
  after: string;
}

async function makeWorld(below?: string): Promise<World> {
  const { 'beside/made/': _empty, ...files } = FILES;
  const repository = await makeRepository({ files, ...(below !== undefined && { below }) });
  const before = await repository.git('rev-parse', 'HEAD');
  const git = await openEngineGit(await inspectRepository(repository.path));
  await repository.git('checkout', '-q', '--detach');
  await repository.git('rm', '-q', 'gone/b.txt', 'becomes', 'emptied/deep/e.txt', 'renamed/old.txt');
  const { 'same.txt': _same, ...made } = AFTER;
  await repository.write(made);
  await repository.git('add', '-A');
  await repository.git('commit', '-qm', 'result');
  const after = await repository.git('rev-parse', 'HEAD');
  await repository.git('checkout', '-q', 'main');
  mkdirSync(path.join(repository.path, 'beside/made'), { recursive: true });
  return {
    repository,
    home: git.home,
    before,
    after,
    [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
  };
}

/** What a person sees: where the branch is, what git says of the files, and the files themselves. */
async function seen(
  top: string,
): Promise<{ head: string; status: string; files: Record<string, string>; locked: boolean }> {
  const git = gitIn(top);
  const names = readdirSync(top, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const name = path.relative(top, path.join(entry.parentPath, entry.name));
    if (name.startsWith('.git') || name.startsWith('.bosun')) return [];
    if (entry.isDirectory() && readdirSync(path.join(top, name)).length > 0) return [];
    return [entry.isFile() ? name : `${name}/`];
  });
  return {
    head: await git('rev-parse', 'main'),
    status: await git('--no-optional-locks', 'status', '--porcelain'),
    files: Object.fromEntries(
      names
        .sort()
        .map((name) => [name, name.endsWith('/') ? '' : readFileSync(path.join(top, name), 'utf8')]),
    ),
    locked: existsSync(path.join(top, '.git', 'index.lock')),
  };
}

const AFTER = {
  'a.txt': 'new a\n',
  'becomes/a-directory.txt': 'd\n',
  'beside/first': 'f\n',
  'beside/made': 'm\n',
  emptied: 'a file now\n',
  'new/deep/c.txt': 'c\n',
  'renamed/new.txt': 'n\n',
  'same.txt': 's\n',
  'ünï.txt': 'u\n',
};
const isBefore = { status: '', files: FILES, locked: false };
const isAfter = { status: '', files: AFTER, locked: false };

async function merge(top: string, world: World, dieAt: number): Promise<string> {
  try {
    const args = [PROGRAM, top, world.after, world.before, String(dieAt)];
    return (await exec(process.execPath, args)).stdout.trim();
  } catch (error) {
    const { signal, stderr } = error as { signal: string | null; stderr: string };
    if (signal === 'SIGKILL') return 'killed';
    throw new Error(`the merge failed: ${stderr}`, { cause: error });
  }
}

describe('a merge', () => {
  it(
    'that is killed at any point is finished or undone by the next command',
    { timeout: 120_000 },
    async () => {
      await using world = await makeWorld();
      const ends: string[] = [];
      let point = 1;
      for (; point < POINTS_MAX; point += STEP) {
        const top = path.join(path.dirname(world.repository.path), `copy-${point}`);
        cpSync(world.repository.path, top, { recursive: true, preserveTimestamps: true });
        await gitIn(top)('update-index', '-q', '--refresh');
        const home = world.home.replace(world.repository.path, top);
        const result = await merge(top, world, point);
        if (result !== 'killed') {
          expect(result).toMatch(/^fast-forward/);
          expect(await seen(top)).toEqual({ head: world.after, ...isAfter });
          break;
        }
        const said = await recoverLanding(path.join(home, 'landing'), top);
        const isDone = said?.includes('complete') ?? false;
        ends.push(said === undefined ? 'nothing' : isDone ? 'finished' : 'undone');
        const expected = isDone ? { head: world.after, ...isAfter } : { head: world.before, ...isBefore };
        expect(await seen(top), `killed at point ${point}: ${said}`).toEqual(expected);
        expect(said ?? '').not.toContain('left as they are');
        expect(existsSync(path.join(home, 'landing'))).toBe(false);
        expect(await recoverLanding(path.join(home, 'landing'), top), 'once more').toBeUndefined();
      }
      expect(point).toBeLessThan(POINTS_MAX);
      expect(ends.join(' ')).toMatch(/^nothing (undone ){8,}(finished ?)+$/);
      expect(await gitIn(world.repository.path)('fsck')).toBe('');
    },
  );

  it(
    'that is killed while a file stands where the user had an empty directory is undone by bosun status',
    { timeout: 120_000 },
    async () => {
      await using repository = await makeRepository();
      const { path: top } = repository;
      const made = await bosun(top, 'exec', '--', 'sh', '-c', 'mkdir x && echo made > x/a');
      expect(made.code, made.stderr).toBe(0);
      mkdirSync(path.join(top, 'x/a'), { recursive: true });
      const merge = path.resolve('src/operations/merge.ts');
      const die = `(point) => point === 'placed' && process.kill(process.pid, 'SIGKILL')`;
      const code = `import { mergeRun } from ${JSON.stringify(merge)}; await mergeRun({ cwd: '.', by: 'anna', fault: ${die} });`;
      await expect(
        exec(process.execPath, ['--input-type=module', '-e', code], { cwd: top }),
      ).rejects.toMatchObject({ signal: 'SIGKILL' });
      expect(readFileSync(path.join(top, 'x/a'), 'utf8')).toBe('made\n');
      const status = await bosun(top, 'status');
      expect(status.stderr).toMatch(
        /was cut off and has been undone, so nothing of it is there: merge again$/m,
      );
      expect(status.code).toBe(0);
      expect((await seen(top)).files).toEqual({ 'README.md': 'hello\n', 'x/a/': '' });
      const again = await bosun(top, 'merge');
      expect(again.code, again.stderr).toBe(0);
      expect(await seen(top)).toMatchObject({ status: '', files: { 'x/a': 'made\n' }, locked: false });
    },
  );

  it('that was cut off spares what somebody changed since', async () => {
    await using world = await makeWorld();
    const { path: top } = world.repository;
    expect(await merge(top, world, 9)).toBe('killed'); // all is taken, the first file is in place
    expect(readFileSync(path.join(top, 'a.txt'), 'utf8')).toBe('new a\n');
    writeFileSync(path.join(top, 'a.txt'), "the user's own\n");
    rmSync(path.join(top, 'gone'), { recursive: true });
    writeFileSync(path.join(top, 'gone'), 'a file in the place of a directory\n');
    expect(await recoverLanding(path.join(world.home, 'landing'), top)).toMatch(
      /has been undone.*left as they are: a\.txt, gone\/b\.txt/,
    );
    expect(await seen(top)).toMatchObject({
      head: world.before,
      status: ' M a.txt\n D gone/b.txt\n?? gone',
      locked: false,
    });
  });

  it('that was cut off is undone where the repository was moved to, and not taken back by a copy', async () => {
    await using world = await makeWorld();
    const { path: top } = world.repository;
    expect(await merge(top, world, 9)).toBe('killed');
    const moved = `${top}-moved`;
    renameSync(top, moved);
    const landing = path.join(world.home.replace(top, moved), 'landing');
    // without git there is no telling
    renameSync(path.join(moved, '.git', 'HEAD'), path.join(moved, '.git', 'HEAD.away'));
    await expect(recoverLanding(landing, moved)).rejects.toThrow(/was cut off in .*no work tree of this/);
    expect(existsSync(path.join(landing, 'stage', 'old', '0'))).toBe(true);
    renameSync(path.join(moved, '.git', 'HEAD.away'), path.join(moved, '.git', 'HEAD'));
    cpSync(moved, top, { recursive: true });
    expect(await recoverLanding(path.join(world.home, 'landing'), top)).toMatch(/undone/);
    expect(readFileSync(path.join(moved, 'a.txt'), 'utf8')).toBe('new a\n');
    expect(await recoverLanding(landing, moved)).toMatch(/undone/);
    expect(await seen(moved)).toEqual({ head: world.before, ...isBefore });
  });

  it('that an archive says was cut off leads nowhere outside of the repository', async () => {
    await using world = await makeWorld();
    const { path: top } = world.repository;
    const landing = path.join(world.home, 'landing');
    const victim = mkdtempSync(path.join(tmpdir(), 'bosun-victim-'));
    writeFileSync(path.join(victim, 'precious'), 'p\n');
    symlinkSync(victim, path.join(top, 'link'));
    const nonce = '00000000-0000-4000-8000-000000000000';
    const told = { top, worktree: '', nonce, from: world.before, to: world.after, what: 'x', onto: 'main' };
    const plant = async (where: string, intent?: object): Promise<unknown> => {
      rmSync(landing, { recursive: true, force: true });
      mkdirSync(path.join(landing, 'stage', 'old'), { recursive: true });
      writeFileSync(path.join(landing, 'stage', 'old', '0'), 'planted\n');
      writeFileSync(path.join(landing, 'where'), where);
      if (intent) writeFileSync(path.join(landing, 'intent.json'), JSON.stringify(intent));
      return recoverLanding(landing, top).catch((error: Error) => error.message);
    };
    const entry = (name: string): object => ({ entries: [{ path: name, isMade: false }] });
    expect(await plant(victim)).toBeUndefined();
    expect(readdirSync(victim)).toEqual(['precious']);
    expect(await plant(JSON.stringify({ ...told, top: victim, nonce: '../x' }))).toBeUndefined();
    const elsewhere = { ...told, top: victim, worktree: 'worktrees/x' };
    expect(await plant('', { ...elsewhere, ...entry('planted') })).toMatch(/no work tree of this repository/);
    for (const name of [
      `../${path.basename(victim)}/planted`,
      `${victim}/planted`,
      '.git/config.worktree',
      7,
    ])
      expect(await plant('', { ...told, ...entry(name as string) })).toMatch(
        /not in a way that bosun writes/,
      );
    expect(await plant('', { ...told, ...entry('link/planted') })).toMatch(/left as they are: link\/planted/);
    expect(readdirSync(victim)).toEqual(['precious']);
    rmSync(victim, { recursive: true });
  });

  it.runIf(HAS_SMALL_DISKS)('that meets a full disk leaves everything as it was', async () => {
    await using small = await smallDisk('6-mb');
    const disk = small.directory;
    const top = path.join(disk, 'repository');
    const git = async (...args: string[]): Promise<string> => gitIn(top)(...args);
    await gitIn(disk)('init', '-q', '-b', 'main', top);
    writeFileSync(path.join(top, 'a.txt'), 'a\n');
    await git('add', '-A');
    await git('commit', '-qm', 'Start');
    const before = await git('rev-parse', 'HEAD');
    // small when packed, larger than the disk when written
    for (const name of ['a.txt', 'b.txt']) writeFileSync(path.join(top, name), 'x'.repeat(1_400_000));
    await git('add', '-A');
    await git('commit', '-qm', 'result');
    const after = await git('rev-parse', 'HEAD');
    await git('reset', '-q', '--hard', before);
    const engine = await openEngineGit(await inspectRepository(top));
    const directory = path.join(engine.home, 'landing');
    const request = { directory, commit: after, base: before, message: 'Merge\n', what: 'run r-1' };
    writeFileSync(path.join(disk, 'filler'), Buffer.alloc(4_000_000));
    await expect(land(engine, request)).rejects.toMatchObject({
      code: 'system',
      message: expect.stringMatching(/nothing was merged.*no space/i),
    });
    expect(await seen(top)).toEqual({ head: before, status: '', files: { 'a.txt': 'a\n' }, locked: false });
    expect(existsSync(directory)).toBe(false);
    rmSync(path.join(disk, 'filler'));
    expect(await land(engine, request)).toMatchObject({ kind: 'fast-forward', head: after });
    expect((await seen(top)).status).toBe('');
  });

  it.runIf(HAS_SMALL_DISKS)('is undone on a disk with no space for even a directory', async () => {
    await using small = await smallDisk('6-mb-600-files');
    const disk = small.directory;
    await using world = await makeWorld(disk);
    const { path: top } = world.repository;
    const engine = await openEngineGit(await inspectRepository(top));
    let fillers = 0;
    const fill = (point: string): void => {
      if (point === 'staged' || point === 'intended' || point === 'locked') return;
      try {
        for (; ; fillers++) writeFileSync(path.join(disk, `filler-${fillers}`), '', { flag: 'wx' });
      } catch {}
    };
    await expect(
      land(engine, {
        directory: path.join(engine.home, 'landing'),
        commit: world.after,
        base: world.before,
        message: 'Merge\n',
        what: 'run r-1',
        fault: fill,
      }),
    ).rejects.toThrow(/^nothing was merged.*no space/);
    expect(fillers).toBeGreaterThan(0);
    expect(await seen(top)).toEqual({ head: world.before, ...isBefore });
  });

  it('leaves everything as it was where it is disturbed', async () => {
    await using world = await makeWorld();
    const { path: top } = world.repository;
    const git: EngineGit = await openEngineGit(await inspectRepository(top));
    const attempt = (at: string, disturb: () => void): Promise<unknown> =>
      land(git, {
        directory: path.join(world.home, 'landing'),
        commit: world.after,
        base: world.before,
        message: 'Merge\n',
        what: 'run r-1',
        fault: (point) => void (point === at && disturb()),
      });
    const refused = async (at: string, disturb: () => void, message: RegExp): Promise<void> => {
      await expect(attempt(at, disturb)).rejects.toMatchObject({ message: expect.stringMatching(message) });
      expect((await seen(top)).head).toBe(world.before);
      expect(existsSync(path.join(world.home, 'landing'))).toBe(false);
    };
    await refused(
      'staged',
      () => writeFileSync(path.join(top, '.git', 'index.lock'), ''),
      /another git command/,
    );
    expect((await seen(top)).locked, "another git's lock stays").toBe(true);
    renameSync(path.join(top, '.git', 'index.lock'), path.join(top, '.git', 'no.lock'));
    await refused(
      'locked',
      () => writeFileSync(path.join(top, 'a.txt'), 'mine\n'),
      /a\.txt .*changed just now/,
    );
    await gitIn(top)('checkout', '-q', 'a.txt');
    let isFirst = true;
    const put = (): void => {
      if (isFirst) writeFileSync(path.join(top, 'becomes'), 'mine\n');
      isFirst = false;
    };
    await refused('placed', put, /becomes|ENOTDIR|EEXIST/);
    expect(readFileSync(path.join(top, 'becomes'), 'utf8')).toBe('mine\n');
    await gitIn(top)('checkout', '-q', '.');
    expect(await seen(top)).toEqual({ head: world.before, ...isBefore });
    // somebody moves the branch
    const empty = await gitIn(top)('commit-tree', '-p', world.before, '-m', 'x', `${world.before}^{tree}`);
    const ref = path.join(top, '.git', 'refs', 'heads', 'main');
    await expect(attempt('indexed', () => writeFileSync(ref, `${empty}\n`))).rejects.toThrow(/update-ref/);
    expect(await seen(top)).toEqual({ head: empty, ...isBefore });
  });
});
