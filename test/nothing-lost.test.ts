/** What stays of runs when the journal is damaged, emptied or moved aside, and what clean may take away. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { open, readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { findHome, type Home } from '../src/store/home.ts';
import { isLocked } from '../src/store/lock.ts';
import { Bosun, workflow } from '../src/index.ts';
import { cleanWorkspaces } from '../src/operations/clean.ts';
import { bosun as cli, start } from './fixtures/cli.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const WORK = workflow({ name: 'w', tasks: { one: { run: 'date +%s%N > one.txt' } } });

async function runOnce(repository: TestRepository): Promise<string> {
  const { id, finished } = await new Bosun(repository.path).run(WORK);
  expect((await finished).state).toBe('done');
  return id;
}

function homeOf(repository: TestRepository): Home {
  return findHome(repository.path)!;
}

function moveAside({ journal }: Home): void {
  for (const end of ['', '-wal', '-shm'])
    if (existsSync(journal + end)) renameSync(journal + end, `${journal}${end}.aside`);
}

describe('a journal that is gone', () => {
  it('leads to no name used twice, and the branches of its runs are named', async () => {
    await using repository = await makeRepository();
    expect(await runOnce(repository)).toBe('w-1');
    const home = homeOf(repository);
    const branch = path.join(home.git, 'refs/heads/bosun/w-1');
    const before = await readFile(branch, 'utf8');

    moveAside(home);
    for (const command of ['status', 'diff', 'merge', 'report', 'logs']) {
      const { code, stderr } = await cli(repository.path, command);
      expect([command, code]).toEqual([command, 2]);
      expect(stderr).toContain(`git fetch ${home.git} bosun/w-1 && git merge FETCH_HEAD`);
    }
    await repository.git('fetch', '--quiet', home.git, 'bosun/w-1');
    await repository.git('merge', '--quiet', 'FETCH_HEAD');
    expect(existsSync(path.join(repository.path, 'one.txt'))).toBe(true);

    // Snapshots alone are enough, and so are branches that somebody packed.
    rmSync(branch);
    mkdirSync(path.join(home.git, 'refs/bosun/w-7'), { recursive: true });
    expect(await runOnce(repository)).toBe('w-8');
    await repository.git(`--git-dir=${home.git}`, 'pack-refs', '--all');
    moveAside(home);
    rmSync(home.runs, { recursive: true });
    expect(await runOnce(repository)).toBe('w-9');
    expect(await repository.git(`--git-dir=${home.git}`, 'rev-parse', 'bosun/w-8')).toMatch(/^[0-9a-f]{40}$/);
    expect(before).toMatch(/^[0-9a-f]{40}\n$/);
  });
});

describe('a damaged journal', () => {
  const DAMAGE: [string, (file: string) => Promise<void>][] = [
    ['cut off', (file) => truncate(file, 9000)],
    ['other bytes', (file) => writeFile(file, 'this is no database, '.repeat(1000))],
    ['pages of zeros', (file) => overwrite(file, 4096, Buffer.alloc(64 * 1024))],
    [
      'a directory',
      async (file) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    [
      'an entry that is not JSON',
      async (file) => {
        const db = new DatabaseSync(file);
        db.exec("UPDATE run SET view = 'x' || view; UPDATE event SET body = 'x' || body");
        db.close();
      },
    ],
  ];

  it(
    'says in every command what is wrong and what to do, and the work is still there',
    { timeout: 60_000 },
    async () => {
      await using repository = await makeRepository();
      await runOnce(repository);
      const home = homeOf(repository);
      const whole = await readFile(home.journal);
      const bosun = new Bosun(repository.path);
      for (const [name, damage] of DAMAGE) {
        rmSync(home.journal, { recursive: true, force: true });
        for (const end of ['-wal', '-shm']) rmSync(home.journal + end, { force: true });
        writeFileSync(home.journal, whole);
        await damage(home.journal);
        const commands: [string, () => Promise<unknown>][] = [
          ['status', () => bosun.status()],
          ['history', () => bosun.history()],
          ['diff', () => bosun.diff()],
          ['merge', () => bosun.merge()],
          ['report', () => bosun.report()],
          ['resume', () => bosun.resume()],
          ['cancel', () => bosun.cancel()],
          ['logs', async () => await bosun.events().next()],
          ['clean', () => cleanWorkspaces({ cwd: repository.path })],
        ];
        for (const [command, ask] of commands) {
          const said = await ask().then(
            () => 'nothing',
            (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
          );
          expect(said, `${command} on a journal with ${name}`).toMatch(
            /^journal: the journal .* is damaged .*Move it aside: mkdir .*kept: git --git-dir=.*branch$/,
          );
        }
      }
      moveAside(home);
      expect(await runOnce(repository)).toBe('w-2');
    },
  );

  async function overwrite(file: string, at: number, bytes: Buffer): Promise<void> {
    await using handle = await open(file, 'r+');
    await handle.write(bytes, 0, bytes.length, at);
  }
});

describe('bosun workspaces clean', () => {
  it('holds one run at a time, however many there are', async () => {
    await using repository = await makeRepository();
    const bosun = new Bosun(repository.path);
    const home = (): Home => homeOf(repository);
    for (let n = 0; n < 3; n++) {
      const { id } = await (await bosun.run(WORK)).finished;
      for await (const page of bosun.events(id))
        for (const { event } of page)
          if (event.type === 'attempt.workspace')
            mkdirSync(path.join(home().layers, event.workspace, 'upper'), { recursive: true });
      mkdirSync(path.join(home().memories, `${id}.one`), { recursive: true });
    }
    const one = await cleanWorkspaces({ cwd: repository.path, run: 'w-2' });
    expect(one.removed, 'of one run alone').toHaveLength(1);
    expect(readdirSync(home().memories).toSorted()).toEqual(['w-1.one', 'w-3.one']);
    const held: number[] = [];
    const { removed } = await cleanWorkspaces({
      cwd: repository.path,
      fault: () =>
        held.push(
          ['w-1', 'w-2', 'w-3'].filter((run) => isLocked(path.join(home().run(run), 'engine.lock'))).length,
        ),
    });
    expect(removed).toHaveLength(2);
    expect(Math.max(...held)).toBeLessThanOrEqual(1);
    expect(readdirSync(home().memories)).toEqual([]);
  });

  it(
    'keeps what is not a commit, also where the journal does not know of it',
    { timeout: 60_000 },
    async () => {
      await using repository = await makeRepository();
      const home = await interrupted(repository);
      const [name] = readdirSync(home.layers).filter((each) => each.startsWith('agent-'));
      const clean = async (): Promise<string[]> => {
        const { removed, kept } = await cleanWorkspaces({ cwd: repository.path });
        expect(removed).toEqual([]);
        return kept.map(({ why }) => why);
      };
      expect(await clean()).toEqual([expect.stringContaining('bosun resume half-1 goes on')]);
      const memory = path.join(home.memories, 'half-1.one');
      writeFileSync(memory, 'a conversation');
      moveAside(home);
      expect(await clean()).toEqual([expect.stringContaining('no run in the journal knows it')]);
      expect(existsSync(memory)).toBe(true);
      expect(await readFile(path.join(home.layers, name!, 'upper', 'half.txt'), 'utf8')).toBe('half\n');
      // The name of the run is not free either: it would find that workspace and take it for its own.
      const { id, finished } = await new Bosun(repository.path).run(
        workflow({ name: 'half', tasks: { one: { run: 'true' } } }),
      );
      await finished;
      expect(id).toBe('half-2');
    },
  );

  it('removes what is a commit, unless it was touched since or its snapshot is gone', async () => {
    await using repository = await makeRepository();
    await runOnce(repository);
    const home = homeOf(repository);
    let workspace = '';
    for await (const page of new Bosun(repository.path).events())
      for (const { event } of page) if (event.type === 'attempt.workspace') workspace = event.workspace;
    const layer = path.join(home.layers, workspace, 'upper');
    mkdirSync(layer, { recursive: true });
    writeFileSync(path.join(layer, 'more.txt'), 'after the snapshot\n');
    const clean = async (): Promise<string> => {
      const { removed, kept } = await cleanWorkspaces({ cwd: repository.path });
      return [...removed, ...kept.map(({ why }) => why)].join();
    };
    expect(await clean()).toContain('it was changed after the snapshot of one of run w-1');

    const ref = path.join(home.git, 'refs/bosun/w-1/one@1');
    const commit = await readFile(ref, 'utf8');
    rmSync(ref);
    expect(await clean()).toContain('the snapshot of its work (one of run w-1) is gone');
    writeFileSync(ref, commit);
    utimesSync(ref, new Date(), new Date(Date.now() + 1000));
    expect(await clean()).toBe(workspace);
    expect(existsSync(path.dirname(layer))).toBe(false);
  });
});

/** A run whose engine was killed while its only task had written half of its work. */
async function interrupted(repository: TestRepository): Promise<Home> {
  await repository.write({
    'bosun.yaml': `name: half\ntasks: { one: { run: "echo half > half.txt; echo writ''ten; sleep 60" } }\n`,
  });
  const { child, finished, prints } = start(repository.path, 'run', '--json');
  await prints('written');
  child.kill('SIGKILL');
  await finished;
  return homeOf(repository);
}
