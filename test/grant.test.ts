/** A directory that is opened while the sandbox runs, against whoever is in the sandbox. */
import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { canWiden, widen } from '../src/sandbox/linux/grant.ts';
import { removeTree } from '../src/system/files/remove-tree.ts';
import { startByHand, type SandboxByHand } from './fixtures/sandbox-by-hand.ts';

const READ_ONLY = /Read-only file system/;
/** Tries until it can write, and says what kept it first. */
const WRITER =
  `perl -e '$| = 1; until (open my $f, ">", $ARGV[0]) { print "$!\\n" unless $n++; select undef, undef, undef, 0.002 } ` +
  `print "written"'`;

const open = (sandbox: SandboxByHand, ...directories: string[]): Promise<void> =>
  widen({ ...sandbox, directories });

/** Milliseconds from the grant to the end of a write that was being tried all along. */
async function untilWritten(sandbox: SandboxByHand, line: string, directory: string): Promise<number> {
  const writing = sandbox.sh(line);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const before = performance.now();
  await open(sandbox, directory);
  expect(await writing).toBe('Read-only file system\nwritten');
  return performance.now() - before;
}

test('the program that opens directories is built where there is a compiler', () => {
  expect(canWiden).toBe(true);
});

describe('a directory that is opened', () => {
  test('lets a write succeed that is being tried, without a restart', async () => {
    await using sandbox = await startByHand(['docs', 'other'], '');
    expect(await untilWritten(sandbox, `${WRITER} docs/new`, 'docs')).toBeLessThan(100);
    expect(await readdir(path.join(sandbox.upper, 'docs'))).toEqual(['new']);
    expect(await sandbox.sh('mkdir docs/a && mv docs/new docs/a/ && rm -r docs/a')).toBe('');
  });

  test('lets those write who are in it already, if it was mounted from the start', async () => {
    await using sandbox = await startByHand(['docs'], '--ro-bind WS/docs WS/docs');
    expect(await untilWritten(sandbox, `cd docs; ${WRITER} new`, 'docs')).toBeLessThan(100);
  });

  test('leaves all others read-only', async () => {
    await using sandbox = await startByHand(['a/b', 'a/c', 'd'], '--ro-bind WS/d WS/d');
    await open(sandbox, 'a/b');
    for (const file of ['new', 'a/new', 'a/c/new', 'd/new', '/usr/new'])
      expect(await sandbox.sh(`echo > ${file}`), file).toMatch(READ_ONLY);
    expect(await sandbox.sh('echo > a/b/new')).toBe('');
  });

  test('is made where it is missing', async () => {
    await using sandbox = await startByHand(['docs'], '--bind WS/docs WS/docs');
    await open(sandbox, 'new/deep/dir', 'docs/x/y');
    expect(
      await sandbox.sh('echo > new/deep/dir/a; echo > docs/x/y/b; stat -c "%U %a" new/deep/dir'),
    ).toMatch(/755$/);
    expect(await sandbox.sh('echo > new/deep/a')).toMatch(READ_ONLY);
    expect(await readdir(path.join(sandbox.upper, 'new'), { recursive: true })).toEqual([
      'deep',
      'deep/dir',
      'deep/dir/a',
    ]);
  });

  test('may be the whole workspace', async () => {
    await using sandbox = await startByHand(['docs'], '--ro-bind WS/docs WS/docs');
    await open(sandbox, '');
    expect(await sandbox.sh('echo > new')).toBe('');
    expect(await sandbox.sh('echo > docs/new')).toMatch(READ_ONLY);
    await open(sandbox, 'docs');
    expect(await sandbox.sh('echo > docs/new')).toBe('');
  });

  test('can be opened with those below it, in any order and more than once', async () => {
    await using sandbox = await startByHand(['a/b/c'], '');
    await open(sandbox, 'a/b/c', 'a', './a/b/');
    await open(sandbox, 'a/b');
    expect(await sandbox.sh('echo > a/new; echo > a/b/new; echo > a/b/c/new')).toBe('');
    expect(await sandbox.sh('grep -c /a /proc/self/mountinfo')).toBe('1'); // those below are part of it
  });

  test('keeps no program of another user and no device', async () => {
    await using sandbox = await startByHand(['docs', 'src'], '--ro-bind WS/src WS/src');
    await open(sandbox, 'docs', 'src');
    const mounts = (await sandbox.sh('cat /proc/self/mountinfo')).split('\n');
    for (const name of ['docs', 'src'])
      expect(mounts.find((line) => line.includes(`/ws/${name} `))).toMatch(/ rw,nosuid,nodev/);
  });

  test('shows nothing that was hidden and opens nothing that was kept', async () => {
    const hidden = '--perms 0000 --tmpfs WS/docs/secret --ro-bind WS/docs/kept WS/docs/kept';
    await using sandbox = await startByHand(['docs/secret', 'docs/kept'], hidden);
    await open(sandbox, 'docs');
    expect(await sandbox.sh('echo > docs/new')).toBe('');
    expect(await sandbox.sh('ls docs/secret')).toMatch(/Permission denied/);
    expect(await sandbox.sh('echo > docs/kept/new')).toMatch(READ_ONLY);
  });
});

