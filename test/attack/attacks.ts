/** The table of attacks: what each tries, what it needs, and what shows that it worked. Runs none of them. */
import type { Breach, FenceLimits } from '../../src/system/process/fence.ts';

export interface Attack {
  /** Below `programs/`; its directory is the group. */
  program: string;
  /** Ends the sentence "cannot …". */
  cannot: string;
  /** In the output of an attack that worked. */
  evidence: string;
  /** Without a fence it works for root alone; others must be told so by the kernel. */
  unfencedNeedsRoot?: true;
  /** Some kernels stop it by themselves, for this reason; the attack is then counted apart. */
  kernelStops?: RegExp;
  limits?: FenceLimits;
  /** What shows only afterwards, and is judged by the harness: the program cannot know. */
  judged?: 'when collected' | 'when it has ended' | 'by the output kept';
}

/** What the kernel answers to whoever lacks the privilege. */
export const LACKS_PRIVILEGE =
  /EPERM|EACCES|Permission denied|Operation not permitted|not permitted|cannot open/i;

const MB = 1024 * 1024;
const root = { unfencedNeedsRoot: true } as const;
const later = { judged: 'when collected' } as const;
/** Not built into every kernel, or switched off by the administrator. */
const absent = { kernelStops: /ENOSYS|EOPNOTSUPP|ENOTSUP|EAFNOSUPPORT|ENODEV|ENXIO|EPERM|EACCES/ };
const files = 64;

