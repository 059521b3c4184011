/**
 * The command lines that hold a fenced command, written out by hand. Of the engine's code they share two things, the
 * list of what bubblewrap mounts and the filter of system calls: only with the very same can both be compared.
 * Everything around them (users, namespaces, the overlay, descriptors) is written here.
 */
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { prepareEtc } from '../src/sandbox/linux/etc.ts';
import { bwrapOptions } from '../src/sandbox/linux/bwrap.ts';
import { callFilter } from '../src/sandbox/linux/seccomp.ts';
import { sandboxUid } from '../src/system/process/sandbox-user.ts';
import { spawnMs } from './command.ts';
import type { FencedLaunch } from './fenced.ts';
import { scratch } from './scratch.ts';

export interface Line {
  argv: string[];
  /** The file to be read from stdin. */
  stdin: string;
  /** The files for descriptors 3 and up: the filter, and something to write to. */
  files: string[];
  /** All that the programs of a line need; what the command gets is among bubblewrap's options, or in `stdin`. */
  env: Record<string, string>;
}

/** Stands for the id of the process that starts the line. */
export const PARENT = '%PARENT%';

const ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };
const HOME = '/home/agent';
const NATIVE = path.resolve(import.meta.dirname, '../build/launch');
const native = existsSync(NATIVE) ? NATIVE : undefined;

/** What a person would write who wants the same fence and has no engine: util-linux, a shell, bubblewrap. */
export function handWrittenLine(launch: FencedLaunch): Line {
  const { overlay, argv, env } = launch;
  const become =
    sandboxUid === undefined
      ? []
      : ['setpriv', '--reuid', `${sandboxUid}`, '--regid', `${sandboxUid}`, '--clear-groups', '--'];
  const options = bwrapOptions(launch, { ...env, HOME }, { native, etc: etc() });
  options.splice(options.indexOf('--json-status-fd'), 2); // only the engine wants to know
  const script = 'mount -t overlay overlay -o "$1" "$2" && shift 2 && exec "$@"';
  const mount = overlay && ['unshare', '-Urm', 'sh', '-c', script, 'sh', overlayOptions(launch), overlay.at];
  return lineOf([...become, ...(mount ?? []), 'bwrap', ...options, '--', ...argv], '/dev/null');
}

/** What the engine itself starts: with the native launcher, where it was built. */
export function launchLine(launch: FencedLaunch): Line {
  if (native === undefined) return handWrittenLine(launch);
  const { overlay, fence } = launch;
  const become = sandboxUid === undefined ? [] : ['-u', String(sandboxUid)];
  const mount = overlay === undefined ? [] : ['-o', overlayOptions(launch), overlay.at];
  const bwrap = ['bwrap', ...bwrapOptions(launch, {}, { native, etc: etc() }), '--'];
  const inside = ['/run/bosun-launch', 'inside', String(fence.limits.processes ?? 0), '0'];
  const line = [native, PARENT, ...become, ...mount, '-f', '--', ...bwrap, ...inside];
  return lineOf(line, commandFile(launch));
}

/** The same copy that engines show. */
function etc(): string {
  return prepareEtc(path.dirname(keptFile('filter', callFilter()!)));
}

function lineOf(argv: string[], stdin: string): Line {
  return { argv, stdin, files: [keptFile('filter', callFilter()!), '/dev/null'], env: ENVIRONMENT };
}

function overlayOptions({ overlay }: FencedLaunch): string {
  const { lowers, upper, work } = overlay!;
  return `userxattr,volatile,lowerdir=${lowers.join(':')},upperdir=${upper},workdir=${work}`;
}

/** The command and its environment, as the native launcher reads them inside. */
function commandFile({ argv, env }: FencedLaunch): string {
  const variables = Object.entries({ ...env, HOME }).map(([name, value]) => `${name}=${value}`);
  const body = Buffer.from(['nothing', String(argv.length), ...argv, ...variables, ''].join('\0'));
  const length = String(body.length).padStart(10, '0');
  return keptFile('command', Buffer.concat([Buffer.from(length), body]));
}

const kept = new Map<string, string>();

/** A file with this content; the same one for the same content. */
function keptFile(name: string, content: Buffer): string {
  const key = content.toString('latin1');
  let file = kept.get(key);
  if (file === undefined) {
    file = path.join(scratch(name), name);
    writeFileSync(file, content);
    kept.set(key, file);
  }
  return file;
}

/** How long a line takes from its start to its end, with the pipes that the engine reads output through. */
export async function lineMs({ argv, stdin, files, env }: Line): Promise<number> {
  const opened = [stdin, ...files].map((file) => openSync(file, 'r+')); // anew each time: what is read is read
  const [input, ...more] = opened as [number, ...number[]];
  try {
    const line = argv.map((part) => (part === PARENT ? String(process.pid) : part));
    return await spawnMs(line, { env, pipes: true, stdin: input, more });
  } finally {
    for (const file of opened) closeSync(file);
  }
}
