/**
 * What a machine's failure (a full disk, a read-only one, too many open files) means to a person, and what to do
 * about it. The one place that knows: every command and every stage asks here. It never judges bugs.
 */
import { BosunError } from '../contract/errors.ts';

interface Meaning {
  why: string;
  remedy: string;
  /** What the C library calls it, for what other programs print. */
  spelled: string;
}

const RAISE_FILES = 'raise the limit with: ulimit -n 4096';

const MEANINGS = {
  ENOSPC: {
    why: 'no space is left on the device',
    remedy: 'free some space',
    spelled: 'No space left on device',
  },
  EDQUOT: { why: 'the disk quota is used up', remedy: 'free some space', spelled: 'Disk quota exceeded' },
  EROFS: {
    why: 'the file system is read-only',
    remedy: 'mount it writable, or clone the repository to a place that is',
    spelled: 'Read-only file system',
  },
  EIO: {
    why: 'the disk reports an input/output error',
    remedy: 'check the disk (the kernel log has details: dmesg)',
    spelled: 'Input/output error',
  },
  EMFILE: {
    why: 'too many files are open in this process',
    remedy: RAISE_FILES,
    spelled: 'Too many open files',
  },
  ENFILE: {
    why: 'too many files are open on this machine',
    remedy: 'close other programs, or raise fs.file-max',
    spelled: 'Too many open files in system',
  },
  ENOMEM: {
    why: 'the machine is out of memory',
    remedy: 'close other programs, or run fewer tasks at a time (concurrency)',
    spelled: 'Cannot allocate memory',
  },
  EAGAIN: {
    why: 'the machine cannot start more processes',
    remedy: 'close other programs, or raise the limit with: ulimit -u',
    spelled: 'Resource temporarily unavailable',
  },
  EACCES: {
    why: 'permission denied',
    remedy: 'check its owner and permissions',
    spelled: 'Permission denied',
  },
  EPERM: {
    why: 'the system does not permit it',
    remedy: 'check its owner and permissions',
    spelled: 'Operation not permitted',
  },
} as const satisfies Record<string, Meaning>;

type MachineFailure = keyof typeof MEANINGS;

/** SQLite's primary result codes. */
const SQLITE: Partial<Record<number, MachineFailure>> = { 3: 'EACCES', 8: 'EROFS', 10: 'EIO', 13: 'ENOSPC' };

/** Those that have nothing to do with what an agent or a repository holds: whatever is tried next fails as well. */
const OF_THE_MACHINE: ReadonlySet<MachineFailure> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
]);

const CAUSES_MAX = 8;

/** Which failure of the machine an error stands for, or was caused by. */
function failureOf(error: unknown): MachineFailure | undefined {
  let at = error;
  for (let depth = 0; at instanceof Error && depth < CAUSES_MAX; at = at.cause, depth++) {
    const { code, errcode, syscall } = at as NodeJS.ErrnoException & { errcode?: number };
    if (typeof errcode === 'number') return SQLITE[errcode & 0xff];
    // A socket that is not ready says EAGAIN as well.
    if (code === 'EAGAIN' && !syscall?.startsWith('spawn')) continue;
    if (code !== undefined && Object.hasOwn(MEANINGS, code)) return code as MachineFailure;
    const stderr = at instanceof BosunError && (at.data as { stderr?: string } | undefined)?.stderr;
    const spelled = stderr && failureIn(stderr);
    if (spelled) return spelled;
  }
  return undefined;
}

/** Whether the machine failed, so that the engine cannot do its part for any task. */
export function hasMachineFailed(error: unknown): boolean {
  const failure = failureOf(error);
  return failure !== undefined && OF_THE_MACHINE.has(failure);
}

/** Whether there was no space for what was to be written. */
export function isOutOfSpace(error: unknown): boolean {
  const failure = failureOf(error);
  return failure === 'ENOSPC' || failure === 'EDQUOT';
}

/** The same from the words of another program. */
function failureIn(text: string): MachineFailure | undefined {
  const found = Object.entries(MEANINGS).find(([, { spelled }]) => text.includes(spelled));
  return found?.[0] as MachineFailure | undefined;
}

/** The same where only the words of an error are left: what to do, or nothing. */
export function remedyIn(text: string): string | undefined {
  const named = Object.entries(MEANINGS).find(
    ([code, { spelled }]) => new RegExp(`\\b${code}\\b`).test(text) || text.includes(spelled),
  );
  return named?.[1].remedy;
}

/** What to do about it; undefined where the error is not the machine's. */
export function remedyFor(error: unknown): string | undefined {
  const failure = failureOf(error);
  return failure && MEANINGS[failure].remedy;
}

/** As an error for people; undefined where the error is not the machine's. `doing`: what failed, such as "cannot write x". */
export function machineError(error: unknown, doing?: string): BosunError | undefined {
  const failure = failureOf(error);
  if (!failure) return undefined;
  const { why, remedy } = MEANINGS[failure];
  return new BosunError('system', `${doing ?? doingOf(error)}: ${why} (${failure}); ${remedy}`, {
    cause: error,
  });
}

const WRITING =
  /^(write|pwrite|ftruncate|fsync|fdatasync|mkdir|mkdtemp|rename|unlink|rmdir|symlink|link|chmod|chown|copyfile)/;

/** From the call that failed: "cannot write /x", "cannot start git". */
function doingOf(error: unknown): string {
  const { syscall = '', path } = error as NodeJS.ErrnoException;
  if (syscall.startsWith('spawn')) return `cannot start ${syscall.slice('spawn '.length) || 'a process'}`;
  const verb = WRITING.test(syscall) ? 'write' : syscall === 'open' ? 'open' : 'use';
  if (path) return `cannot ${verb} ${JSON.stringify(path).slice(1, -1)}`;
  return verb === 'write' ? 'cannot write a file' : `a system call failed${syscall && ` (${syscall})`}`;
}
