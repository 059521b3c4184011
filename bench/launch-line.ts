/**
 * The command lines that hold a fenced command, written out by hand. Of the engine's code they share one thing, the
 * list of what bubblewrap mounts: only with the very same mounts can both be compared. Everything around it
 * (users, namespaces, the overlay, descriptors) is written here.
 *
 * All lines find the filter of system calls at descriptor 3, and something to write to at 4: `lineMs` starts them so.
 */
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bwrapOptions } from '../src/sandbox/bwrap.ts';
import { callFilter } from '../src/sandbox/seccomp.ts';
import type { Launch } from '../src/system/process.ts';
import { sandboxUid } from '../src/system/sandbox-user.ts';
import { spawnMs } from './command.ts';
import { scratch } from './scratch.ts';

/** Stands for the id of the process that starts the line. */
export const PARENT = '%PARENT%';
/** All that the programs of a line need; what the command gets is among bubblewrap's options. */
export const LINE_ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };

const NATIVE = path.resolve(import.meta.dirname, '../build/launch');
const native = existsSync(NATIVE) ? NATIVE : undefined;

/** What a person would write who wants the same fence and has no engine: util-linux, a shell, bubblewrap. */
export function handWrittenLine(launch: Launch): string[] {
  const { overlay, argv } = launch;
  const become =
    sandboxUid === undefined
      ? []
      : ['setpriv', '--reuid', `${sandboxUid}`, '--regid', `${sandboxUid}`, '--clear-groups', '--'];
  const options = bwrapOptions(launch, launch.fence!, native);
  options.splice(options.indexOf('--json-status-fd'), 2); // only the engine wants to know
  const bwrap = ['bwrap', ...options, '--', ...argv];
  if (overlay === undefined) return [...become, ...bwrap];
  const script = 'mount -t overlay overlay -o "$1" "$2" && shift 2 && exec "$@"';
  return [
    ...become,
    'unshare',
    '-Urm',
    'sh',
    '-c',
    script,
    'sh',
    overlayOptions(launch),
    overlay.at,
    ...bwrap,
  ];
}

/** What the engine itself starts: with the native launcher, where it was built. */
export function launchLine(launch: Launch): string[] {
  if (native === undefined) return handWrittenLine(launch);
  const { overlay, argv, fence } = launch;
  return [
    ...[native, PARENT],
    ...(sandboxUid === undefined ? [] : ['-u', String(sandboxUid)]),
    ...(overlay === undefined ? [] : ['-o', overlayOptions(launch), overlay.at]),
    ...['-f', '--', 'bwrap', ...bwrapOptions(launch, fence!, native)],
    ...['--', '/run/bosun-launch', 'inside', String(fence!.limits.processes ?? 0), '0', '--', ...argv],
  ];
}

function overlayOptions({ overlay }: Launch): string {
  const { lowers, upper, work } = overlay!;
  return `userxattr,volatile,lowerdir=${lowers.join(':')},upperdir=${upper},workdir=${work}`;
}

let filter: string | undefined;

/** The file with the filter of system calls, for descriptor 3. */
export function filterFile(): string {
  if (filter === undefined) {
    filter = path.join(scratch('filter'), 'seccomp.bpf');
    writeFileSync(filter, callFilter()!);
  }
  return filter;
}

/** How long a line takes from its start to its end, with the pipes that the engine reads output through. */
export async function lineMs(line: readonly string[]): Promise<number> {
  const files = [openSync(filterFile(), 'r'), openSync('/dev/null', 'w')]; // a filter can be read once
  try {
    const argv = line.map((part) => (part === PARENT ? String(process.pid) : part));
    return await spawnMs(argv, { env: LINE_ENVIRONMENT, pipes: true, more: files });
  } finally {
    for (const file of files) closeSync(file);
  }
}
