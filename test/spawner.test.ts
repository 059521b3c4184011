/** The small process that starts commands for the engine: nothing of them is lost, and nothing of it is left. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LinuxLauncher } from '../src/sandbox/linux/linux.ts';
import type { Running } from '../src/system/process/process.ts';
import { processesWith } from './fixtures/fenced-run.ts';

const env = { PATH: '/usr/bin:/bin' };
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'bosun-spawner-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const shell = (launcher: LinuxLauncher, command: string): { running: Running; output: () => string } => {
  const running = launcher.launch({ argv: ['/bin/sh', '-c', command], cwd: directory, env });
  let output = '';
  running.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  running.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { running, output: () => output };
};

test('all that many short commands print is heard, though they have ended by then', async () => {
  const launcher = new LinuxLauncher({ sockets: directory });
  const all = Array.from({ length: 60 }, (_, n) => shell(launcher, `echo out ${n}; echo err ${n} >&2`));
  const exits = await Promise.all(all.map(({ running }) => running.exited));
  expect(exits.every(({ code }) => code === 0)).toBe(true);
  for (const [n, { output }] of all.entries()) {
    expect(output()).toContain(`out ${n}\n`);
    expect(output()).toContain(`err ${n}\n`);
  }
});

test('where it is killed its commands are, and the next one starts all the same', async () => {
  const launcher = new LinuxLauncher({ sockets: directory });
  const name = `sleep 777.${process.pid}`;
  const { running, output } = shell(launcher, `echo up; setsid ${name} & ${name}`);
  await expect.poll(output).toBe('up\n');
  // every process of a launch that never became another program has the words of the one that serves
  const serving = Number(
    execFileSync('ps', ['-o', 'ppid=', '-p', String(running.pid)], { encoding: 'utf8' }),
  );
  process.kill(serving, 'SIGKILL');
  await expect(running.exited).rejects.toThrow(/a helper process of bosun's own \(the launcher\) died/);
  await expect.poll(() => processesWith(name.replace(' ', '\0'))).toEqual([]);
  const next = shell(launcher, 'echo again');
  expect((await next.running.exited).code).toBe(0);
  expect(next.output()).toBe('again\n');
});

test('a command that cannot be given to a sandbox leaves none behind', async () => {
  const launcher = new LinuxLauncher({ sockets: directory });
  const before = shell(launcher, 'true');
  await before.running.exited;
  const launch = (word: string): unknown => launcher.launch({ argv: ['echo', word], cwd: directory, env });
  expect(() => launch('x'.repeat(200_000))).toThrow(/longer than 128 KB/);
  expect(() => launch('a\0b')).toThrow(/NUL byte/);
  const marker = `build/launch\0wait\0`;
  await expect.poll(() => processesWith(marker).filter((line) => isOurs(line))).toEqual([]);
});

test('its socket may lie in a directory of any length', async () => {
  const deep = await mkdtemp(path.join(directory, 'long-'.repeat(24)));
  const { running, output } = shell(new LinuxLauncher({ sockets: deep }), 'echo far');
  expect((await running.exited).code).toBe(0);
  expect(output()).toBe('far\n');
  expect(await readdir(deep)).toHaveLength(1);
});

/** Descends from this process. */
function isOurs(line: string): boolean {
  for (let pid = Number.parseInt(line, 10); pid > 1;) {
    if (pid === process.pid) return true;
    try {
      pid = Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));
    } catch {
      return false;
    }
  }
  return false;
}

test('a start that failed keeps no program from its end', { timeout: 30_000 }, () => {
  const late = path.join(directory, 'late');
  const program = `
    import { mkdirSync } from 'node:fs';
    import { LinuxLauncher } from ${JSON.stringify(path.resolve('src/sandbox/linux/linux.ts'))};
    const launcher = new LinuxLauncher({ sockets: ${JSON.stringify(late)} });
    const start = () => launcher.launch({ argv: ['/bin/true'], cwd: '/', env: {} });
    try { start(); } catch (error) { console.log(error.code); }
    mkdirSync(${JSON.stringify(late)});
    const running = start();
    running.stdout.resume();
    running.stderr.resume();
    console.log((await running.exited).code);
  `;
  const args = ['--input-type=module', '-e', program];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 10_000 })).toBe('ENOENT\n0\n');
});
