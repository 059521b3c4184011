/**
 * A fence as options of bubblewrap, which the kernel then holds. Order matters: what comes later lies on top.
 * They go to bwrap through a descriptor, so that no environment stands in a list of processes.
 */
import { totalmem } from 'node:os';
import path from 'node:path';
import type { Surrounding } from '../../system/process/process.ts';
import type { Fence } from '../../system/process/fence.ts';
import { etcMounts, sealEtc } from './etc.ts';
import { systemMounts } from '../machine/system-mounts.ts';

export const INSIDE = {
  uid: 1000,
  home: '/home/agent',
  /** Whatever the real path: tools treat one that has `.git` in it as git's own, and some agents write nothing there. */
  workspace: '/bosun/workspace',
  sockets: '/run/bosun',
  /** Sets limits and becomes the command. */
  launch: '/run/bosun-launch',
} as const;

/** The directories inside whose files lie in memory. */
export const IN_MEMORY = ['/tmp', INSIDE.home, '/dev/shm'] as const;

/** Descriptors that bwrap finds: its filter of system calls, these options, and where it tells how things stand. */
export const DESCRIPTORS = { seccomp: 3, options: 4, status: 5 } as const;

const MEMORY_FILES_BYTES_MAX = 4 * 1024 ** 3;

/** All but the command itself. `native` is the launcher, where there is one; `etc` is what is shown as /etc. */
export function bwrapOptions(
  { cwd, emptyCwd, fence }: Surrounding & { fence: Fence },
  env: Record<string, string>,
  { native, etc }: { native: string | undefined; etc: string },
): string[] {
  const { diskBytes = Infinity, memoryBytes = Infinity } = fence.limits;
  // These files are memory; each file system alone takes no more than all may, and a watchdog counts them together.
  const sizeBytes = Math.min(diskBytes, memoryBytes, Math.floor(totalmem() / 2), MEMORY_FILES_BYTES_MAX);
  const inMemory = (at: string): string[] => ['--size', String(sizeBytes), '--tmpfs', at];
  const options =
    '--unshare-all --die-with-parent --new-session --clearenv --cap-drop ALL --hostname agent'.split(' ');
  options.push('--uid', String(INSIDE.uid), '--gid', String(INSIDE.uid));
  options.push('--seccomp', String(DESCRIPTORS.seccomp), '--json-status-fd', String(DESCRIPTORS.status));
  options.push(...systemMounts(), ...etcMounts(etc, fence.read));
  options.push('--proc', '/proc', '--dev', '/dev', ...inMemory('/dev/shm'), '--remount-ro', '/dev');
  options.push(...inMemory('/tmp'), ...inMemory(INSIDE.home), '--symlink', '/tmp', '/var/tmp');
  options.push(...readMounts(fence), ...sealEtc(etc, fence.read));
  for (const directory of fence.own) options.push('--bind', directory, directory);
  if (fence.sockets !== undefined) options.push('--ro-bind', fence.sockets, INSIDE.sockets);
  if (native !== undefined) options.push('--ro-bind', native, INSIDE.launch);
  const { at = cwd } = fence;
  if (!emptyCwd) options.push(...workspaceMounts(cwd, at, fence));
  for (const [name, value] of Object.entries(env)) options.push('--setenv', name, value);
  for (const directory of fence.hidden ?? []) options.push('--remount-ro', directory);
  options.push('--remount-ro', '/', '--chdir', emptyCwd ? INSIDE.home : at);
  return options;
}

/** From the outside in: what is hidden covers what is around it, and not what is shown within. */
function readMounts({ read, hidden = [] }: Fence): string[] {
  const mounts: [at: string, options: string[]][] = [
    ...read.map((file): [string, string[]] => [file, ['--ro-bind', file, file]]),
    ...hidden.map((file): [string, string[]] => [
      file,
      ['--perms', '0755', '--size', '1048576', '--tmpfs', file],
    ]),
  ];
  return mounts.sort(([a], [b]) => a.length - b.length).flatMap(([, options]) => options);
}

/** Every directory above one that stays as it is must be a mount point, else it could be renamed out of the way. */
function workspaceMounts(
  workspace: string,
  shownAt: string,
  { write, keep, grantable, mask, empty = [] }: Fence,
): string[] {
  const from = (name: string): string => (name === '' ? workspace : path.join(workspace, name));
  const at = (name: string): string => (name === '' ? shownAt : path.join(shownAt, name));
  const isAllWritable = write.includes('');
  const mounts: [kind: '--bind' | '--ro-bind', name: string][] = [
    [isAllWritable ? '--bind' : '--ro-bind', ''],
  ];
  const rest = new Map<string, '--bind' | '--ro-bind'>();
  for (const name of grantable) rest.set(name, '--ro-bind');
  for (const name of write) if (name !== '') rest.set(name, '--bind');
  for (const name of keep) {
    for (const above of parents(name)) {
      if (!rest.has(above)) rest.set(above, isInside(above, write) ? '--bind' : '--ro-bind');
    }
    rest.set(name, '--ro-bind');
  }
  mounts.push(
    ...[...rest]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, kind]): [typeof kind, string] => [kind, name]),
  );
  return [
    ...mounts.flatMap(([kind, name]) => [kind, from(name), at(name)]),
    ...mask.flatMap((name) => masked(at(name))),
    ...empty.flatMap((name) => emptied(at(name), '0555')),
  ];
}

/** An empty directory that cannot be entered, or an empty file. */
function masked(file: string): string[] {
  return file.endsWith('/') ? emptied(file.slice(0, -1), '0000') : ['--ro-bind', '/dev/null', file];
}

/** The command owns it and could change its mode: read-only, it is no room for as much as half of the memory. */
function emptied(directory: string, mode: string): string[] {
  return ['--perms', mode, '--size', '4096', '--tmpfs', directory, '--remount-ro', directory];
}

function parents(name: string): string[] {
  const parts = name.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function isInside(name: string, directories: readonly string[]): boolean {
  return directories.some(
    (directory) => directory === '' || name === directory || name.startsWith(`${directory}/`),
  );
}
