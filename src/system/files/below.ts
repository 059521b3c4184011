/**
 * Opens what is below a directory and follows no link on the way, whoever renames things meanwhile: each name is looked
 * up in the open handle of the directory before it. A path may be longer than PATH_MAX. Only regular files are
 * opened, so that nothing waits for a pipe.
 *
 * macOS has no /proc: there each name is still opened without following a link, but by its path.
 */
import {
  close,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  type Stats,
} from 'node:fs';
import { promisify } from 'node:util';

const HAS_PROC = process.platform === 'linux';
/** Linux's O_PATH, which Node does not name: a handle to go through, for which a directory need not be readable. */
const O_PATH = HAS_PROC ? 0o10000000 : 0;
const ENTER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const SLASH = Buffer.from('/');

type Path = string | Buffer;

/** A directory held open. What is looked up in it stays in it, also when it is moved or replaced. */
export class OpenDirectory implements Disposable, AsyncDisposable {
  readonly fd: number;
  /** The path that it was opened by. */
  readonly path: Buffer;

  /** `path` is ours to trust but for its last name, which must not be a link. */
  static open(path: Path): OpenDirectory {
    const bytes = Buffer.from(path);
    return new OpenDirectory(openSync(bytes, ENTER), bytes);
  }

  private constructor(fd: number, path: Buffer) {
    this.fd = fd;
    this.path = path;
  }

  /** A path to give to system calls, as long as this is open: of one name in here, or of the directory itself. */
  at(name?: Path): Buffer {
    const own = HAS_PROC ? Buffer.from(`/proc/self/fd/${this.fd}`) : this.path;
    return name === undefined ? own : Buffer.concat([own, SLASH, Buffer.from(name)]);
  }

  enter(name: Path): OpenDirectory {
    const path = this.at(name);
    return new OpenDirectory(openSync(path, ENTER), path);
  }

  lstat(name: Path): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }

  /** For one that was removed meanwhile: only now the system frees it, which may have to wait for the disk. */
  async [Symbol.asyncDispose](): Promise<void> {
    await promisify(close)(this.fd);
  }
}

/**
 * The handle of a regular file; with O_CREAT in `flags` a new one where there is none. Errors have the code that the system
 * gave (ENOENT, …), ELOOP for a link at any name, EINVAL for what is not a regular file.
 */
export function openBelow(
  root: Path | OpenDirectory,
  relative: Path,
  flags: number = constants.O_RDONLY,
  mode = 0o600,
): number {
  return inParent(root, relative, (parent, name) => {
    const safe = flags | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
    const fd = openSync(parent.at(name), safe, mode);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
    throw problem('EINVAL', relative, 'not a regular file');
  });
}

/** All of a regular file; EFBIG where it has more than `bytesMax`, or says so. */
export function readBelow(root: Path | OpenDirectory, relative: Path, bytesMax: number): Buffer {
  const fd = openBelow(root, relative);
  try {
    const { size } = fstatSync(fd);
    const buffer = Buffer.allocUnsafe(size > bytesMax ? 0 : size + 1); // one more tells whether it grew
    let length = 0;
    while (length < buffer.length) {
      const count = readSync(fd, buffer, length, buffer.length - length, null);
      if (count === 0) return buffer.subarray(0, length);
      length += count;
    }
    throw problem('EFBIG', relative, `larger than ${bytesMax} bytes`);
  } finally {
    closeSync(fd);
  }
}

/** Undefined where there is nothing of that name; a link in the way to it is an error (ELOOP). */
export function lstatBelow(root: Path | OpenDirectory, relative: Path): Stats | undefined {
  try {
    return inParent(root, relative, (parent, name) => parent.lstat(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes each directory of `relative` that is not there, and gives a handle of the last: dispose it. */
export function mkdirBelow(root: Path | OpenDirectory, relative: Path, mode = 0o700): OpenDirectory {
  return walk(root, namesOf(relative), relative, (parent, name) => {
    try {
      mkdirSync(parent.at(name), { mode });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  });
}

/** A handle of a directory below `root`: dispose it. */
export function enterBelow(root: Path | OpenDirectory, relative: Path): OpenDirectory {
  return walk(root, namesOf(relative), relative);
}

/** Does something with the last name of a path, in the open directory that has it. */
function inParent<T>(
  root: Path | OpenDirectory,
  relative: Path,
  act: (parent: OpenDirectory, name: Buffer) => T,
): T {
  const names = namesOf(relative);
  const last = names.pop();
  if (last === undefined) throw problem('EINVAL', relative, 'not the name of anything below a directory');
  using parent = walk(root, names, relative);
  return explained(parent, last, relative, () => act(parent, last));
}

function walk(
  root: Path | OpenDirectory,
  names: readonly Buffer[],
  relative: Path,
  before?: (parent: OpenDirectory, name: Buffer) => void,
): OpenDirectory {
  let at = root instanceof OpenDirectory ? root.enter('.') : OpenDirectory.open(root);
  for (const name of names) {
    using parent = at;
    at = explained(parent, name, relative, () => {
      before?.(parent, name);
      return parent.enter(name);
    });
  }
  return at;
}

/** Errors name the path as it was asked for, and say of a link that it is one. */
function explained<T>(parent: OpenDirectory, name: Buffer, relative: Path, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined || path === undefined) throw error;
    if ((code === 'ELOOP' || code === 'ENOTDIR') && isLink(parent, name))
      throw problem('ELOOP', relative, `${name.toString()} is a symbolic link, which is not followed`);
    throw problem(code, relative, WORDS[code] ?? code);
  }
}

function isLink(parent: OpenDirectory, name: Buffer): boolean {
  try {
    return parent.lstat(name)?.isSymbolicLink() ?? false;
  } catch {
    return false;
  }
}

const WORDS: Record<string, string> = {
  ENOENT: 'not there',
  ENOTDIR: 'not in a directory',
  EACCES: 'permission denied; see who may open it with ls -l',
  EPERM: 'permission denied; see who may open it with ls -l',
  EEXIST: 'already there',
  ENXIO: 'not a regular file',
  ENAMETOOLONG: 'a name in it is too long',
};

function problem(code: string, relative: Path, why: string): NodeJS.ErrnoException {
  const message = `${relative.toString()}: ${why}`;
  return Object.assign(new Error(message), { code, syscall: 'open', path: relative.toString() });
}

/** Names between slashes; ".." is never one. */
function namesOf(relative: Path): Buffer[] {
  const names = Buffer.from(relative)
    .toString('latin1')
    .split('/')
    .filter((name) => name !== '' && name !== '.');
  if (names.includes('..') || names.some((name) => name.includes('\0')))
    throw problem('EINVAL', relative, 'leads out of its directory');
  return names.map((name) => Buffer.from(name, 'latin1'));
}