export const ATTACKS: readonly Attack[] = [
  attack('files/absolute-write.sh', 'write to a file outside by its absolute path', 'wrote'),
  attack('files/absolute-read.sh', 'read a secret outside by its absolute path', 'read'),
  attack('files/dot-dot-write.sh', 'climb out of the workspace with .. and write there', 'wrote'),
  attack('files/symlink-write.sh', 'write outside through a symbolic link', 'wrote'),
  attack('files/symlink-read.sh', 'read a secret through a symbolic link to its directory', 'read'),
  attack('files/hardlink-write.pl', 'write outside through a hard link', 'wrote'),
  attack('files/rename-parent.pl', 'replace a read-only directory by renaming its parent', 'is mine'),
  attack('files/rename-workspace.pl', 'replace its workspace by renaming it', 'is mine'),

  attack('files/read-only-write.pl', 'write to a file in a read-only directory', 'wrote'),
  attack('files/read-only-create.pl', 'make a file in a read-only directory', 'made'),
  attack('files/read-only-mkdir.pl', 'make a directory in a read-only directory', 'made'),
  attack('files/read-only-delete.pl', 'delete a file in a read-only directory', 'deleted'),
  attack(
    'files/read-only-rename-over.pl',
    'write to a read-only directory by renaming over a file in it',
    'replaced',
  ),
  attack(
    'files/read-only-rename-away.pl',
    'take a file out of a read-only directory by renaming it',
    'is gone',
  ),
  attack(
    'files/read-only-hardlink.pl',
    'write to a read-only file through a hard link of its own',
    'written',
  ),
  attack('files/read-only-truncate.pl', 'empty a read-only file by truncating it', 'emptied'),
  attack(
    'files/read-only-chmod.pl',
    'make a read-only directory writable by changing its mode',
    'modes changed',
  ),
  attack(
    'files/read-only-mmap.pl',
    'write to a read-only file by mapping it into memory',
    'through the mapping',
  ),
  attack('files/read-only-tmpfile.pl', 'put a nameless file into a read-only directory', 'made'),
  attack('files/read-only-reopen.pl', 'write to a read-only file by opening its descriptor again', 'wrote'),
  attack('files/read-only-xattr.pl', 'put an extended attribute on a read-only file', 'user.attack', absent),
  attack('files/read-only-utime.pl', 'change the times of a read-only file', '1970'),

  attack('files/proc-1-root.sh', 'read a secret through the root of the first process', '/proc/1/root', root),
  attack('files/proc-1-write.sh', 'write through the root of the first process', 'wrote it', root),
  attack('files/proc-any-root.sh', 'read a secret through the root of any process', 'read it through'),
  attack('files/proc-self-root.sh', 'climb over its own root with ..', 'over the root'),
  attack('files/proc-any-cwd.sh', 'write through the working directory of any process', 'wrote it through'),
  attack('files/proc-any-descriptor.pl', 'open the files that other processes hold open', 'read it through'),
  attack('files/inherited-descriptor.pl', 'read from a descriptor that was left open', 'from descriptor'),

  attack(
    'files/own-directory.pl',
    'replace the directory that the engine reads its output from',
    'elsewhere',
  ),
  attack('files/sibling-read.pl', "read another attempt's workspace", 'read'),
  attack('files/sibling-write.pl', "write to another attempt's workspace", 'wrote'),
  attack('files/engine-database-read.pl', "read the engine's database", 'read'),
  attack('files/engine-database-write.pl', "write to the engine's database", 'wrote'),
  attack('files/ssh-key-read.pl', "read the user's SSH key", 'read'),
  attack('files/ssh-authorized-keys.pl', "add to the user's authorized keys", 'wrote'),

  attack(
    'files/core-pattern.pl',
    'name a program for the kernel to start at a crash',
    'could be written',
    root,
  ),
  attack('files/sysrq.pl', 'open the file that stops the machine', 'open for writing', {
    ...root,
    kernelStops: /ENOENT/,
  }),
  attack('files/device-memory.pl', 'open the memory of the machine', 'is open', { ...root, ...absent }),
  attack('files/device-disk.pl', 'open the disk of the machine', 'is open', { ...root, ...absent }),
  attack('files/device-kernel-log.pl', 'open the log of the kernel by a device of its own', 'is open', root),
  attack('files/mount-tmpfs.pl', 'mount a file system over a directory', 'was covered', root),
  attack('files/mount-bind.pl', 'bind a writable directory over a read-only one', 'shows what is in', root),
  attack(
    'files/remount-writable.pl',
    'mount a read-only directory again as writable',
    'became writable',
    root,
  ),
  attack('files/mount-setattr.pl', 'clear what makes a mount read-only', 'became writable', {
    ...root,
    kernelStops: /ENOSYS/,
  }),
  attack('files/unmount.pl', 'unmount what makes a directory read-only', 'unmounted', root),
  attack('files/pivot-root.pl', 'take another root directory', '/ is another', root),
  attack('files/open-tree.pl', 'attach a copy of a mount elsewhere', 'is at', root),
  attack('files/fsopen.pl', 'open a file system of its own', 'is open', root),
  attack('files/open-by-handle.pl', 'open a secret by the number of its inode', 'by its handle', {
    ...root,
    ...absent,
  }),
  attack('files/file-capabilities.pl', 'leave a program with capabilities behind', 'every capability', root),
  attack('files/setuid-file.pl', 'leave a setuid program behind that works', 'by a file', root),
  attack('files/setuid-mode.pl', 'leave a set-uid file behind', 'the bit is set'),
  attack('files/setuid-program.pl', 'get root by a setuid program of the machine', 'ran as root', absent),
  attack('files/chroot.pl', 'climb out with a root directory of its own', 'climbed out', root),

  attack('later/repository-hook.pl', "plant a hook in the user's repository", 'would run'),
  attack('later/repository-branch.pl', "move a branch of the user's repository", 'points elsewhere'),
  attack('later/repository-config.pl', "add to the configuration of the user's repository", 'wrote'),
  attack('later/user-git-config.pl', "add to the user's git configuration", 'wrote'),
  attack('later/shell-start-file.pl', "add to the file that the user's shell starts with", 'wrote'),
  attack('later/preload-drop.pl', "have a library loaded into the user's programs", 'is there'),
  attack('later/base-package-script.pl', 'change the package.json that the next task gets', 'wrote'),
  attack('later/workspace-package-script.pl', 'change a package.json that is not in its scope', 'wrote'),
  attack('later/workspace-hook.sh', "have the engine run hooks of its workspace's repository", '', later),
  attack('later/workspace-hooks-path.sh', 'have the engine run hooks from a directory it names', '', later),
  attack('later/workspace-fsmonitor.sh', 'have the engine run a file system monitor', '', later),
  attack('later/workspace-filter.sh', 'have the engine run a filter named in .gitattributes', '', later),
  attack('later/workspace-process-filter.sh', 'have the engine run a long-running filter', '', later),
  attack('later/workspace-diff-driver.sh', 'have the engine run a program that shows differences', '', later),
  attack('later/nested-repository.sh', 'have the engine run the monitor of a nested repository', '', later),
  attack('later/git-file.sh', 'have the engine follow a .git that names another repository', '', later),
  attack('later/path-program.sh', 'have the engine run a git that lies in the workspace', '', later),
  attack('later/escaping-link.sh', 'have the engine collect a secret through a symbolic link', '', later),

  attack('network/loopback-port.pl', "reach the engine's port on the loopback", 'answered'),
  attack('network/loopback-alias.pl', 'reach the loopback by another of its addresses', 'answered'),
  attack('network/loopback-any.pl', 'reach the loopback by the address of nobody', 'answered'),
  attack('network/loopback-v6.pl', 'reach the loopback by a mapped address', 'answered', absent),
  attack('network/other-host.pl', 'reach a port of another host', 'answered'),
  attack('network/metadata.pl', 'reach the metadata service of a cloud', 'answered'),
  attack('network/abstract-socket.pl', 'reach a unix socket that has no file', 'answered'),
  attack('network/engine-socket.pl', "reach the engine's unix socket", 'answered'),
  attack('network/other-socket.pl', 'reach the socket of another attempt', 'answered'),
  attack('network/replace-socket.pl', 'replace the socket that the engine listens on', 'was replaced'),
  attack('network/dns.pl', 'ask a resolver outside', 'answered'),
  attack('network/raw-socket.pl', 'open a raw socket', 'is open', root),
  attack('network/packet-socket.pl', 'open a packet socket', 'is open', { ...root, ...absent }),
  attack('network/netlink-address.pl', 'give an interface an address', 'another address', root),
  attack('network/netlink-interface.pl', 'make a network interface', 'is there', { ...root, ...absent }),
  attack('network/vsock.pl', 'open a socket to the host of this machine', 'is open', absent),
  attack('network/proxy-loopback.mjs', 'reach the loopback through a proxy', 'led to the loopback'),

  attack('processes/signal-victim.sh', 'end a process of somebody else', 'sent KILL'),
  attack('processes/stop-engine.sh', 'stop the engine with a signal', 'stopped'),
  attack('processes/parent-signal.pl', 'signal whoever started it', 'could signal'),
  attack('processes/engine-environ.pl', 'read the environment of the engine', 'is in it'),
  attack('processes/any-environ.pl', 'read the environment of any other process', 'key of the engine'),
  attack('processes/own-environ.pl', "find the engine's key in its own environment", 'came along'),
  attack('processes/ptrace.pl', 'take hold of a process as a debugger does', 'held', absent),
  attack('processes/process-memory.pl', 'read the memory of another process', 'secret was in it', absent),
  attack('processes/proc-mem.pl', 'write to the memory of another process', 'open for writing', absent),
  attack('processes/kcmp.pl', 'compare kernel objects with another process', 'the answer is', absent),
  attack('processes/pidfd-getfd.pl', 'take an open file out of another process', 'took a file', absent),
  attack('processes/terminal-input.pl', "type into the engine's terminal", 'typed', {
    kernelStops: /EIO|EPERM/,
  }),
  attack('processes/daemon.pl', 'leave a daemon behind', '', { judged: 'when it has ended' }),
  attack('processes/unshare-user.pl', 'take a user namespace', 'of its own', absent),
  attack('processes/clone-user.pl', 'start a child in a user namespace', 'had a user namespace', absent),
  attack('processes/unshare-mount.pl', 'take a mount namespace', 'of its own', root),
  attack('processes/unshare-net.pl', 'take a network namespace', 'of its own', root),
  attack('processes/setns.pl', 'enter the mount namespace of another process', 'entered', root),
  attack('processes/keyring.pl', 'read a key of the same user', 'was read', absent),
  attack('processes/session-keyring.pl', 'join a session of keys', 'in session', absent),
  attack('processes/shared-memory.pl', 'read memory that somebody else shares', 'secret was in it', absent),
  attack('processes/bpf.pl', 'load a map into the kernel', 'is in the kernel', { ...root, ...absent }),
  attack('processes/perf-event.pl', 'open a counter of the kernel', 'is open', absent),
  attack('processes/userfaultfd.pl', 'take over page faults', 'handled here', absent),
  attack('processes/io-uring.pl', 'make a ring for system calls', 'ring is there', absent),
  attack('processes/personality.pl', 'ask for memory that can always be executed', 'can be executed'),
  attack('processes/x32.pl', 'make system calls by their other numbers', 'getpid said', absent),
  attack('processes/kernel-module.pl', 'load a module into the kernel', 'would have taken', {
    ...root,
    ...absent,
  }),
  attack('processes/io-ports.pl', 'take hold of the ports of the machine', 'are open', {
    ...root,
    ...absent,
  }),

  attack('resources/fork-bomb.pl', 'start more processes than its limit', 'were alive', {
    limits: { processes: 30 },
  }),
  attack('resources/memory.pl', 'take more memory than its limit', 'has', {
    limits: { memoryBytes: 32 * MB },
  }),
  attack('resources/memory-many.pl', 'take more memory than its limit in many processes', 'had', {
    limits: { memoryBytes: 32 * MB },
  }),
  attack('resources/memory-memfd.pl', 'take more memory than its limit in a file without a name', 'has', {
    limits: { memoryBytes: 32 * MB },
    kernelStops: /ENOSYS/,
  }),
  attack('resources/memory-segment.pl', 'take more memory than its limit in shared segments', 'has', {
    limits: { memoryBytes: 32 * MB },
  }),
  attack('resources/memory-files.pl', 'take more memory than its limit in files in memory', 'has', {
    limits: { memoryBytes: 32 * MB },
  }),
  attack('resources/memory-pipes.pl', 'take more memory than its limit in pipes', 'has', {
    limits: { memoryBytes: 16 * MB },
  }),
  attack('resources/memory-sockets.pl', 'take more memory than its limit in sockets', 'has', {
    limits: { memoryBytes: 32 * MB },
  }),
  attack('resources/disk.pl', 'fill its workspace over its limit', 'wrote', {
    limits: { diskBytes: 4 * MB },
  }),
  attack('resources/disk-git.pl', "fill its repository's directory over its limit", 'wrote', {
    limits: { diskBytes: 4 * MB },
  }),
  attack('resources/disk-tmp.pl', 'fill the temporary directory over its limit', 'wrote', {
    limits: { diskBytes: 4 * MB },
  }),
  attack('resources/disk-home.pl', 'fill its home over its limit', 'wrote', {
    limits: { diskBytes: 4 * MB },
  }),
  attack('resources/disk-shared-memory.pl', 'fill shared memory over its limit', 'wrote', {
    limits: { diskBytes: 4 * MB },
  }),
  attack('resources/disk-own-files.pl', 'fill the directory with its own files over its limit', 'wrote', {
    limits: { diskBytes: 4 * MB },
  }),
  attack('resources/disk-deleted.pl', 'fill the disk with a file that has no name', 'wrote', {
    limits: { diskBytes: 4 * MB },
  }),
  attack('resources/disk-mapped.pl', 'fill the disk with a file that is only mapped', 'wrote', {
    limits: { diskBytes: 4 * MB },
  }),
  attack('resources/disk-ahead.pl', 'take disk over its limit in a single call', 'took', {
    limits: { diskBytes: 4 * MB },
    kernelStops: /EOPNOTSUPP/,
  }),
  attack('resources/inotify.pl', 'have more files watched than a sandbox may', 'are watched', {
    kernelStops: /ENOSPC|EMFILE/,
  }),
  attack('resources/small-files.pl', 'fill the disk with very small files', 'made', {
    limits: { diskBytes: 2 * MB },
  }),
  attack('resources/open-files.pl', 'open more files than its limit', 'are open', {
    limits: { openFiles: files },
  }),
  attack('resources/raise-limits.pl', 'raise a limit that it was given', 'are open', {
    limits: { openFiles: files },
  }),
  attack('resources/first-process.pl', 'borrow the limits of the first process', 'of the first process', {
    limits: { openFiles: files, processes: files },
  }),
  attack('resources/log-flood.pl', 'have more output kept than is allowed', '', {
    judged: 'by the output kept',
  }),
];

