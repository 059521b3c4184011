/** What holds a command must let go of nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chooseSandbox } from '../src/sandbox/choose.ts';
import { LinuxLauncher } from '../src/sandbox/linux/linux.ts';
import { BareLauncher } from '../src/sandbox/none.ts';
import type { Launch, Launcher, Running } from '../src/system/process/process.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin';
let directory: string;
let marker = 0;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'bosun-sandbox-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

for (const [kind, make] of [
  ['namespaces', () => new LinuxLauncher()],
  ['namespaces by util-linux', () => new LinuxLauncher({ native: false })],
  ['none', () => new BareLauncher()],
] as [string, () => Launcher][]) {
  describe(`a command held by ${kind}`, () => {
    const launch = (
      command: string,
      more: Partial<Launch> = {},
    ): { running: Running; output: () => string } => {
      const running = make().launch({
        argv: ['/bin/sh', '-c', command],
        cwd: directory,
        env: { PATH },
        ...more,
      });
      let output = '';
      running.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      running.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
      return { running, output: () => output };
    };

    test('gets its input, its directory and no environment but its own', async () => {
      const { running, output } = launch('cat; pwd; echo "$A" "$HOME"; exit 7', {
        env: { PATH, A: 'a b' },
        input: 'input\n',
      });
      expect(await running.exited).toEqual({ code: 7, signal: null });
      expect(output()).toBe(`input\n${directory}\na b \n`);
    });

    test('is gone with its daemons as soon as it ends, and its end is told at once', async () => {
      const name = uniqueSleep();
      const { running, output } = launch(`setsid sh -c 'setsid ${name} & ${name}' & ${name} & echo started`);
      const before = performance.now();
      expect(await running.exited).toEqual({ code: 0, signal: null });
      expect(performance.now() - before).toBeLessThan(10_000);
      expect(output()).toBe('started\n');
      expect(await alive(name)).toEqual([]);
    });

    test('is asked by a signal and may take its time', async () => {
      const { running, output } = launch(
        'trap "echo asked; exit 5" TERM; echo ready; while :; do sleep 0.05; done',
      );
      await once(running.stdout, 'data');
      running.signal('SIGTERM');
      expect((await running.exited).code).toBe(5);
      expect(output()).toContain('asked');
    });

    test('is ended as a whole, whatever it does about signals', async () => {
      const name = uniqueSleep();
      const { running } = launch(
        `trap "" TERM INT; setsid ${name} & echo ready; while :; do sleep 0.05; done`,
      );
      await once(running.stdout, 'data');
      running.signal('SIGTERM');
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect((await alive(name)).length).toBe(1);
      running.kill();
      await running.exited;
      expect(await alive(name)).toEqual([]);
      running.kill(); // harmless
    });

    test('that does not exist ends with a code or an error, never silently', async () => {
      const running = make().launch({ argv: ['no-such-program-here'], cwd: directory, env: { PATH } });
      running.stdout.resume();
      running.stderr.resume();
      const end = await running.exited.catch((error: Error) => error);
      expect(end instanceof Error || end.code === 127).toBe(true);
    });

    test('in a directory that does not exist is an error, not an exit code', async () => {
      const { running } = launch('exit 0', { cwd: path.join(directory, 'missing') });
      await expect(running.exited).rejects.toMatchObject({ code: 'system' });
    });

    test('dies with an engine that is killed', async () => {
      const name = uniqueSleep();
      // without namespaces only the command itself can be bound to the engine
      const command = kind === 'none' ? `echo up; exec ${name}` : `setsid ${name} & echo up; wait`;
      const keeper = spawn(process.execPath, [
        path.join(import.meta.dirname, 'fixtures/keeper.ts'),
        kind,
        directory,
        command,
      ]);
      await once(keeper.stdout, 'data');
      await until(async () => (await alive(name)).length === 1);
      keeper.kill('SIGKILL');
      await until(async () => (await alive(name)).length === 0);
    });

    test('leaves no listener on our own process', async () => {
      const before = process.eventNames().map((name) => process.listenerCount(name));
      const { running } = launch('true');
      await running.exited;
      expect(process.eventNames().map((name) => process.listenerCount(name))).toEqual(before);
    });
  });
}

test('an overlay that cannot be mounted is an error that says so', async () => {
  const at = path.join(directory, 'at');
  await mkdir(at, { recursive: true });
  const missing = path.join(directory, 'missing');
  const running = new LinuxLauncher().launch({
    argv: ['/bin/true'],
    cwd: at,
    env: { PATH },
    overlay: { lowers: [missing], upper: missing, work: missing, at },
  });
  running.stdout.resume();
  running.stderr.resume();
  await expect(running.exited).rejects.toMatchObject({
    code: 'system',
    message: expect.stringContaining('mount'),
  });
});

test('a command that ends with 125 by itself is not taken for a failure of ours', async () => {
  const running = new LinuxLauncher().launch({
    argv: ['/bin/sh', '-c', 'exit 125'],
    cwd: directory,
    env: { PATH },
  });
  running.stdout.resume();
  running.stderr.resume();
  expect(await running.exited).toEqual({ code: 125, signal: null });
});

test('without namespaces an overlay is refused', () => {
  const overlay = { lowers: ['/'], upper: '/', work: '/', at: '/' };
  expect(() => new BareLauncher().launch({ argv: ['true'], cwd: '/', env: {}, overlay })).toThrow(
    /forbids namespaces/,
  );
});

test('the choice is made once per directory and leaves nothing behind but what fences are made of', async () => {
  const odd = path.join(directory, 'ö d:d,');
  await mkdir(odd);
  const sandbox = await chooseSandbox(odd);
  expect(sandbox.kind === 'none' || sandbox.launcher instanceof LinuxLauncher).toBe(true);
  expect(sandbox.overlay || sandbox.notes.length > 0).toBe(true);
  expect(await chooseSandbox(odd)).toBe(sandbox);
  expect((await readdir(odd)).filter((name) => !/^(etc-|seccomp\.bpf$|s$)/.test(name))).toEqual([]);
});

/** A command line that no other process has. */
function uniqueSleep(): string {
  marker += 1;
  return `sleep ${1000 + marker}.${process.pid}`;
}

async function alive(command: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => [pid, await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')] as const),
  );
  return lines.filter(([, line]) => line === `${command.replace(' ', '\0')}\0`).map(([pid]) => pid);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not happen');
}
