/**
 * Turns what differs between a workspace and its base into changes that a commit can hold: ignored files left
 * out, what no commit may hold refused. Never runs git.
 */
import { chmodSync, readFileSync, readlinkSync, type BigIntStats } from 'node:fs';
import { bytesKey } from '../base/bytes-key.ts';
import { Breather } from '../base/breather.ts';
import { isDotGit, isGitmodules } from '../base/dot-git.ts';
import { BosunError } from '../contract/errors.ts';
import type { Change } from '../system/git/change.ts';
import { rootRules, RULES_BYTES_MAX, type Rules } from './ignore/rules.ts';
import { isSameFile } from './same-file.ts';
import { join, listNames, lookup, lstatOrWhy, type StackEntry, type Layer } from './stack.ts';
import type { Hidden } from './workspace.ts';

const CHANGES_MAX = 200_000;
/** As long as files say they are: one with holes takes no room on the disk, and all its length in a commit. */
const CHANGES_BYTES_MAX = 4 * 1024 ** 3;
/** Longer paths cannot be checked out again: the machine takes 4,096 bytes, and bases have longer names. */
const PATH_BYTES_MAX = 3700;
const SET_ID_BITS = 0o6000n;
const GITIGNORE = Buffer.from('.gitignore');

/** One name in a directory that is not as in the base. */
export interface Difference {
  name: Buffer;
  /** Undefined where it is gone. */
  stat: BigIntStats | undefined;
  /** A directory that shares nothing with the one of that name in the base. */
  isReplaced: boolean;
}

export interface Compared {
  /** In the order of their names. Directories may be given although nothing in them differs. */
  differences(directory: Buffer, breather: Breather): Promise<Difference[]>;
  /** Where a path of the workspace lies now. */
  source(path: Buffer): Buffer;
  /** All layers, the workspace's own on top. */
  current: readonly Layer[];
  /** Those that hold files of the commit. */
  tracked: readonly Layer[];
  submodules: readonly string[];
  hidden: Hidden;
  excludes: readonly string[];
}

/** Throws the reason of `signal` once that is aborted; nothing is changed by then. */
export async function findChanges(compared: Compared, signal?: AbortSignal): Promise<Change[]> {
  const walk = new Walk(compared, signal);
  await walk.directory(Buffer.alloc(0), undefined, false, false);
  return walk.changes;
}

class Walk {
  readonly changes: Change[] = [];
  #bytes = 0;
  readonly #breather = new Breather();
  readonly #compared: Compared;
  readonly #submodules: ReadonlySet<string>;

  readonly #signal: AbortSignal | undefined;

  constructor(compared: Compared, signal: AbortSignal | undefined) {
    this.#compared = compared;
    this.#signal = signal;
    this.#submodules = new Set(compared.submodules.map((path) => bytesKey(Buffer.from(path))));
  }

