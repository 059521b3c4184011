/** The doctor tries things for real; on a machine that does not hold them it must say so. */
import { globSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../src/operations/doctor/finding.ts';
import { ended, Scratch } from '../src/operations/doctor/scratch.ts';
import { tryFences, tryGit } from '../src/operations/doctor/try-fences.ts';
import { tryForkBomb, tryToEnd } from '../src/operations/doctor/try-processes.ts';
import { chooseSandbox, type Sandbox } from '../src/sandbox/choose.ts';
import { BareLauncher } from '../src/sandbox/none.ts';
import type { Launch, Running } from '../src/system/process/process.ts';
import { bosun, BOSUN, startProgram } from './fixtures/cli.ts';
import { withoutBubblewrap, withoutUserNamespaces, withPrivateNull } from './fixtures/poor-machine.ts';
import { makeRepository } from './fixtures/repository.ts';

const NAMES = ['writes', 'reads', 'network', 'namespaces', 'git inside', 'fork bomb', 'grant', 'cancel'];
const DOCTOR_MS_MAX = 8000; // two seconds, and the rest for a machine that has other things to do

async function scratch(change: (sandbox: Sandbox) => Sandbox = (same) => same): Promise<Scratch> {
  const directory = await mkdtemp(path.join(tmpdir(), 'bosun-doctor-test-'));
  return new Scratch(directory, change(await chooseSandbox(directory)));
}

/** Says that it has fences, and puts up none. */
function liar(sandbox: Sandbox, command?: string[]): Sandbox {
  const bare = new BareLauncher();
  const launch = (what: Launch): Running => {
    const { fence: _, ...rest } = what;
    return bare.launch({ ...rest, argv: command ?? rest.argv });
  };
  return { ...sandbox, overlay: false, launcher: { launch } };
}

function levels(findings: Finding[]): Record<string, string> {
  return Object.fromEntries(findings.map(({ name, level }) => [name, level]));
}

/** Helper processes that wait for commands to start in this directory. */
function helpersOf(directory: string): string[] {
  return globSync('/proc/[0-9]*/cmdline').filter((file) => {
    try {
      return readFileSync(file, 'utf8').includes(`${directory}/`);
    } catch {
      return false; // it has just ended
    }
  });
}

it('leaves no process behind in a program that goes on, such as bosun serve', async () => {
  const place = await scratch();
  await ended(await place.launch(['true']));
  expect(helpersOf(place.directory)).toHaveLength(1);
  await place[Symbol.asyncDispose]();
  await expect.poll(() => helpersOf(place.directory), { timeout: 10_000 }).toEqual([]);
});

describe('fences that are tried', () => {
  it('hold here, each of them', async () => {
    await using place = await scratch();
    const findings = [
      ...(await tryFences(place)),
      await tryGit(place),
      await tryForkBomb(place),
      ...(await tryToEnd(place, true)),
    ];
    expect(findings.map(({ name }) => name)).toEqual(NAMES);
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(findings[0]!.found).toMatch(/\((EROFS|EACCES)\).*\((EROFS|EACCES)\)/);
  });

  it('are found out where they are none', async () => {
    await using place = await scratch((sandbox) => liar(sandbox));
    expect(levels(await tryFences(place))).toEqual({
      writes: 'fail',
      reads: 'fail',
      network: 'fail',
      namespaces: 'fail',
    });
    expect((await tryForkBomb(place)).level).toBe('fail');
  });

  it('are not taken for held where nothing could be tried', async () => {
    await using place = await scratch((sandbox) => liar(sandbox, ['/bin/sh', '-c', 'exit 3']));
    expect(levels(await tryFences(place))).toEqual({ fences: 'fail' });
    expect((await tryGit(place)).level).toBe('fail');
    expect((await tryForkBomb(place)).level).toBe('fail');
    expect(levels(await tryToEnd(place, true))).toEqual({ cancel: 'fail' });
  });
});

describe('bosun doctor', () => {
  it('tries all of it within a moment, fits into 80 columns, and leaves nothing behind', async () => {
    await using repository = await makeRepository();
    const TMPDIR = await mkdtemp(path.join(tmpdir(), 'bosun-test-')); // other tests' doctors use the machine's
    await chmod(TMPDIR, 0o755);
    const beganMs = performance.now();
    const terminal = `stty cols 80 rows 60 && exec '${BOSUN}' doctor`;
    const argv = ['script', '--quiet', '--return', '--command', terminal, '/dev/null'];
    const { code, stdout } = await startProgram(argv, repository.path, { TMPDIR }).finished;
    expect(performance.now() - beganMs).toBeLessThan(DOCTOR_MS_MAX);
    expect(code, stdout).toBe(0);
    for (const name of ['isolation', ...NAMES, 'limits', 'overlay', 'native', 'socat'])
      expect(stdout).toMatch(new RegExp(`^(ok|warn) +${name} `, 'm'));
    const tooLong = stdout
      .split(/\r?\n/)
      .filter((line) => line.length > 80 && /^(ok|warn|fail| )/.test(line));
    // what cannot be broken may be longer: a path
    expect(
      tooLong.filter((line) =>
        line
          .trim()
          .split(' ')
          .every((word) => word.length < 40),
      ),
    ).toEqual([]);
    expect(await readdir(repository.path)).toEqual(['.git', 'README.md']);
    expect(await readdir(TMPDIR)).toEqual([]);
    await rm(TMPDIR, { recursive: true });
  });

  it('gives its findings to programs', async () => {
    await using repository = await makeRepository();
    const { stdout } = await bosun(repository.path, 'doctor', '--json');
    const findings = JSON.parse(stdout) as Finding[];
    expect(levels(findings)).toMatchObject(Object.fromEntries(NAMES.map((name) => [name, 'ok'])));
  });

  it('says what to install where bubblewrap is missing, and fails where isolation is required', async () => {
    await using repository = await makeRepository();
    const doctor = withoutBubblewrap([BOSUN, 'doctor']);
    const first = await startProgram(doctor, repository.path).finished;
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(
      /^warn +isolation +NOT FENCED: bubblewrap is not installed\n +→ install the package bubblewrap/m,
    );
    expect(first.stdout).toMatch(/^ok +cancel /m);
    expect(first.stderr).toContain('NOT FENCED');
    await repository.write({ '.bosun/config.yaml': 'isolation: required\n' });
    const second = await startProgram(doctor, repository.path).finished;
    expect(second.code).toBe(1);
    expect(second.stdout).toMatch(/^fail +isolation .*required by \.bosun\/config\.yaml/m);
  });

  it('says what to do where git does not work behind the fence: a /dev/null that only root may write', async () => {
    await using repository = await makeRepository();
    const doctor = withPrivateNull([BOSUN, 'doctor']);
    const { code, stdout } = await startProgram(doctor, repository.path).finished;
    expect(stdout).toMatch(/^fail +git inside +git does not work .*\/dev\/null/m);
    expect(stdout).toContain('sudo chmod 666 /dev/null');
    expect(code).toBe(1);
  });

  it('says what to set where user namespaces are forbidden', async () => {
    await using repository = await makeRepository();
    const { stdout } = await startProgram(withoutUserNamespaces([BOSUN, 'doctor']), repository.path).finished;
    expect(stdout).toMatch(/^warn +isolation +NOT FENCED: user namespaces are turned off/m);
    expect(stdout).toContain('sudo sysctl -w user.max_user_namespaces=');
  });
});
