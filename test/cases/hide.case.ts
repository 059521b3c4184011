/** What every kind of workspace must do where something of the commit is hidden. */
import { readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/system/git/change.ts';
import type { EngineGit } from '../../src/system/git/engine-git.ts';
import type { Launcher } from '../../src/system/process/process.ts';
import type { BaseLimits } from '../../src/workspace/bases.ts';
import type { BaseOptions, Workspace, Workspaces } from '../../src/workspace/workspace.ts';
import { makeEngine, shell, type TestEngine } from '../fixtures/engine.ts';

/** Everything that the git of a workspace holds, as text. */
const ALL_OBJECTS =
  "git cat-file --batch-all-objects --batch-check | while read id type size; do echo $type; git cat-file $type $id | tr -c '[:print:]\\n' '.'; done";
const SETUP = { around: { env: { PATH: '/usr/bin:/bin' } } };

export function hideSuite(
  kind: 'overlay' | 'clone',
  open: (git: EngineGit, launcher: Launcher, limits?: BaseLimits) => Workspaces,
  launcherOf: (engine: TestEngine) => Launcher = (engine) => engine.sandbox.launcher,
): void {
  interface World extends AsyncDisposable {
    engine: TestEngine;
    workspaces: Workspaces;
    on(commit: string, options?: BaseOptions): Promise<Workspace>;
    sh(workspace: Workspace, command: string): Promise<string>;
    /** Writes these files and commits all. */
    commit(files: Record<string, string>, ...gone: string[]): Promise<string>;
  }

  async function world(files: Record<string, string>, limits?: BaseLimits): Promise<World> {
    const engine = await makeEngine({ files });
    const { repository } = engine;
    const launcher = launcherOf(engine);
    const workspaces = open(engine.git, launcher, limits);
    return {
      engine,
      workspaces,
      on: async (commit, options) => workspaces.create(await workspaces.base(commit, options, SETUP), 'task'),
      sh: (workspace, command) => shell(launcher, workspace, command),
      commit: async (more, ...gone) => {
        for (const file of gone) await rm(path.join(repository.path, file));
        await repository.write(more);
        await repository.git('add', '-A');
        await repository.git('commit', '-qm', 'a later one');
        return repository.git('rev-parse', 'HEAD');
      },
      [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
    };
  }

  const basesOf = (w: World): string =>
    path.join(w.engine.git.sandbox, kind === 'overlay' ? 'bases' : 'copies');

  describe(`${kind} workspaces that hide files`, () => {
    test('show neither the file nor, in their git, anything of it', async () => {
      await using w = await world({
        'a.txt': 'a\n',
        'secrets/key.pem': 'the-old-secret\n',
        'config/live.key': 'the-other-secret\n',
        'config/open.txt': 'o\n',
      });
      const head = await w.commit({ 'secrets/key.pem': 'the-new-secret\n', 'gone.key': 'the-gone-secret\n' });
      const last = await w.commit({ 'a.txt': 'b\n' }, 'gone.key');
      const hide = ['secrets/**', '**/*.key'];
      for (const commit of [head, last]) {
        const workspace = await w.on(commit, { hide });
        expect(workspace.base).toMatchObject({ commit, mask: [] });
        expect(await w.sh(workspace, 'find . -path ./.git -prune -o -type f -print | sort')).toBe(
          './a.txt\n./config/open.txt',
        );
        expect(await w.sh(workspace, 'git status --porcelain; git log --format="%an %s" --all')).toBe(
          'bosun The files as this agent may see them',
        );
        const objects = await w.sh(workspace, ALL_OBJECTS);
        expect(objects).toContain('blob');
        expect(objects).not.toMatch(/secret|key|pem/);
        const everywhere = await w.sh(
          workspace,
          'grep -raE "the-(old|new|other|gone)-secret|[.](pem|key)" . || echo nothing',
        );
        expect(everywhere).toBe('nothing');
        const asked = ['HEAD:secrets/key.pem', 'HEAD:config/live.key', commit, `${commit}:config/live.key`];
        for (const name of asked)
          await expect(w.sh(workspace, `git show ${name}`), name).rejects.toThrow('exit code 128');
        expect(await w.sh(workspace, 'cat .git/objects/info/alternates || true')).toContain('No such file');
      }
    });

    test('let the agent commit, and tell its changes as of the whole commit', async () => {
      await using w = await world({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'secrets/s': 's\n' });
      const workspace = await w.on(w.engine.head, { hide: ['secrets'] });
      await w.sh(workspace, 'echo more >> a.txt; rm b.txt; echo n > n.txt; git add -A; git commit -qm mine');
      expect(await w.sh(workspace, 'git log --format=%s; git status --porcelain')).toBe(
        'mine\nThe files as this agent may see them',
      );
      expect(workspace.base.commit).toBe(w.engine.head);
      expect(await changed(workspace)).toEqual(['M a.txt', 'D b.txt', 'A n.txt']);
    });

    test('tell what was put in the place of something hidden, ignored or not', async () => {
      await using w = await world({
        'a.txt': 'a\n',
        'k.key': 'k\n',
        'l.key': 'l\n',
        'deep/er/m.key': 'm\n',
        'deep/n.key': 'n\n',
      });
      const head = await w.commit({ '.gitignore': 'k.key\ndeep\n' });
      const workspace = await w.on(head, { hide: ['**/*.key'] });
      await w.sh(workspace, 'echo mine > k.key; mkdir l.key; echo x > l.key/x; mkdir deep; echo f > deep/er');
      expect(await changed(workspace)).toEqual([
        'D/ deep/er',
        'M deep/er',
        'M k.key',
        'D l.key',
        'A l.key/x',
      ]);
    });

    test('keep what is hidden in a directory that was deleted or made again', async () => {
      await using w = await world({
        'gone/a.txt': 'a\n',
        'gone/s.key': 's\n',
        'gone/in/b.txt': 'b\n',
        'gone/deep/c.txt': 'c\n',
        'gone/deep/s.key': 's\n',
        'again/a.txt': 'a\n',
        'again/s.key': 's\n',
        'file/a.txt': 'a\n',
        'file/s.key': 's\n',
      });
      const workspace = await w.on(w.engine.head, { hide: ['**/*.key'] });
      await w.sh(workspace, 'rm -r gone again file; mkdir again; echo n > again/n.txt; echo f > file');
      const changes = await changed(workspace);
      expect(changes.filter((line) => line.startsWith('D'))).toEqual([
        'D again/a.txt',
        'D/ file',
        'D gone/a.txt',
        'D gone/deep/c.txt',
        'D/ gone/in',
      ]);
      expect(changes).toEqual(expect.arrayContaining(['A again/n.txt', 'M file']));
    });

    test('hide different files from different agents at the same time', async () => {
      await using w = await world({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
      const [plain, noA, noB, same, none] = await Promise.all([
        w.on(w.engine.head),
        w.on(w.engine.head, { hide: ['a.txt'] }),
        w.on(w.engine.head, { hide: ['b.txt'] }),
        w.on(w.engine.head, { hide: ['b.txt', 'b.txt'] }),
        w.on(w.engine.head, { hide: ['a.txt', 'b.txt'] }),
      ]);
      expect(await w.sh(plain, 'ls; git log --format=%s')).toBe('a.txt\nb.txt\nStart');
      expect(await w.sh(noA, 'ls')).toBe('b.txt');
      expect(await w.sh(noB, 'ls')).toBe('a.txt');
      expect(await w.sh(none, 'ls; git status --porcelain')).toBe('');
      expect(same.base.lowers).toEqual(noB.base.lowers);
      expect(plain.base).toMatchObject({ checkedOut: w.engine.head, hide: [], mask: [] });
      expect(noA.base.checkedOut).not.toBe(noB.base.checkedOut);
    });

    test('are found again by a later engine, and the same commit is made each time', async () => {
      await using w = await world({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
      const first = await w.on(w.engine.head, { hide: ['b.txt'] });
      await w.sh(first, 'echo b > b.txt');
      const later = open(w.engine.git, launcherOf(w.engine));
      const base = await later.base(w.engine.head, { hide: ['b.txt'] });
      expect(base).toEqual(first.base);
      expect(await changed((await later.open(first.name, base))!)).toEqual(['M b.txt']);
      await later.prune(new Set());
      expect(await later.base(w.engine.head, { hide: ['b.txt'] })).toEqual(first.base);
    });

    test('start a later commit from an earlier base that hides the same', async () => {
      await using w = await world({ 'a.txt': 'a\n', 'same.txt': 's\n', 'x.key': 'one-secret\n' });
      const hide = ['*.key'];
      await w.on(w.engine.head, { hide });
      await w.on(w.engine.head);
      const second = await w.commit({ 'a.txt': 'changed\n', 'new.txt': 'n\n', 'x.key': 'two-secret\n' });
      const workspace = await w.on(second, { hide });
      const home = path.join(basesOf(w), workspace.base.name);
      expect((await readdir(home)).includes('on')).toBe(true);
      expect(
        await w.sh(workspace, 'ls; cat a.txt same.txt; git status --porcelain; git log --format=%s'),
      ).toBe('a.txt\nnew.txt\nsame.txt\nchanged\ns\nThe files as this agent may see them');
      expect(await w.sh(workspace, ALL_OBJECTS)).not.toMatch(/secret|key/);
      await w.sh(workspace, 'git fsck --strict; echo x > x.key; git add -A; git commit -qm mine; git gc -q');
      expect(await changed(workspace)).toEqual(['M x.key']);
    });

    test('bring no objects from an earlier base in which the file lay in the open', async () => {
      await using w = await world({ 'a.txt': 'a\n', 'key.txt': 'the-secret\n' });
      const hide = ['secrets/**'];
      const before = await w.on(w.engine.head, { hide });
      expect(await w.sh(before, 'cat key.txt')).toBe('the-secret');
      await w.on(await w.commit({ 'b.txt': 'b\n' }, 'key.txt'), { hide });
      const moved = await w.commit({ 'secrets/key.txt': 'the-secret\n' });
      const workspace = await w.on(moved, { hide });
      expect(await w.sh(workspace, ALL_OBJECTS)).not.toMatch(/secret|key/);
      const last = await w.on(await w.commit({ 'a.txt': 'b\n' }), { hide });
      expect(await w.sh(last, ALL_OBJECTS)).not.toMatch(/secret|key/);
    });

    test('keep a bounded number of bases, and forget those of commits that nobody needs', async () => {
      await using w = await world({ 'a.txt': 'a\n', 'x.key': 'x\n' }, { deltasMax: 1, recentMs: 0 });
      const hide = ['x.key'];
      const used = await w.on(w.engine.head, { hide });
      const commits: string[] = [];
      for (let n = 0; n < 3; n += 1) commits.push(await w.commit({ 'a.txt': `${n}\n` }));
      for (const commit of commits) await w.workspaces.base(commit, { hide });
      const checkouts = (await readdir(basesOf(w))).filter((name) => !name.startsWith('.'));
      expect(checkouts.map((name) => name.split('+')[0]!).toSorted()).toEqual(
        [w.engine.head, commits[2]!].toSorted(),
      );
      await w.workspaces.prune(new Set([commits[2]!]));
      expect((await readdir(basesOf(w))).filter((name) => name.startsWith(commits[2]!))).toHaveLength(1);
      const again = await w.on(commits[2]!, { hide });
      expect(await w.sh(again, 'cat a.txt; ls')).toBe('2\na.txt');
      await w.workspaces.remove(used.name);
      await w.workspaces.prune(new Set());
      expect(await readdir(basesOf(w))).toEqual([]);
      expect((await readdir(w.engine.git.directory)).filter((name) => name.startsWith('index'))).toEqual([]);
    });

    test('cover what copy and setup brought, a directory as a whole', async () => {
      await using w = await world({ '.gitignore': '.env\nconfig\nnode_modules\nmade\n', 'a.txt': 'a\n' });
      await w.engine.repository.write({
        '.env': 'KEY=1\n',
        'config/local.json': 'l\n',
        'config/other.txt': 'o\n',
        'node_modules/m/tests/t.js': 't\n',
        'node_modules/m/index.js': 'm\n',
        'node_modules/gone/tests/t.js': 't\n',
      });
      const workspace = await w.on(w.engine.head, {
        hide: ['.env', 'config/*.json', '**/tests/**', 'made', 'made/in/*', 'absent/**'],
        copy: ['.env', 'config', 'node_modules'],
        setup:
          'test -e .env; cp .env config/again.json; mkdir -p made/in; echo 1 > made/in/x; rm -r node_modules/gone',
      });
      const hidden = ['.env', 'config/again.json', 'config/local.json', 'made', 'node_modules/m/tests'];
      expect(workspace.base.mask).toEqual(kind === 'overlay' ? hidden : []);
      const there = await w.sh(workspace, `ls -d ${hidden.join(' ')} 2> /dev/null || true`);
      expect(there).toBe(kind === 'overlay' ? hidden.join('\n') : '');
      expect(await w.sh(workspace, 'ls a.txt config/other.txt node_modules/m/index.js')).not.toBe('');
      expect((await workspace.find(['**'])).map((file) => file.path).toSorted()).toEqual([
        '.gitignore',
        'a.txt',
        'config/other.txt',
        'node_modules/m/index.js',
      ]);
      expect(await changed(workspace)).toEqual([]);
      const open = await w.on(w.engine.head, { copy: ['.env'] });
      expect(open.base.mask).toEqual([]);
      expect(await w.sh(open, 'cat .env')).toBe('KEY=1');
    });

    test('refuse to cover very many files one by one', async () => {
      await using w = await world({ '.gitignore': 'many\n', 'a.txt': 'a\n' });
      const files = Array.from({ length: 501 }, (_, n) => [`many/${n}.key`, 'k\n'] as const);
      await w.engine.repository.write(Object.fromEntries(files));
      const base = w.workspaces.base(w.engine.head, { copy: ['many'], hide: ['many/*.key'] });
      await expect(base).rejects.toMatchObject({
        code: 'invalid-workflow',
        message: expect.stringMatching(/more than 500 files .*hide their directory instead/),
      });
      const whole = await w.workspaces.base(w.engine.head, { copy: ['many'], hide: ['many/**'] });
      expect(whole.mask).toEqual(kind === 'overlay' ? ['many'] : []);
    });

    test('leave out a link that is named, and refuse to hide what lies behind one', async () => {
      await using w = await world({ 'real/x': 'x\n', 'a.txt': 'a\n', '.gitignore': 'copied\n' });
      const { path: top } = w.engine.repository;
      await symlink('real', path.join(top, 'link'));
      const head = await w.commit({});
      const workspace = await w.on(head, { hide: ['link'] });
      expect(await w.sh(workspace, 'ls')).toBe('a.txt\nreal');
      for (const glob of ['link/x', 'link/**', 'link/sub/*.txt', '{a,link}/x']) {
        await expect(w.workspaces.base(head, { hide: [glob] }), glob).rejects.toMatchObject({
          code: 'invalid-workflow',
          message: `scope.hide names ${glob}, but link is a symbolic link to real, where the files could still be seen: name them where they are instead`,
        });
      }
      await symlink('real', path.join(top, 'copied'));
      const copy = ['copied'];
      await expect(w.workspaces.base(head, { copy, hide: ['copied/x'] })).rejects.toThrow(
        'copied is a symbolic link to real',
      );
      await expect(w.workspaces.base(head, { copy, hide: ['copied'] })).rejects.toThrow('cannot be covered');
    });

    test('leave out a hidden submodule, and names that are no text', async () => {
      await using w = await world({ 'a.txt': 'a\n' });
      const { repository } = w.engine;
      const odd = Buffer.concat([
        Buffer.from(`${repository.path}/latin-`),
        Buffer.from([0xe9]),
        Buffer.from('.key'),
      ]);
      await writeFile(odd, 'secret\n');
      await repository.git('add', '-A');
      await repository.git('update-index', '--add', '--cacheinfo', `160000,${w.engine.head},vendor/lib`);
      await repository.git('commit', '-qm', 'with a submodule');
      const head = await repository.git('rev-parse', 'HEAD');
      const workspace = await w.on(head, { hide: ['vendor/**', '*.key'] });
      expect(await w.sh(workspace, 'ls -A; git status --porcelain')).toBe('.git\na.txt');
      expect(workspace.base.submodules).toEqual([]);
      expect([...workspace.base.hidden.files].toSorted()).toEqual(['latin-\xe9.key', 'vendor/lib']);
    });

    test('run the setup command on what is left', async () => {
      await using w = await world({ 'a.txt': 'a\n', 'x.key': 'x\n' });
      const workspace = await w.on(w.engine.head, { hide: ['x.key'], setup: 'ls > listed' });
      expect(await w.sh(workspace, 'cat listed')).toBe('a.txt\nlisted');
      const plain = await w.on(w.engine.head, { setup: 'ls > listed' });
      expect(await w.sh(plain, 'cat listed')).toBe('a.txt\nlisted\nx.key');
      await expect(stat(path.join(basesOf(w), workspace.base.name))).resolves.toBeTruthy();
    });
  });
}

/** `A` new, `M` changed, `D` deleted, `D/` deleted with all that is in it. */
async function changed(workspace: Workspace): Promise<string[]> {
  return (await workspace.changes()).map((change: Change) => {
    const name = change.path.toString();
    if (change.kind === 'delete') return `${change.wasDirectory === true ? 'D/' : 'D'} ${name}`;
    if (change.kind === 'file') return `${change.isNew ? 'A' : 'M'} ${name}`;
    return `${change.kind} ${name}`;
  });
}