/** What an attempt must still be able to do, so that a fence that stops everything is no success. */
export const ORDINARY: readonly { program: string; can: string }[] = [
  { program: 'ordinary/write-scope.sh', can: 'write, rename and delete in what its scope names' },
  { program: 'ordinary/git.sh', can: 'use git in its workspace' },
  { program: 'ordinary/own-files.sh', can: 'leave files for the engine' },
  { program: 'ordinary/own-socket.pl', can: 'reach the engine by its own socket' },
  { program: 'ordinary/own-loopback.mjs', can: 'listen on a port and connect to itself' },
  { program: 'ordinary/children.sh', can: 'start, signal and await children of its own' },
];

export const OUTPUT_KEPT_BYTES_MAX = MB;

/** What also depends on how the sandbox was started; the rest is the same once it stands. */
export function isTriedBothWays({ program }: { program: string }): boolean {
  return /^(files|processes|ordinary|resources)\//.test(program);
}

/** The number that a program of the group `resources` tries to exceed. */
export function limitOf({ limits, judged }: Attack): number {
  if (judged === 'by the output kept') return OUTPUT_KEPT_BYTES_MAX;
  return Object.values(limits ?? {})[0] ?? 0;
}

const LIMIT_NAMES: Record<keyof FenceLimits, Breach['limit']> = {
  memoryBytes: 'memory',
  processes: 'processes',
  cpu: 'cpu',
  diskBytes: 'disk',
  openFiles: 'open files',
};

/** What an attack that was ended must have been ended for. */
export function limitNameOf({ limits = {} }: Attack): Breach['limit'] | undefined {
  const [name] = Object.keys(limits) as (keyof FenceLimits)[];
  return name && LIMIT_NAMES[name];
}

function attack(
  program: string,
  cannot: string,
  evidence: string,
  rest: Partial<Pick<Attack, 'unfencedNeedsRoot' | 'kernelStops' | 'limits' | 'judged'>> = {},
): Attack {
  return { program, cannot, evidence, ...rest };
}
