/** Runs an attack inside the fence that is on trial. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { OutputSink } from '../../src/runtime/output.ts';
import { OUTPUT_KEPT_BYTES_MAX } from './attacks.ts';
import { stoppedCalls } from './stopped-calls.ts';
import { commandOf, type Ended } from './unfenced.ts';
import type { World } from './world.ts';

const TIMEOUT_MS = 8000;
/** bash, because sh closes descriptors of one digit only. */
const CLOSE_ALL =
  'for f in /proc/self/fd/*; do n=${f##*/}; [ "$n" -gt 3 ] && eval "exec $n>&-"; done; exec "$@"';

export async function runFenced(program: string, world: World): Promise<Ended> {
  const filterFile = path.join(world.root, 'proof/filter');
  writeFileSync(filterFile, stoppedCalls());
  const filter = openSync(filterFile, 'r');
  const [command, ...args] = [...asNobody(), 'bash', '-c', CLOSE_ALL, 'bash', ...bwrap(program, world)];
  const child = spawn(command!, args, {
    cwd: world.root,
    env: { PATH: world.env.PATH! },
    stdio: ['ignore', 'pipe', 'pipe', filter],
    detached: true,
  });
  closeSync(filter);
  const pieces: string[] = [];
  const sink = new OutputSink(
    (piece) => pieces.push(piece.text ?? piece.base64 ?? ''),
    OUTPUT_KEPT_BYTES_MAX,
  );
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  const watch = setInterval(() => {
    const limit = world.fence.limits.memoryBytes;
    if (limit !== undefined && memoryOf(child.pid!) > limit) child.kill('SIGKILL');
  }, 50);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  try {
    await Promise.all([sink.read(child.stdout!, 'stdout'), sink.read(child.stderr!, 'stderr')]);
    return { code: await ended, output: pieces.join('') };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
  }
}

function asNobody(): string[] {
  if (process.getuid!() !== 0) return [];
  return ['setpriv', '--reuid=64123', '--regid=64123', '--clear-groups', '--'];
}

function bwrap(program: string, world: World): string[] {
  const { workspace, env, fence } = world;
  const { write, keep, read, limits } = fence;
  const at = (name: string): string => path.join(workspace, name);
  const size = limits.diskBytes === undefined ? [] : ['--size', String(limits.diskBytes)];
  const writable = write
    .map(at)
    .flatMap((name) =>
      limits.diskBytes === undefined ? ['--bind', name, name] : [...size, '--tmpfs', name],
    );
  const parents = limits.diskBytes === undefined ? keep.map((name) => path.dirname(at(name))) : [];
  const kept = limits.diskBytes === undefined ? keep.map(at) : [];
  const twice = (option: string, names: string[]): string[] => names.flatMap((name) => [option, name, name]);
  return [
    ['bwrap', '--unshare-all', '--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ['--uid', '1000', '--gid', '1000', '--hostname', 'agent', '--ro-bind', '/usr', '/usr'],
    ['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ['ld.so.cache', 'passwd', 'group', 'alternatives'].flatMap((name) => [
      '--ro-bind-try',
      `/etc/${name}`,
      `/etc/${name}`,
    ]),
    ['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys', '--dev', '/dev'],
    [...size, '--tmpfs', '/tmp', ...size, '--tmpfs', '/home/agent', '--tmpfs', '/run'],
    [...twice('--ro-bind', read), '--ro-bind', workspace, workspace, ...writable],
    [...twice('--bind', parents), ...twice('--ro-bind', kept)],
    Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ['--chdir', workspace, '--seccomp', '3', '--remount-ro', '/', '--'],
    prlimit(world),
    commandOf(program, world),
  ].flat();
}

function prlimit({ fence: { limits } }: World): string[] {
  const options = [
    ...(limits.processes === undefined ? [] : [`--nproc=${limits.processes}`]),
    ...(limits.openFiles === undefined ? [] : [`--nofile=${limits.openFiles}`]),
  ];
  return options.length === 0 ? [] : ['prlimit', ...options, '--'];
}

/** Of a process and all below it. */
function memoryOf(top: number): number {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const rows = all.flatMap((name) => {
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      const [, parent] = /^PPid:\s+(\d+)/m.exec(status) ?? [];
      const [, kilobytes = '0'] = /^RssAnon:\s+(\d+)/m.exec(status) ?? [];
      return [{ pid: Number(name), parent: Number(parent), bytes: Number(kilobytes) * 1024 }];
    } catch {
      return []; // it ended meanwhile
    }
  });
  const sum = (pid: number): number =>
    rows.filter(({ parent }) => parent === pid).reduce((total, row) => total + row.bytes + sum(row.pid), 0);
  return sum(top);
}
