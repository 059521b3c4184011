/** What every kind of workspace must do. */
import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BosunError } from '../../src/contract/errors.ts';
import type { Change } from '../../src/system/git/change.ts';
import { openEngineGit, type EngineGit } from '../../src/system/git/engine-git.ts';
import type { Launcher } from '../../src/system/process/process.ts';
import { inspectRepository } from '../../src/system/git/repository.ts';
import type { BaseLimits } from '../../src/workspace/bases.ts';
import type { Workspace, Workspaces } from '../../src/workspace/workspace.ts';
import { makeEngine, shell, type TestEngine } from '../fixtures/engine.ts';
import type { RepositoryOptions } from '../fixtures/repository.ts';

export function workspaceSuite(
  kind: string,
  open: (git: EngineGit, launcher: Launcher, limits?: BaseLimits) => Workspaces,
  launcherOf: (engine: TestEngine) => Launcher = (engine) => engine.sandbox.launcher,
): void {
  interface World extends AsyncDisposable {
    engine: TestEngine;
    workspaces: Workspaces;
    /** A workspace on HEAD. */
    workspace: Workspace;
    sh(command: string, workspace?: Workspace): Promise<string>;
    scratch(command: string): Promise<string>;
  }

  async function world(options?: RepositoryOptions): Promise<World> {
    const engine = await makeEngine(options);
    const launcher = launcherOf(engine);
    const workspaces = open(engine.git, launcher);
    const workspace = await workspaces.create(await workspaces.base(engine.head), 'task');
    return {
      engine,
      workspaces,
      workspace,
      sh: (command, where = workspace) => shell(launcher, where, command),
      scratch: (command) => shell(launcher, workspace, command, 'insideScratch'),
      [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
    };
  }

  async function changed(workspace: Workspace): Promise<string[]> {
    return (await workspace.changes()).map(shown);
  }

  describe(`${kind} workspaces`, () => {
    test('show the files of the commit and keep what is written from everyone else', async () => {
      await using w = await world({ files: { 'a.txt': 'one\n', 'dir/b.txt': 'two\n' } });
      const other = await w.workspaces.create(w.workspace.base, 'other');
      await w.sh('cat a.txt dir/b.txt; echo mine > a.txt');
      expect(await w.sh('cat a.txt', other)).toBe('one');
      expect(await readFile(path.join(w.engine.repository.path, 'a.txt'), 'utf8')).toBe('one\n');
      expect(await w.sh('cat a.txt')).toBe('mine');
      expect(await changed(w.workspace)).toEqual(['M a.txt']);
      expect(await changed(other)).toEqual([]);
    });

    test('are named after the task and the time, and the command works in a directory of that name', async () => {
      await using w = await world();
      expect(w.workspace.name).toMatch(/^agent-task-\d{8}T\d{9}Z$/);
      expect(path.basename(await w.sh('pwd'))).toBe(w.workspace.name);
      const odd = await w.workspaces.create(w.workspace.base, 'a/b [0] ü');
      expect(odd.name).toMatch(/^agent-a-b-0--[0-9a-f]{8}-\d{8}T\d{9}Z$/);
      const long = await w.workspaces.create(w.workspace.base, 'x'.repeat(500));
      expect(long.name.length).toBeLessThan(120);
      expect(await w.sh('pwd', long)).toBe(long.path);
      expect((await w.workspaces.names()).toSorted()).toEqual(
        [w.workspace.name, odd.name, long.name].toSorted(),
      );
    });

    test('tell additions, changes, deletions, modes and links', async () => {
      await using w = await world({
        files: {
          'keep.txt': 'k\n',
          'change.txt': 'c\n',
          'gone.txt': 'g\n',
          'dir/in.txt': 'i\n',
          'run.sh': 'x\n',
        },
      });
      await w.sh(
        'echo more >> change.txt; rm gone.txt; rm -r dir; chmod +x run.sh; mkdir -p new/deep; echo n > new/deep/n.txt; ln -s /etc/passwd link',
      );
      const changes = await w.workspace.changes();
      expect(changes.map(shown)).toEqual([
        'M change.txt',
        'D dir',
        'D gone.txt',
        'L link -> /etc/passwd',
        'A new/deep/n.txt',
        'M* run.sh',
      ]);
      const file = changes.find(
        (change) => change.kind === 'file' && change.path.toString() === 'change.txt',
      );
      expect(file?.kind === 'file' && (await readFile(file.source, 'utf8'))).toBe('c\nmore\n');
    });

    test('tell a directory that was removed and made again from one that was only added to', async () => {
      await using w = await world({
        files: { 'again/old.txt': 'o\n', 'again/sub/x.txt': 'x\n', 'more/old.txt': 'o\n' },
      });
      await w.sh('rm -r again; mkdir again; echo n > again/new.txt; echo n > more/new.txt');
      const deleted = (await changed(w.workspace)).filter((line) => line.startsWith('D'));
      expect(await changed(w.workspace)).toEqual(
        expect.arrayContaining(['A again/new.txt', 'A more/new.txt']),
      );
      // as a whole, or entry by entry: the same tree either way
      expect(deleted.length > 0 && deleted.every((line) => line.startsWith('D again'))).toBe(true);
      expect(await w.sh('ls again more')).toBe('again:\nnew.txt\n\nmore:\nnew.txt\nold.txt');
    });

    test('tell a file that took the place of a directory, and the other way round', async () => {
      await using w = await world({ files: { 'dir/a.txt': 'a\n', file: 'f\n', linked: 'l\n' } });
      await w.sh(
        'rm -r dir; echo file > dir; rm file; mkdir file; echo in > file/in.txt; rm linked; ln -s dir linked',
      );
      expect(await changed(w.workspace)).toEqual([
        'D dir',
        'M dir',
        'D file',
        'A file/in.txt',
        'L linked -> dir',
      ]);
    });

    test('keep every byte of a file name', async () => {
      await using w = await world();
      await w.sh(
        `printf x > "$(printf 'new\\nline')"; printf x > "$(printf 'latin-\\351')"; printf x > 'quote"\\back'; mkdir "$(printf 'd\\377')"; printf x > "$(printf 'd\\377/in')"`,
      );
      const names = (await w.workspace.changes()).map((change) => change.path.toString('latin1'));
      expect(names).toEqual(['d\xff/in', 'latin-\xe9', 'new\nline', 'quote"\\back']);
    });

    test('leave out what git ignores, at every level, unless it is tracked', async () => {
      await using w = await world({
        files: {
          '.gitignore': '*.log\n/build/\n!keep.log\n',
          'sub/.gitignore': 'local\n',
          'tracked.txt': 't\n',
        },
      });
      await w.engine.repository.write({ 'was.log': 'w\n', 'build/kept.txt': 'k\n' });
      await w.engine.repository.git('add', '-f', 'was.log', 'build/kept.txt');
      await w.engine.repository.git('commit', '-qm', 'tracked although ignored');
      const head = await w.engine.repository.git('rev-parse', 'HEAD');
      const workspace = await w.workspaces.create(await w.workspaces.base(head), 'ignored');
      await w.sh(
        'echo x > a.log; echo x > keep.log; mkdir -p build/deep sub/build; echo x > build/deep/b; echo x > sub/local; echo x > sub/build/c; echo x > local; echo more >> was.log; echo more >> build/kept.txt; echo x > build/not; echo "later" >> .gitignore; echo x > later',
        workspace,
      );
      expect(await changed(workspace)).toEqual([
        'M .gitignore',
        'M build/kept.txt',
        'A keep.log',
        'A local',
        'A sub/build/c',
        'M was.log',
      ]);
    });

    test("leave out what the user's own exclude file names", async () => {
      await using w = await world();
      await writeFile(path.join(w.engine.repository.path, '.git', 'info', 'exclude'), 'private\n');
      const git = await openEngineGit(await inspectRepository(w.engine.repository.path));
      const workspaces = open(git, launcherOf(w.engine));
      const workspace = await workspaces.create(await workspaces.base(w.engine.head), 'excluding');
      await w.sh('echo x > private; echo x > public', workspace);
      expect(await changed(workspace)).toEqual(['A public']);
    });

    test('refuse what no commit can hold, and say why', async () => {
      await using w = await world({ files: { 'a.txt': 'a\n' } });
      await w.sh(
        'mkfifo pipe; git init -q nested; echo x > nested/x; mkdir sub; echo x > sub/.GIT; echo fine > fine',
      );
      expect(await changed(w.workspace)).toEqual([
        'A fine',
        '! nested: nested repository',
        '! pipe: a named pipe',
        '! sub: nested repository',
      ]);
    });

    test('give the agent a git repository of its own in which it can look around and commit', async () => {
      await using w = await world({ files: { 'a.txt': 'a\n' } });
      expect(await w.sh('git status --porcelain; git log --format=%s; git branch --show-current')).toBe(
        'Start\nmain',
      );
      await w.sh('echo b > b.txt; git add -A; git commit -qm mine; git log --format=%s');
      expect(await w.sh('git log --format=%s')).toBe('mine\nStart');
      expect(await changed(w.workspace)).toEqual(['A b.txt']);
      expect(await w.engine.repository.git('log', '--format=%s')).toBe('Start');
      expect(await w.engine.repository.git('status', '--porcelain')).toBe('');
    });

    test('start a later task from the files of an earlier result', async () => {
      await using w = await world({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n', 'dir/c.txt': 'c\n' } });
      const { repository } = w.engine;
      await repository.write({ 'a.txt': 'changed\n', 'new.txt': 'n\n' });
      await repository.git('rm', '-qr', 'b.txt', 'dir');
      const second = await repository.commit('second', { dir: 'now a file\n' });
      const base = await w.workspaces.base(second);
      const workspace = await w.workspaces.create(base, 'later');
      expect(await w.sh('ls; cat a.txt dir; git status --porcelain; git log --format=%s', workspace)).toBe(
        'a.txt\ndir\nnew.txt\nchanged\nnow a file\nsecond\nStart',
      );
      await w.sh('rm new.txt dir; mkdir dir; echo again > dir/c.txt', workspace);
      expect(await changed(workspace)).toEqual(['D dir', 'A dir/c.txt', 'D new.txt']);
      await repository.git('checkout', '-q', '--detach', 'HEAD~1');
      const third = await w.workspaces.base(await repository.commit('third', { 'third.txt': '3\n' }));
      expect(third.lowers.length).toBeLessThanOrEqual(2);
      expect(await w.sh('ls; cat third.txt', await w.workspaces.create(third, 'third'))).toBe(
        'a.txt\nb.txt\ndir\nthird.txt\n3',
      );
    });

    test('bring untracked files along, which count only once they are changed and not ignored', async () => {
      await using w = await world({
        files: { '.gitignore': 'node_modules\n', 'a.txt': 'a\n', 'config/tracked.json': '{}\n' },
      });
      const { repository } = w.engine;
      await repository.write({
        '.env.test': 'KEY=1\n',
        'node_modules/m/index.js': 'm\n',
        'config/local.json': 'l\n',
        'config/tracked.json': 'edited by the user\n',
      });
      await symlink('m', path.join(repository.path, 'node_modules', 'link'));
      const base = await w.workspaces.base(w.engine.head, {
        copy: ['.env.test', 'node_modules', 'config/*'],
      });
      const workspace = await w.workspaces.create(base, 'copied');
      expect(
        await w.sh(
          'cat .env.test node_modules/link/index.js config/local.json config/tracked.json',
          workspace,
        ),
      ).toBe('KEY=1\nm\nl\n{}');
      expect(await changed(workspace)).toEqual([]);
      await w.sh('echo KEY=2 > .env.test; echo x > node_modules/m/more.js; rm config/local.json', workspace);
      expect(await changed(workspace)).toEqual(['A .env.test']);
    });

    test('run the setup command once per base and keep what it made', async () => {
      await using w = await world({ files: { '.gitignore': 'deps\n', 'a.txt': 'a\n' } });
      const said: string[] = [];
      const setup = {
        around: { env: { PATH: '/usr/bin:/bin' } },
        onOutput: (chunk: Buffer) => void said.push(chunk.toString()),
      };
      const options = { setup: 'echo installing; mkdir deps; date +%N > deps/when' };
      const [base, same] = await Promise.all([
        w.workspaces.base(w.engine.head, options, setup),
        w.workspaces.base(w.engine.head, options, setup),
      ]);
      const workspace = await w.workspaces.create(base, 'one');
      const other = await w.workspaces.create(same, 'two');
      expect(await w.sh('cat deps/when', workspace)).toBe(await w.sh('cat deps/when', other));
      expect(said.join('')).toBe('installing\n');
      expect(await changed(workspace)).toEqual([]);
    });

    test('say what a failing setup command printed, and try it again the next time', async () => {
      await using w = await world();
      const registry = path.join(w.engine.repository.path, 'registry');
      await mkdir(registry);
      const setup = { around: { env: { PATH: '/usr/bin:/bin' }, reads: [registry] } };
      const options = { setup: `echo no such package >&2; test -e ${registry}/fixed` };
      const failed = await w.workspaces
        .base(w.engine.head, options, setup)
        .catch((error: BosunError) => error);
      expect(failed).toMatchObject({
        code: 'system',
        message: expect.stringMatching(/setup command.*exit code 1\nno such package$/s),
      });
      await writeFile(path.join(registry, 'fixed'), '');
      await expect(w.workspaces.base(w.engine.head, options, setup)).resolves.toBeTruthy();
    });

    test('let a check look at the work without changing it', async () => {
      await using w = await world({ files: { 'a.txt': 'a\n' } });
      await w.sh('echo work > a.txt');
      expect(await w.scratch('cat a.txt; echo broken > a.txt; echo junk > junk; cat a.txt')).toBe(
        'work\nbroken',
      );
      expect(await w.sh('cat a.txt; ls')).toBe('work\na.txt');
      await w.scratch('cat a.txt');
      await w.sh('echo more >> a.txt');
      expect(await w.scratch('cat a.txt')).toBe('work\nmore');
    });

    test('can be told to stop while costly ignore rules are applied', async () => {
      await using w = await world();
      const names = `$(seq -f ${'a'.repeat(220)}%g 60)`; // each takes some 20 ms
      await w.sh(`yes '*${'a'.repeat(60)}[bc]' | head -n 40 > .gitignore; touch ${names}`);
      const stopping = new AbortController();
      setTimeout(() => stopping.abort(), 100);
      await expect(w.workspace.changes(stopping.signal)).rejects.toMatchObject({ name: 'AbortError' });
    });

    test('find files by glob, ignored ones too', async () => {
      await using w = await world({
        files: { '.gitignore': 'dist\n', 'src/a.ts': 'a\n', 'docs/old.md': 'o\n', 'docs/gone.md': 'g\n' },
      });
      await w.sh(
        'mkdir -p dist/x; echo 1 > dist/x/out.js; echo 2 > docs/new.md; rm docs/gone.md; ln -s /etc/passwd docs/link.md; ln -s /etc docs/etc',
      );
      const globs = [
        './dist',
        'docs/*.md',
        'docs/etc/passwd',
        'docs/etc/host*',
        'docs/e{t,x}c/passwd',
        'docs/link.md',
      ];
      const found = await w.workspace.find(globs);
      expect(found.map((file) => file.path).sort()).toEqual(['dist/x/out.js', 'docs/new.md', 'docs/old.md']);
      const out = found.find((file) => file.path === 'dist/x/out.js');
      expect(await readFile(path.join(out!.root, out!.path), 'utf8')).toBe('1\n');
      await expect(w.workspace.find(['../*'])).rejects.toThrow('holds "..", which leads out');
    });

    test('can be listed, opened again by a later engine, and removed whatever is in them', async () => {
      await using w = await world();
      await w.sh('mkdir locked; echo x > locked/x; chmod 500 locked; head -c 100000 /dev/zero > big');
      const later = open(w.engine.git, launcherOf(w.engine));
      const base = await later.base(w.engine.head);
      const again = await later.open(w.workspace.name, base);
      expect(await changed(again!)).toEqual(['A big', 'A locked/x']);
      const [entry] = await later.list();
      expect(entry).toMatchObject({ name: w.workspace.name });
      expect(entry!.bytes).toBeGreaterThan(100_000);
      expect(Math.abs(entry!.createdAtMs - Date.now())).toBeLessThan(60_000);
      await later.remove(w.workspace.name);
      await later.remove(w.workspace.name);
      expect(await later.list()).toEqual([]);
      expect(await later.open(w.workspace.name, base)).toBeUndefined();
      await expect(later.remove('../git')).rejects.toMatchObject({ code: 'not-found' });
    });

    test('work in a repository whose path has spaces, colons, commas, quotes and other letters', async () => {
      await using w = await world({ name: 'a b:c,d"e\'f ü\\', files: { 'a.txt': 'a\n' } });
      await w.sh('echo b > b.txt; git status --porcelain');
      expect(await changed(w.workspace)).toEqual(['A b.txt']);
    });

    test('work after the repository was moved', async () => {
      await using w = await world({ files: { 'a.txt': 'a\n' } });
      const moved = path.join(w.engine.repository.path, '..', 'moved');
      await rename(w.engine.repository.path, moved);
      const git = await openEngineGit(await inspectRepository(moved));
      const workspaces = open(git, launcherOf(w.engine));
      const workspace = await workspaces.create(await workspaces.base(w.engine.head), 'moved');
      expect(await w.sh('git log --format=%s; git status --porcelain; cat a.txt', workspace)).toBe(
        'Start\na',
      );
    });

    test('of a new commit, and on what was made of it, work after the repository was moved', async () => {
      await using w = await world({ files: { 'a.txt': 'a\n' } });
      const head = await w.engine.repository.commit('second', { 'a.txt': 'second\n' });
      const places = [path.join(w.engine.repository.path, '..', 'moved'), w.engine.repository.path];
      for (const [index, to] of places.entries()) {
        await rename(places.at(index - 1)!, to);
        const git = await openEngineGit(await inspectRepository(to));
        const workspaces = open(git, launcherOf(w.engine));
        const workspace = await workspaces.create(await workspaces.base(head), `moved-${index}`);
        expect(await w.sh('git log -1 --format=%s; git status --porcelain; cat a.txt', workspace)).toBe(
          'second\nsecond',
        );
      }
    });

    test('leave a submodule as it is', async () => {
      await using w = await world({ files: { 'a.txt': 'a\n' } });
      const { repository } = w.engine;
      await repository.git('update-index', '--add', '--cacheinfo', `160000,${w.engine.head},vendor/lib`);
      await repository.git('commit', '-qm', 'with a submodule');
      const head = await repository.git('rev-parse', 'HEAD');
      const workspace = await w.workspaces.create(await w.workspaces.base(head), 'sub');
      expect(await w.sh('ls -A vendor/lib; git status --porcelain', workspace)).toBe('');
      await w.sh('echo x > vendor/other', workspace);
      expect(await changed(workspace)).toEqual(['A vendor/other']);
      await w.sh('echo x > vendor/lib/x', workspace);
      expect(await changed(workspace)).toEqual(['! vendor/lib: files inside a submodule', 'A vendor/other']);
    });

    test('give bytes in and out as they are, whatever attributes say', async () => {
      await using w = await world({
        files: {
          '.gitattributes': '*.txt text eol=crlf ident working-tree-encoding=UTF-16\n',
          'raw.bin': 'r\r\n\n$Id$\n',
        },
      });
      const { repository } = w.engine;
      // the way the user's git would store it: with line feeds alone
      await repository.git('config', 'core.autocrlf', 'true');
      const blob = await repository.git('hash-object', '-w', '--no-filters', 'raw.bin');
      await repository.git('update-index', '--add', '--cacheinfo', `100644,${blob},raw.txt`);
      await repository.git('commit', '-qm', 'raw');
      const head = await repository.git('rev-parse', 'HEAD');
      await w.workspaces.prune(new Set());
      const workspace = await w.workspaces.create(await w.workspaces.base(head), 'raw');
      expect(
        await w.sh('cmp raw.bin raw.txt; git status --porcelain; printf "x\\r\\n" >> raw.txt', workspace),
      ).toBe('');
      expect(await changed(workspace)).toEqual(['M raw.txt']);
    });

    test('make one base for many requests at once, and a thousand workspaces on it', async () => {
      await using w = await world({ files: { 'a.txt': 'a\n' } });
      const bases = await Promise.all(Array.from({ length: 20 }, () => w.workspaces.base(w.engine.head)));
      expect(new Set(bases.map((base) => base.lowers.join())).size).toBe(1);
      const count = kind === 'clone' ? 20 : 1000;
      const made = await Promise.all(
        Array.from({ length: count }, (_, n) => w.workspaces.create(bases[0]!, `n${n % 3}`)),
      );
      expect(new Set(made.map((workspace) => workspace.name)).size).toBe(count);
      expect(await changed(made.at(-1)!)).toEqual([]);
    });

    test('forget what a crash left half made, and the bases nobody needs', async () => {
      await using w = await world();
      const [lower] = w.workspace.base.lowers;
      const bases = path.dirname(path.dirname(lower!));
      await mkdir(path.join(bases, '.new-999999999-dead', 'tree'), { recursive: true });
      await w.workspaces.prune(new Set([w.engine.head]));
      await expect(stat(path.join(bases, '.new-999999999-dead'))).rejects.toThrow('ENOENT');
      expect(await w.sh('cat README.md')).toBe('hello');
      await w.workspaces.prune(new Set());
      await expect(stat(lower!)).rejects.toThrow('ENOENT');
      await w.workspaces.base(w.engine.head);
      expect(await w.sh('cat README.md')).toBe('hello');
    });

    test('keep a bounded number of bases beside those in use, and make a forgotten one again', async () => {
      await using w = await world();
      const { repository } = w.engine;
      const commits: string[] = [];
      for (let n = 0; n < 6; n += 1) commits.push(await repository.commit(`n${n}`, { 'n.txt': `${n}\n` }));
      const workspaces = open(w.engine.git, launcherOf(w.engine), { deltasMax: 2, recentMs: 0 });
      const used = await workspaces.create(await workspaces.base(commits[0]!), 'used');
      for (const commit of commits.slice(1)) await workspaces.base(commit);
      const bases = path.dirname(path.dirname(used.base.lowers[0]!));
      const there = new Set(await readdir(bases));
      expect(commits.filter((commit) => there.has(commit))).toEqual([commits[0], commits[5]]);
      expect(await w.sh('cat n.txt', used)).toBe('0');
      const again = await workspaces.create(await workspaces.base(commits[2]!), 'again');
      expect(await w.sh('cat n.txt; git log -1 --format=%s', again)).toBe('2\nn2');
    });

    test('see a change that keeps size and time in seconds', async () => {
      await using w = await world({ files: { 'a.txt': 'aaa\n' } });
      await w.sh('echo bbb > a.txt');
      expect(await w.sh('git status --porcelain')).toBe(' M a.txt');
      expect(await changed(w.workspace)).toEqual(['M a.txt']);
    });

    test('collect a file that the agent made unreadable', async () => {
      await using w = await world();
      await w.sh('echo s > secret; chmod 000 secret; mkdir d; echo x > d/x; chmod 000 d');
      expect(await changed(w.workspace)).toEqual(['A d/x', 'A secret']);
    });
  });
}

/** `A` new, `M` changed, `*` executable, `L` link, `D` deleted, `!` refused. */
function shown(change: Change): string {
  const name = change.path.toString();
  if (change.kind === 'delete') return `D ${name}`;
  if (change.kind === 'refused') return `! ${name}: ${change.why}`;
  if (change.kind === 'symlink') return `L ${name} -> ${change.target.toString()}`;
  return `${change.isNew ? 'A' : 'M'}${change.mode === '100755' ? '*' : ''} ${name}`;
}
