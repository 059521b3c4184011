/**
 * The engine's own git directory: a bare one in bosun's state directory that borrows the user's objects. Bytes go in and
 * out as they are: no line ends, filters or encodings. Writes to the user's repository only where `land.ts` hands over a pack.
 */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { machineError } from '../../base/machine-failure.ts';
import { BosunError } from '../../contract/errors.ts';
import { cQuote, git, signedBy, splitNul, startGit, type GitOptions, type Identity } from './git.ts';
import { UNFINISHED_PREFIX } from './pack-writer.ts';
import { processExit, type Captured } from '../process/process.ts';
import type { Repository } from './repository.ts';
import { assertOwnGit } from '../files/own-state.ts';
import { removeTree } from '../files/remove-tree.ts';
import { sandboxUid } from '../process/sandbox-user.ts';
import { makeStateDirectory, sandboxDirectory, stateDirectory } from '../files/state-directory.ts';
import { TreeReader } from './tree-reader.ts';

export const RAW_ATTRIBUTES = '* -text !eol -ident -filter -working-tree-encoding\n';
const CONFIG = `	bare = true
	fsync = objects
	fsyncMethod = batch
	logAllRefUpdates = false
	protectNTFS = false
	attributesFile = /dev/null
	excludesFile = /dev/null
[gc]
	auto = 0
[merge]
	renames = true
	directoryRenames = false
[uploadpack]
	allowAnySHA1InWant = true
`;
const DIFF = ['diff', '--binary', '--full-index', '--no-ext-diff', '--no-textconv', '--no-color', '-M'];
/** `settle` and `borrow` replace them, whatever they are. */
const MADE_ANEW = /^(config|commondir|hooks|shallow)/;
const ANCESTRY_MAX = 10_000;
const STDERR_CHARS_MAX = 2000;
/** Every commit of changes is a pack of its own; from this many on they are put together. */
const PACKS_MAX = 100;
/** Nobody writes one pack for this long. */
const UNFINISHED_MS_MAX = 24 * 60 * 60 * 1000;

export interface ChangedPath {
  path: Buffer;
  status: 'A' | 'M' | 'D' | 'T';
}

export interface CommitParts {
  tree: string;
  parents: string[];
  message: string;
  atMs: number;
  /** bosun itself where nobody is named. */
  author?: Identity;
}

/** Opens the engine's git directory of a repository, and makes it where there is none. */
export async function openEngineGit(repository: Repository): Promise<EngineGit> {
  const home = stateDirectory(repository.commonDir);
  try {
    makeStateDirectory(home);
    const directory = path.join(home, 'git');
    assertOwnGit(directory, MADE_ANEW);
    const isMade = await readFile(path.join(directory, 'HEAD')).catch(() => undefined);
    if (isMade === undefined) await make(directory, repository);
    await settle(directory, repository);
    await borrow(directory, repository);
    return new EngineGit(directory, repository);
  } catch (cause) {
    throw unwritable(cause, home);
  }
}