describe('what is refused', () => {
  test('a symbolic link that was planted, at the path or above it', async () => {
    await using sandbox = await startByHand(['docs', 'src'], '--bind WS/src WS/src');
    await sandbox.sh('ln -s ../docs src/link; ln -s /tmp src/away; ln -s nowhere src/dangling');
    for (const name of ['src/link', 'src/link/x', 'src/away', 'src/away/x', 'src/dangling', 'src/dangling/x'])
      await expect(open(sandbox, name), name).rejects.toThrow(/symbolic links/);
    expect(await sandbox.sh('echo > docs/new')).toMatch(READ_ONLY);
    expect(await sandbox.sh('ls -d docs/x /tmp/x 2>/dev/null')).toBe('');
  });

  test('a link that takes the place of a directory again and again', async () => {
    const kept = '--bind WS/src WS/src --ro-bind WS/src/kept WS/src/kept';
    await using sandbox = await startByHand(['src/kept/x'], kept);
    await sandbox.sh('mkdir -p src/a/x; ln -s kept src/b');
    const turns = 'rename "a", "c"; rename "b", "a"; rename "a", "b"; rename "c", "a"';
    await sandbox.sh(`cd src; perl -e 'for (;;) { ${turns} }' & racer=$!`);
    for (let round = 0; round < 30; round += 1) await open(sandbox, 'src/a/x').catch(() => {});
    expect(await sandbox.sh('kill $racer; echo > kept/x/new')).toMatch(READ_ONLY);
  });

  test('what is hidden, what is a file, what is outside', async () => {
    await using sandbox = await startByHand(['secret'], '--perms 0000 --tmpfs WS/secret');
    await expect(open(sandbox, 'secret')).rejects.toThrow(/hidden/);
    await expect(open(sandbox, 'secret/below')).rejects.toThrow(/hidden/);
    for (const outside of ['..', '../other', '/usr', 'a/../../b'])
      await expect(open(sandbox, outside)).rejects.toThrow(/not in the workspace/);
    await open(sandbox, '');
    await sandbox.sh('echo > file');
    await expect(open(sandbox, 'file')).rejects.toThrow(/Not a directory/);
    await expect(widen({ ...sandbox, workspace: '/usr/bin', directories: ['x'] })).rejects.toThrow(
      /not mounted/,
    );
  });

  test('a process that is not the one meant', async () => {
    await using sandbox = await startByHand(['docs'], '');
    const other = { ...sandbox, startTicks: sandbox.startTicks + 1 };
    await expect(open(other, 'docs')).rejects.toThrow(/No such process/);
    await expect(open({ ...sandbox, initPid: 2 ** 22 + 1 }, 'docs')).rejects.toThrow(/No such file/);
    expect(await sandbox.sh('echo > docs/new')).toMatch(READ_ONLY);
  });

  test('whoever is inside', async () => {
    const program = path.resolve(import.meta.dirname, '../build/grant');
    await using sandbox = await startByHand(['docs'], '', ['--ro-bind', program, '/tmp/grant']);
    const itself = await sandbox.sh(
      `/tmp/grant 1 $(cut -d " " -f 22 /proc/1/stat) ${sandbox.workspace} docs; ` +
        `/tmp/grant $$ $(cut -d " " -f 22 /proc/$$/stat) ${sandbox.workspace} docs`,
    );
    expect(itself.split('\n')).toEqual([
      expect.stringMatching(/not permitted|Permission denied/),
      expect.stringMatching(/not permitted|Permission denied/),
    ]);
    expect(await sandbox.sh('echo > docs/new')).toMatch(READ_ONLY);
  });
});

/** Nobody: a user that every system has and that owns nothing. */
const NOBODY = 65534;

test.runIf(process.getuid?.() === 0)(
  'an ordinary user can open the directories of his sandboxes',
  async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'bosun-user-'));
    await chown(directory, NOBODY, NOBODY);
    const root = path.dirname(import.meta.dirname);
    const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const args = `--reuid=${NOBODY} --regid=${NOBODY} --clear-groups --`.split(' ');
    args.push(process.execPath, vitest, 'run', '--configLoader', 'runner', 'test/grant.test.ts');
    const env = { PATH: process.env.PATH, HOME: directory, TMPDIR: directory };
    try {
      const [error, output] = await new Promise<[Error | null, string]>((resolve) => {
        execFile('setpriv', args, { cwd: root, env }, (failed, stdout, stderr) =>
          resolve([failed, stdout + stderr]),
        );
      });
      expect(error, output).toBeNull();
      expect(output).toMatch(/Tests .*passed/);
    } finally {
      await removeTree(directory);
    }
  },
);
