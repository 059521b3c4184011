/** A machine that fails: full disks and pipes, read-only places, too few descriptors. Never a bug, and nothing is lost. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { machineError } from '../../src/base/machine-failure.ts';
import { BOSUN, bosun, startProgram, type Finished } from '../fixtures/cli.ts';
import { gitIn } from '../fixtures/repository.ts';
import { TestMachine } from '../fixtures/shared-machine.ts';

const run = promisify(execFile);
const WORKFLOW = `name: t
tasks:
  a: { run: head -c 60000 /dev/urandom > one.bin }
  b: { run: head -c 60000 /dev/urandom > two.bin }
  c: { needs: [a, b], run: echo two > two.txt }
`;
const BUG = /should not have happened|\.ts:\d+/;

let top: string;
let repository: string;

function shell(script: string, cwd = repository): Promise<Finished> {
  return startProgram(['sh', '-c', script.replaceAll('bosun ', `"${BOSUN}" `)], cwd).finished;
}

async function fill(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const git = gitIn(directory);
  await git('init', '--quiet', '--initial-branch=main');
  await writeFile(path.join(directory, 'bosun.yaml'), WORKFLOW);
  await git('add', '--all');
  await git('commit', '--quiet', '-m', 'Start');
}

beforeAll(async () => {
  top = await mkdtemp(path.join(tmpdir(), 'bosun-machine-'));
  repository = path.join(top, 'repository');
  await fill(repository);
  expect((await bosun(repository, 'run')).code).toBe(0);
});

afterAll(() => rm(top, { recursive: true, force: true }));

describe('stdout that takes nothing', () => {
  test('a full one is a message with what to do, in every command', async () => {
    for (const command of ['status', 'report', 'diff', '--help', 'check', 'logs --json']) {
      const { code, stderr } = await shell(`bosun ${command} > /dev/full`);
      expect({ command, code, stderr }).toEqual({
        command,
        code: 1,
        stderr: 'bosun: cannot write to stdout: no space is left on the device (ENOSPC); free some space\n',
      });
    }
    const version = await shell('bosun --version > /dev/full');
    expect(version.stderr).toMatch(/^bosun: cannot write to stdout: ENOSPC/);
  });

  test('a run goes on without it, and says so at its end', async () => {
    const { code, stderr } = await shell('bosun run --json > /dev/full');
    expect(stderr).toContain('bosun: cannot write to stdout: no space is left');
    expect(stderr).not.toMatch(BUG);
    expect(code).toBe(1);
    expect((await bosun(repository, 'status')).stdout).toContain('✓ t-2 done');
  });

  test('a full stderr and a reader that leaves are nothing to speak of', async () => {
    expect((await shell('bosun status 2> /dev/full')).code).toBe(0);
    expect(await shell('bosun logs | head -n 1 > /dev/null; bosun history --json | true')).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });
});

test('too few descriptors are a message', () => {
  const error = Object.assign(new Error('spawn git EMFILE'), { code: 'EMFILE', syscall: 'spawn git' });
  expect(machineError(error)?.message).toBe(
    'cannot start git: too many files are open in this process (EMFILE); raise the limit with: ulimit -n 4096',
  );
  expect(machineError(new TypeError('a bug'))).toBeUndefined();
});

describe.runIf(process.getuid?.() === 0)('a file system of its own (needs root to mount)', () => {
  let disk: string;
  const git = (): ((...args: string[]) => Promise<string>) => gitIn(path.join(disk, 'r'));

  async function withFreeKb(freeKb: number): Promise<void> {
    const { stdout } = await run('df', ['-k', '--output=used', disk]);
    const usedKb = Number(stdout.trim().split('\n').at(-1));
    await run('mount', ['-o', `remount,size=${usedKb + freeKb}k`, disk]);
  }

  beforeAll(async () => {
    disk = path.join(top, 'disk');
    await mkdir(disk);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]);
  });
  afterAll(() => run('umount', ['-l', disk]));

  // Found by trying: each fills the disk at another moment of the run.
  test.each([60, 220, 650])(
    'a disk that is full after %i KB: a message, and nothing is lost once there is space',
    async (freeKb) => {
      const place = path.join(disk, 'r');
      await run('mount', ['-o', 'remount,size=64m', disk]);
      await rm(place, { recursive: true, force: true });
      await fill(place);
      await withFreeKb(freeKb);
      const first = await bosun(place, 'run');
      expect(first.stderr).not.toMatch(BUG);
      expect(first.stderr).toMatch(/free some space/);
      await run('mount', ['-o', 'remount,size=64m', disk]);
      const again = await bosun(place, 'resume');
      if (again.stderr.includes('no run was ever started')) expect((await bosun(place, 'run')).code).toBe(0);
      else if (!again.stderr.includes('is done')) expect(again).toMatchObject({ code: 0 });
      expect((await bosun(place, 'merge')).code).toBe(0);
      expect((await git()('ls-files')).split('\n')).toEqual(['bosun.yaml', 'one.bin', 'two.bin', 'two.txt']);
    },
  );

  test('on a full disk everything can be read, and cleaning and pruning free space', async () => {
    const place = path.join(disk, 'full');
    await run('mount', ['-o', 'remount,size=160m', disk]);
    await fill(place);
    expect((await bosun(place, 'run')).code).toBe(0);
    await withFreeKb(0);
    for (const command of ['status', 'history', 'report', 'diff'])
      expect({ command, ...(await bosun(place, command)) }).toMatchObject({ command, code: 0, stderr: '' });
    expect((await bosun(place, 'resume')).stderr).toMatch(/free some space/);
    expect(await bosun(place, 'workspaces', 'clean')).toMatchObject({ code: 0 });
    const pruned = await bosun(place, 'prune', '--keep', '0', '--unmerged', '--yes');
    expect(pruned).toMatchObject({ code: 0, stderr: expect.stringMatching(/removed 1 run/) as string });
    expect((await bosun(place, 'status')).stderr).toContain('no run was ever started');
  });

  test("space that was set aside is given up only where the state is bosun's own, and can be written", async () => {
    const [place, other] = [path.join(disk, 'linked'), path.join(disk, 'other')];
    await run('mount', ['-o', 'remount,size=160m', disk]);
    for (const directory of [place, other]) await rm(directory, { recursive: true, force: true });
    await fill(place);
    expect((await bosun(place, 'run')).code).toBe(0);
    const state = path.join(place, '.git/bosun');
    await rename(state, other);
    await symlink(other, state);
    await withFreeKb(0);
    const frees = [
      ['workspaces', 'clean'],
      ['prune', '--keep', '0', '--yes'],
    ];
    for (const command of frees)
      expect((await bosun(place, ...command)).stderr).toMatch(
        /^bosun: .*is a symbolic link: move it away\n$/,
      );
    expect(existsSync(path.join(other, 'reserve'))).toBe(true);
    await rm(state);
    await rename(other, state);
    await run('mount', ['-o', 'remount,ro', disk]);
    try {
      for (const command of frees)
        expect((await bosun(place, ...command)).stderr).toMatch(
          /^bosun: cannot write to .*: the file system is read-only \(EROFS\); mount it writable/,
        );
    } finally {
      await run('mount', ['-o', 'remount,rw', disk]);
    }
    await rm(path.join(state, 'reserve'));
    await writeFile(path.join(place, 'mine'), 'mine');
    await symlink(path.join(place, 'mine'), path.join(state, 'reserve'));
    await withFreeKb(1000);
    for (const command of frees)
      expect(await bosun(place, ...command)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/reserve is a symbolic link, .*move it away/) as string,
      });
    expect(existsSync(path.join(place, 'mine'))).toBe(true);
  });

  test('a read-only repository: what only reads works, the rest says what to do', async () => {
    const place = path.join(top, 'read-only');
    await mkdir(place, { recursive: true });
    await run('mount', ['--bind', repository, place]);
    try {
      await run('mount', ['-o', 'remount,ro,bind', place]);
      for (const command of ['status', 'logs', 'history', 'check'])
        expect(await bosun(place, command)).toMatchObject({ code: 0 });
      for (const command of ['run', 'resume', 'merge', 'workspaces']) {
        const { code, stderr } = await bosun(place, command);
        expect(stderr).toMatch(
          /^bosun: .*(read-only \(EROFS\); mount it writable|check that you may write its directory|is done|has ended)/,
        );
        expect(code).toBeGreaterThan(0);
      }
    } finally {
      await run('umount', ['-l', place]);
    }
  });

  test('what all runs share on a read-only disk: agents work without it, and no limit goes unheld', async () => {
    await using machine = new TestMachine('');
    const agents = { quick: { runtime: 'cli', command: 'true' } };
    const tasks = { a: { agent: 'quick', prompt: 'Work.' } };
    const own = await machine.repository({ name: 'w', agents, tasks });
    await mkdir(machine.state, { recursive: true, mode: 0o700 });
    await run('mount', ['--bind', machine.state, machine.state]);
    try {
      await run('mount', ['-o', 'remount,ro,bind', machine.state]);
      const without = await machine.bosun(own, ['run']).finished;
      expect(without.stderr).toMatch(/shares neither slots nor rate limits .*: make sure that you can write/);
      expect(without.code).toBe(0);
      machine.configure('budget: { usd-per-day: 20 }\n');
      const limited = await machine.bosun(own, ['run']).finished;
      expect(limited.stderr).toMatch(/cannot be enforced: .*: make sure that you can write/);
      expect(limited.code).toBe(1);
    } finally {
      await run('umount', ['-l', machine.state]);
    }
  });
});