async function make(directory: string, repository: Repository): Promise<void> {
  const fresh = `${directory}.new-${process.pid}-${Date.now()}`;
  try {
    await git([
      'init',
      '--quiet',
      '--bare',
      '--template=',
      // Whatever the umask: workspaces borrow from it, and may be another user's.
      ...(sandboxUid === undefined ? [] : ['--shared=0644']),
      `--object-format=${repository.objectFormat}`,
      fresh,
    ]);
    if (sandboxUid !== undefined) await chmod(fresh, 0o755);
    await mkdir(path.join(fresh, 'info'), { recursive: true });
    await mkdir(path.join(fresh, 'objects', 'info'), { recursive: true });
    await rename(fresh, directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error; // another engine was faster
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** What git obeys there is what we wrote, whatever an archive brought along with a repository. */
async function settle(directory: string, { objectFormat }: Repository): Promise<void> {
  const isNew = objectFormat !== 'sha1';
  const config = [
    `[core]\n\trepositoryformatversion = ${isNew ? 1 : 0}\n\tfilemode = true\n`,
    ...(sandboxUid === undefined ? [] : ['\tsharedRepository = 0644\n']),
    CONFIG,
    ...(isNew ? [`[extensions]\n\tobjectFormat = ${objectFormat}\n`] : []),
  ].join('');
  await writeWhere(path.join(directory, 'config'), config);
  await writeWhere(path.join(directory, 'info', 'attributes'), RAW_ATTRIBUTES);
  for (const name of ['config.worktree', 'commondir', 'hooks']) await removeTree(path.join(directory, name));
}

/** Only where it is not so already. */
async function writeWhere(file: string, content: string): Promise<void> {
  const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  if (isFile && (await readFile(file, 'utf8')) === content) return;
  const fresh = `${file}.new-${randomUUID()}`;
  await writeFile(fresh, content, { flag: 'wx' });
  await rename(fresh, file);
}

/** Written anew when it is wrong: a repository may have been moved. */
async function borrow(directory: string, repository: Repository): Promise<void> {
  const objects = path.join(repository.commonDir, 'objects');
  const line = /["\n]/.test(objects) ? cQuote(Buffer.from(objects)).toString() : objects;
  const alternates = path.join(directory, 'objects', 'info', 'alternates');
  await writeWhere(alternates, `${line}\n`);
  const shallow = path.join(directory, 'shallow');
  if (repository.shallow)
    await writeWhere(shallow, await readFile(path.join(repository.commonDir, 'shallow'), 'utf8'));
  else await rm(shallow, { force: true });
}

export class EngineGit {
  readonly directory: string;
  readonly repository: Repository;
  readonly trees: TreeReader;
  readonly #ancestry = new Map<string, boolean>();
  #packCount: number | undefined;
  #isPacking = false;

  constructor(directory: string, repository: Repository) {
    this.directory = directory;
    this.repository = repository;
    this.trees = new TreeReader(() => this.start(['cat-file', '--batch']));
  }

  /** All that bosun keeps of this repository. */
  get home(): string {
    return path.dirname(this.directory);
  }

  /** Of that, what sandboxes are made of. */
  get sandbox(): string {
    return sandboxDirectory(this.home);
  }

  /** Where objects are read from: its own and those it borrows. */
  get objectDirectories(): string[] {
    return [path.join(this.directory, 'objects'), path.join(this.repository.commonDir, 'objects')];
  }

  run(args: readonly string[], options: GitOptions = {}): Promise<Captured> {
    return git([`--git-dir=${this.directory}`, ...args], options);
  }

  /** git that is fed while it runs. */
  start(args: readonly string[]): ChildProcess {
    return startGit([`--git-dir=${this.directory}`, ...args]);
  }

  async text(args: readonly string[], options: GitOptions = {}): Promise<string> {
    return (await this.run(args, options)).stdout.toString().trim();
  }

  /** Undefined where there is no such thing. */
  async revParse(name: string): Promise<string | undefined> {
    const found = await this.run(['rev-parse', '--verify', '--quiet', name], { codes: [0, 1, 128] });
    return found.code === 0 ? found.stdout.toString().trim() : undefined;
  }

  async isAncestor(ancestor: string, descendant: string): Promise<boolean> {
    if (ancestor === descendant) return true;
    const key = `${ancestor} ${descendant}`;
    let answer = this.#ancestry.get(key);
    if (answer === undefined) {
      answer =
        (await this.run(['merge-base', '--is-ancestor', ancestor, descendant], { codes: [0, 1] })).code === 0;
      this.#remember(key, answer);
    }
    return answer;
  }

  /** To be told of each commit that was stored: saves asking for the ancestry, and keeps the packs few. */
  async stored(commit: string, parent: string): Promise<void> {
    this.#remember(`${parent} ${commit}`, true);
    this.#remember(`${commit} ${parent}`, false);
    if (this.#packCount === undefined) {
      const names = await readdir(path.join(this.directory, 'objects', 'pack'));
      const count = (end: string): number => names.filter((name) => name.endsWith(end)).length;
      this.#packCount = count('.pack') - count('.keep') - 1; // those to keep are not put together
    }
    this.#packCount += 1;
    if (this.#packCount < PACKS_MAX || this.#isPacking) return;
    this.#isPacking = true;
    try {
      await this.#sweep();
      await this.run(['repack', '-d', '-l', '-q', '--geometric=2']);
    } finally {
      this.#packCount = undefined;
      this.#isPacking = false;
    }
  }

  /** Of engines that were killed while they wrote. */
  async #sweep(): Promise<void> {
    const packs = path.join(this.directory, 'objects', 'pack');
    for (const name of await readdir(packs)) {
      if (!name.startsWith(UNFINISHED_PREFIX)) continue;
      const file = path.join(packs, name);
      const stats = await stat(file).catch(() => undefined); // it may just have been finished
      if (stats && stats.mtimeMs < Date.now() - UNFINISHED_MS_MAX) await rm(file, { force: true });
    }
  }

  #remember(key: string, answer: boolean): void {
    if (this.#ancestry.size >= ANCESTRY_MAX) this.#ancestry.clear();
    this.#ancestry.set(key, answer);
  }

  /** The same parts always give the same commit. */
  commitTree({ tree, parents, message, atMs, author }: CommitParts): Promise<string> {
    const date = `@${Math.max(0, Math.floor(atMs / 1000))} +0000`;
    return this.text(['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'], {
      input: message,
      env: { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date, ...(author && signedBy(author)) },
    });
  }

  /** Refs here are files that nobody else writes and nothing packs: git need not be asked to write forty letters. */
  async updateRef(ref: string, commit: string): Promise<void> {
    const file = path.join(this.directory, ref);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, `${commit}\n`);
    renameSync(`${file}.new`, file);
  }

  /** Removes refs by their names, or all below a name that ends with a slash. */
  async removeRefs(names: string[]): Promise<void> {
    const format = '--format=delete %(refname)';
    const found = await this.run(['for-each-ref', format, ...names.map((name) => name.replace(/\/$/, ''))]);
    if (found.stdout.length > 0) await this.run(['update-ref', '--stdin'], { input: found.stdout });
  }

  hasRef(ref: string): boolean {
    return existsSync(path.join(this.directory, ref));
  }

  /** Ends the process that a collection has started, if any. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.trees[Symbol.asyncDispose]();
  }

  /** A patch that `git apply` takes, binary files included, piece by piece: it may be larger than memory. */
  async streamDiff(
    from: string,
    to: string,
    write: (piece: Buffer) => Promise<void> | void,
    stop?: AbortSignal,
    paths: readonly string[] = [],
  ): Promise<void> {
    stop?.throwIfAborted();
    const only = paths.length > 0 ? ['--', ...paths] : [];
    const child = this.start(['--literal-pathspecs', ...DIFF, from, to, ...only]);
    child.stdin!.end();
    let said = '';
    child.stderr!.on(
      'data',
      (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-STDERR_CHARS_MAX)),
    );
    const ended = processExit(child, ['git']);
    const end = (): void => void child.kill('SIGKILL');
    stop?.addEventListener('abort', end, { once: true });
    try {
      for await (const piece of child.stdout!) await write(piece as Buffer);
    } finally {
      stop?.removeEventListener('abort', end);
    }
    const { code, signal } = await ended;
    stop?.throwIfAborted();
    if (code !== 0)
      throw new BosunError(
        'system',
        `git could not compare ${from.slice(0, 8)} with ${to.slice(0, 8)} (${signal ?? `exit code ${code}`}): ${said.trim() || 'it does not say why'}; look for damage with: git --git-dir=${this.directory} fsck`,
      );
  }

  /** Which paths differ, renames shown as a deletion and an addition. */
  async changedPaths(from: string, to: string): Promise<ChangedPath[]> {
    const args = ['diff-tree', '-r', '-z', '--name-status', '--no-renames', from, to];
    const fields = splitNul((await this.run(args)).stdout);
    const changed: ChangedPath[] = [];
    for (let i = 0; i + 1 < fields.length; i += 2) {
      changed.push({ status: fields[i]!.toString() as ChangedPath['status'], path: fields[i + 1]! });
    }
    return changed;
  }

  /** Lines added and deleted per path; both undefined for a binary file. */
  async numstat(from: string, to: string): Promise<{ path: Buffer; added?: number; deleted?: number }[]> {
    const { stdout } = await this.run(['diff-tree', '-r', '-z', '--numstat', '--no-renames', from, to]);
    return splitNul(stdout).map((line) => {
      const first = line.indexOf(9);
      const second = line.indexOf(9, first + 1);
      const [added, deleted] = [
        line.subarray(0, first).toString(),
        line.subarray(first + 1, second).toString(),
      ];
      const where = line.subarray(second + 1);
      return added === '-'
        ? { path: where }
        : { path: where, added: Number(added), deleted: Number(deleted) };
    });
  }
}

/** Turns the system's refusal to write into something a person can act on. */
function unwritable(cause: unknown, where: string): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return new BosunError(
      'system',
      `${where} must be a directory, where bosun keeps its work, but is something else: move it away`,
      { cause },
    );
  }
  if (code === 'ENOENT')
    return new BosunError(
      'wrong-state',
      `${path.join(where, 'git')} is not a whole git directory (${(cause as Error).message}): move it away, and bosun makes a new one`,
      { cause },
    );
  return machineError(cause, `cannot write to ${where}, where bosun keeps its work`) ?? cause;
}
