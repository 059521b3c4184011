import { closeSync, constants, readFileSync, readSync } from 'node:fs';
import {
  chmod,
  chown,
  link,
  mkdir,
  mkdtemp,
  readdir,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { lstatBelow, mkdirBelow, openBelow, readBelow } from '../src/system/files/below.ts';
import { removeTree } from '../src/system/files/remove-tree.ts';

let root: string;
let outside: string;

beforeEach(async () => {
  const scratch = await mkdtemp(path.join(tmpdir(), 'bosun-below-'));
  [root, outside] = [path.join(scratch, 'root'), path.join(scratch, 'outside')];
  await Promise.all([mkdir(root), mkdir(outside)]);
  await writeFile(path.join(outside, 'secret'), 'secret');
  onTestFinished(() => void execFileSync('rm', ['-rf', scratch]));
});

function codeOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

describe('a path below a directory', () => {
  test('is read, listed and made', async () => {
    using made = mkdirBelow(root, 'a/b/c');
    await writeFile(made.at('file'), 'text');
    expect(readBelow(root, 'a/b/c/file', 100).toString()).toBe('text');
    expect(readBelow(made, 'file', 4).toString()).toBe('text');
    expect(lstatBelow(root, 'a/b/c')?.isDirectory()).toBe(true);
    expect(lstatBelow(root, 'a/x/c')).toBeUndefined();
    const fd = openBelow(root, 'a/new', constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY);
    closeSync(fd);
    expect((await stat(path.join(root, 'a/new'))).mode & 0o777).toBe(0o600);
    expect(codeOf(() => readBelow(root, 'a/b/c/file', 3))).toBe('EFBIG');
  });

  test('never leads through a link, nor out by its name', async () => {
    await symlink(outside, path.join(root, 'directory'));
    await symlink(path.join(outside, 'secret'), path.join(root, 'file'));
    for (const name of ['directory/secret', 'file', 'directory/../file'])
      expect(['ELOOP', 'EINVAL']).toContain(codeOf(() => readBelow(root, name, 100)));
    expect(codeOf(() => readBelow(root, '../outside/secret', 100))).toBe('EINVAL');
    expect(codeOf(() => lstatBelow(root, 'directory/secret'))).toBe('ELOOP');
    expect(codeOf(() => mkdirBelow(root, 'directory/new'))).toBe('ELOOP');
    expect(await readdir(outside)).toEqual(['secret']);
    expect(() => readBelow(root, 'directory/secret', 100)).toThrow(
      'directory/secret: directory is a symbolic link, which is not followed',
    );
  });

  test('never waits for a pipe and takes no device', async () => {
    execFileSync('python3', ['-c', 'import os; os.mkfifo("pipe")'], { cwd: root });
    expect(codeOf(() => readBelow(root, 'pipe', 100))).toBe('EINVAL');
    await mkdir(path.join(root, 'directory'));
    expect(codeOf(() => readBelow(root, 'directory', 100))).toBe('EINVAL');
    await writeFile(path.join(root, 'sparse'), '');
    await truncate(path.join(root, 'sparse'), 1024 ** 4);
    expect(codeOf(() => readBelow(root, 'sparse', 1024))).toBe('EFBIG');
  });

  test('stays below while somebody swaps a directory for a link', async () => {
    await mkdir(path.join(root, 'a'));
    await writeFile(path.join(root, 'a/secret'), 'mine');
    await symlink(outside, path.join(root, 'b'));
    const swap = `
      const fs = require('node:fs');
      const until = Date.now() + 1000;
      console.log('ready');
      while (Date.now() < until) {
        fs.renameSync('a', 'c'); fs.renameSync('b', 'a'); fs.renameSync('a', 'b'); fs.renameSync('c', 'a');
      }`;
    const swapper = spawn(process.execPath, ['-e', swap], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(swapper.stdout, 'data');
    const seen = new Set<string>();
    for (const until = Date.now() + 800; Date.now() < until;) {
      try {
        const fd = openBelow(root, 'a/secret');
        const buffer = Buffer.alloc(10);
        seen.add(buffer.toString('utf8', 0, readSync(fd, buffer)));
        closeSync(fd);
      } catch (error) {
        seen.add((error as NodeJS.ErrnoException).code!);
      }
    }
    await once(swapper, 'exit');
    expect(seen).toContain('mine');
    expect(seen).not.toContain('secret');
  });
});

describe('a tree is removed', () => {
  test('although it is deeper than any path, locked, and full of links', async () => {
    const deep = `
import os
os.chdir(${JSON.stringify(root)})
for n in range(600):
    os.mkdir('x' * 250); os.chdir('x' * 250)
open('last', 'w').close()
os.symlink(${JSON.stringify(outside)}, 'link')`;
    execFileSync('python3', ['-c', deep]);
    await mkdir(path.join(root, 'locked/inner'), { recursive: true });
    await symlink(outside, path.join(root, 'locked/link'));
    await link(path.join(outside, 'secret'), path.join(root, 'hard'));
    await chmod(path.join(root, 'locked/inner'), 0);
    await chmod(path.join(root, 'locked'), 0);
    await removeTree(root);
    expect(await readdir(path.dirname(root))).toEqual(['outside']);
    expect(readFileSync(path.join(outside, 'secret'), 'utf8')).toBe('secret');
    expect((await stat(outside)).mode & 0o777).toBe(0o755);
  });

  test('by an ordinary user too, and what is not theirs is left and named', async () => {
    await mkdir(path.join(root, 'a/b/c'), { recursive: true });
    await mkdir(path.join(root, 'of-root/inner'), { recursive: true });
    for (const name of ['', 'a', 'a/b', 'a/b/c']) await chown(path.join(root, name), 65534, 65534);
    for (const name of ['a/b/c', 'a/b', 'a']) await chmod(path.join(root, name), 0);
    await chmod(path.dirname(root), 0o755);
    const program = `
      import { removeTree, tryRemoveTree } from ${JSON.stringify(path.resolve('src/system/files/remove-tree.ts'))};
      await tryRemoveTree(process.argv[1]);
      await removeTree(process.argv[1]).catch((error) => console.log(error.message));`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', program, root], {
      uid: 65534,
      gid: 65534,
    }).toString();
    expect(said).toContain(`cannot remove all of ${root}: EPERM`);
    expect(await readdir(root)).toEqual(['of-root']);
  });

  test('where there is none, and where it is a file or a link', async () => {
    await removeTree(path.join(root, 'nothing/at/all'));
    await symlink(outside, path.join(root, 'link'));
    await removeTree(path.join(root, 'link'));
    await writeFile(path.join(root, 'file'), '');
    await removeTree(path.join(root, 'file'));
    expect(await readdir(root)).toEqual([]);
    expect(await readdir(outside)).toEqual(['secret']);
  });
});