  /** `isGone`: all that the base has here is deleted already. `isIgnored`: only tracked files count. */
  async directory(
    path: Buffer,
    above: Rules | undefined,
    isIgnored: boolean,
    isGone: boolean,
  ): Promise<void> {
    makeReadable(this.#compared.source(path), 0o500);
    const differences = await this.#compared.differences(path, this.#breather);
    for (const { name, stat } of path.length > 0 ? differences : []) {
      await this.#breather.breathe();
      if (stat !== undefined && isDotGit(name.toString()))
        return this.#push({ kind: 'refused', path, why: 'nested repository' });
    }
    const gitignore = this.#readGitignore(path);
    const rules = above?.within(path.toString(), gitignore) ?? rootRules(this.#compared.excludes, gitignore);
    for (const difference of differences) {
      await this.#breather.breathe(); // a large layer must not hold up everything else
      this.#signal?.throwIfAborted();
      if (path.length === 0 && isDotGit(difference.name.toString())) continue;
      const below = join(path, difference.name);
      if (difference.stat === undefined) this.#deleted(below, isGone);
      else if (difference.stat.isDirectory())
        await this.#below(below, difference.isReplaced, rules, isIgnored, isGone);
      else
        await this.#entry(
          below,
          difference.stat,
          isIgnored || rules.ignores(below.toString(), false),
          isGone,
        );
    }
  }

  async #below(
    path: Buffer,
    isReplaced: boolean,
    rules: Rules,
    isIgnored: boolean,
    isGone: boolean,
  ): Promise<void> {
    if (this.#submodules.has(bytesKey(path))) {
      const differences = await this.#compared.differences(path, this.#breather);
      if (differences.some(({ stat }) => stat !== undefined)) {
        this.#push({ kind: 'refused', path, why: 'files inside a submodule' });
      }
      return;
    }
    const { files, directories } = this.#compared.hidden;
    const tracked = lookup(this.#compared.tracked, path);
    const ignored = isIgnored || rules.ignores(path.toString(), true);
    if (ignored && tracked === undefined && !directories.has(bytesKey(path))) return;
    if (this.#compared.source(path).length > PATH_BYTES_MAX)
      return this.#push({ kind: 'refused', path, why: 'a path that is too long' });
    const replaces = tracked !== undefined && (isReplaced || !tracked.stat.isDirectory());
    if (replaces && !isGone) this.#delete(path, tracked);
    if (files.has(bytesKey(path))) this.#push({ kind: 'delete', path, wasDirectory: false });
    await this.directory(path, rules, ignored, isGone || replaces);
  }

  #deleted(path: Buffer, isGone: boolean): void {
    const tracked = isGone ? undefined : lookup(this.#compared.tracked, path);
    if (tracked !== undefined) this.#delete(path, tracked);
  }

  async #entry(path: Buffer, stat: BigIntStats, isIgnored: boolean, isGone: boolean): Promise<void> {
    const { files, directories } = this.#compared.hidden;
    const tracked = lookup(this.#compared.tracked, path);
    const isHiddenIn = directories.has(bytesKey(path));
    const isNew = tracked === undefined && !isHiddenIn && !files.has(bytesKey(path));
    if (isNew && isIgnored) return;
    const why = refusal(path, stat);
    if (why !== undefined) return this.#push({ kind: 'refused', path, why });
    // a file in the place of a directory leaves nothing of it, what is hidden in it included
    if ((tracked?.stat.isDirectory() === true && !isGone) || isHiddenIn)
      this.#push({ kind: 'delete', path, wasDirectory: true });
    const source = this.#compared.source(path);
    if (stat.isSymbolicLink()) {
      const target = readlinkSync(source, { encoding: 'buffer' });
      const before = tracked?.stat.isSymbolicLink()
        ? readlinkSync(tracked.source, { encoding: 'buffer' })
        : undefined;
      if (!isGone && before?.equals(target)) return;
      return this.#push({ kind: 'symlink', path, target, isNew });
    }
    makeReadable(source, 0o400);
    // A file may have been written without becoming another one.
    if (!isGone && tracked && (await isSameFile({ stat, source }, tracked))) return;
    const mode = (stat.mode & 0o100n) === 0n ? '100644' : '100755';
    this.#push({ kind: 'file', path, source, mode, size: Number(stat.size), isNew });
  }

  /** What the attempt could not see stays: it deleted the rest of the directory. */
  #delete(path: Buffer, { stat }: StackEntry): void {
    if (!stat.isDirectory() || !this.#compared.hidden.directories.has(bytesKey(path)))
      return this.#push({ kind: 'delete', path, wasDirectory: stat.isDirectory() });
    for (const { name, entry } of listNames(this.#compared.tracked, path))
      this.#delete(join(path, name), entry);
  }

  #push(change: Change): void {
    if (this.changes.length >= CHANGES_MAX) {
      throw new BosunError(
        'system',
        `more than ${CHANGES_MAX} files changed in ${this.#compared.source(Buffer.alloc(0)).toString()}: if they are generated, name them in .gitignore`,
      );
    }
    if (change.kind === 'file' && (this.#bytes += change.size) > CHANGES_BYTES_MAX) {
      throw new BosunError(
        'system',
        `the changed files hold more than ${CHANGES_BYTES_MAX / 1024 ** 3} GB together, ${change.path.toString()} among them: if they are generated, name them in .gitignore`,
      );
    }
    this.changes.push(change);
  }

  #readGitignore(directory: Buffer): string | undefined {
    const entry = lookup(this.#compared.current, join(directory, GITIGNORE));
    if (entry === undefined || !entry.stat.isFile() || entry.stat.size > RULES_BYTES_MAX) return undefined;
    return readFileSync(entry.source, 'utf8');
  }
}

function refusal(path: Buffer, stat: BigIntStats): string | undefined {
  const name = path.toString().slice(path.toString().lastIndexOf('/') + 1);
  if (isDotGit(name)) return 'a name that git keeps for itself';
  if (stat.isFile()) {
    // git would drop the bits, and with them what the file was for.
    if ((stat.mode & SET_ID_BITS) !== 0n) return 'a set-user-ID or set-group-ID file';
    return stat.size > CHANGES_BYTES_MAX ? `larger than ${CHANGES_BYTES_MAX / 1024 ** 3} GB` : undefined;
  }
  if (stat.isSymbolicLink()) return isGitmodules(name) ? 'git refuses a link of this name' : undefined;
  if (stat.isFIFO()) return 'a named pipe';
  if (stat.isSocket()) return 'a socket';
  return 'a device';
}

/** The attempt may have locked us out of what is ours; as root nothing is locked. */
function makeReadable(source: Buffer, bits: number): void {
  if (process.getuid?.() === 0) return;
  const stat = lstatOrWhy(source);
  if (typeof stat !== 'object' || (Number(stat.mode) & bits) === bits) return;
  try {
    chmodSync(source, (Number(stat.mode) & 0o777) | bits);
  } catch {
    // reading it will say what is wrong
  }
}
