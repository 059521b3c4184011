/**
 * Makes the read-only trees that workspaces lie on, each once. A base is built under another name and renamed
 * into place, so one that is there is whole.
 *
 *   bases/<commit>/tree                 a full checkout
 *   bases/<commit>/delta, on            the difference to the full checkout of the commit named in `on`
 *   bases/copy-<fingerprint>/files      what `copy` names
 *   bases/<commit>-<hash>/setup         what `setup` did on top of all these
 */
import { createHash, randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { WorkspaceOptions } from '../contract/workflow.ts';
import type { EngineGit } from '../system/engine-git.ts';
import { splitNul } from '../system/git.ts';
import { copyIn, fingerprint, matchCopy } from './copy-in.ts';
import { borrow, checkOut } from './private-git.ts';
import { removeTree } from '../system/remove-tree.ts';
import { giveTree } from '../system/sandbox-user.ts';
import type { Base, Setup } from './workspace.ts';

/** A commit that differs in more files than this from every full checkout gets one of its own. */
const DELTA_FILES_MAX = 2000;
const ROOTS_TRIED_MAX = 4;

export interface BaseLimits {
  /** How many differences are kept beside those in use: each brings an index of its own. */
  deltasMax: number;
  /** One that was asked for so shortly ago may be about to be used. */
  recentMs: number;
}

export const BASE_LIMITS: BaseLimits = { deltasMax: 64, recentMs: 10_000 };

/** How layers are made; overlay and clone differ here. */
export interface LayerMaker {
  /** Makes `<into>/delta` or `<into>/tree` from the checkout `root` of `from`. */
  delta(root: string, from: string, to: string, into: string): Promise<void>;
  /** Makes the layers of `into` for what `copied` and the setup command bring; gives all lowers. */
  setup(
    base: Base,
    copied: string | undefined,
    command: string | undefined,
    setup: Setup,
    into: string,
  ): Promise<void>;
  /** What `setup` has made, on top of the base. */
  lowers(base: Base, copied: string | undefined, made: string | undefined): string[];
  /** Whether a copied directory alone needs a base of its own. */
  readonly copiesPerBase: boolean;
  /** Whose the layers must be. */
  readonly uid: number | undefined;
}

export class Bases {
  readonly directory: string;
  readonly #engine: EngineGit;
  readonly #maker: LayerMaker;
  /** What is being made or was made by this process. */
  readonly #made = new Map<string, Promise<Base>>();
  readonly #copies = new Map<string, Promise<string | undefined>>();
  /** Commits that can be made again from another's checkout, the one longest unused first. */
  readonly #derived = new Map<string, { usedAtMs: number }>();
  readonly #uses = new Map<string, number>();
  readonly #limits: BaseLimits;
  /** Commits with a full checkout, the last used first. */
  #roots: string[] | undefined;
  /** One full checkout at a time: the second request may be near the first. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: EngineGit, directory: string, maker: LayerMaker, limits: BaseLimits = BASE_LIMITS) {
    this.directory = directory;
    this.#limits = limits;
    this.#engine = engine;
    this.#maker = maker;
  }

  get(
    commit: string,
    options: Exclude<WorkspaceOptions, 'none'> = {},
    setup: Setup = { around: { env: {} } },
  ): Promise<Base> {
    this.#touch(commit);
    return this.#once(`${commit} ${JSON.stringify(options)}`, async () => {
      const base = await this.#once(commit, () => this.#inTurn(() => this.#ofCommit(commit)));
      return this.#withOptions(base, options, setup);
    });
  }

  /** A workspace lies on the base of this commit until it is released. */
  hold(commit: string): void {
    this.#uses.set(commit, (this.#uses.get(commit) ?? 0) + 1);
  }

  release(commit: string): void {
    const uses = (this.#uses.get(commit) ?? 0) - 1;
    if (uses > 0) this.#uses.set(commit, uses);
    else this.#uses.delete(commit);
    this.#touch(commit);
  }

  #touch(commit: string): void {
    if (this.#derived.delete(commit)) this.#derived.set(commit, { usedAtMs: performance.now() });
  }

  async #removeUnused(): Promise<void> {
    const { deltasMax, recentMs } = this.#limits;
    for (const [commit, { usedAtMs }] of this.#derived) {
      if (this.#derived.size <= deltasMax) return;
      if (this.#uses.has(commit) || performance.now() - usedAtMs < recentMs) continue;
      this.#derived.delete(commit);
      this.#roots = this.#roots?.filter((root) => root !== commit);
      for (const key of this.#made.keys()) if (key.startsWith(commit)) this.#made.delete(key);
      const names = await readdir(this.directory);
      for (const name of names.filter((name) => name.startsWith(commit))) {
        const gone = path.join(this.directory, freshName());
        await rename(path.join(this.directory, name), gone);
        await removeTree(gone);
      }
    }
  }

  async prune(keep: ReadonlySet<string>): Promise<void> {
    const kept = new Set(keep);
    for (const commit of keep) {
      const on = await readFile(path.join(this.directory, commit, 'on'), 'utf8').catch(() => undefined);
      if (on !== undefined) kept.add(on);
    }
    for (const name of await readdir(this.directory).catch((): string[] => [])) {
      const isUnfinished = name.startsWith('.new-') && !isAlive(Number(name.split('-')[1]));
      const isUnused = !name.startsWith('.') && !name.startsWith('copy-') && !kept.has(name.split('-')[0]!);
      if (isUnfinished || isUnused || (keep.size === 0 && !name.startsWith('.new-'))) {
        await removeTree(path.join(this.directory, name));
      }
    }
    this.#made.clear();
    this.#copies.clear();
    this.#derived.clear();
    this.#roots = undefined;
  }

  /** Requests for the same thing share one making; a failure is not remembered. */
  #once(key: string, make: () => Promise<Base>): Promise<Base> {
    let base = this.#made.get(key);
    if (base === undefined) {
      base = make();
      this.#made.set(key, base);
      base.catch(() => this.#made.delete(key));
    }
    return base;
  }

  #inTurn<T>(make: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(make, make);
    this.#last = mine.catch(() => {});
    return mine;
  }

  async #ofCommit(commit: string): Promise<Base> {
    const found = await this.#find(commit);
    if (found !== undefined) return found;
    const near = await this.#nearestRoot(commit);
    await this.#build(commit, async (into) => {
      if (near === undefined) {
        const fileCount = await this.#listSubmodules(commit, into);
        await mkdir(path.join(into, 'tree'));
        await checkOut(this.#engine, commit, path.join(into, 'tree'), fileCount);
      } else {
        const { root, sameSubmodules } = near;
        if (!sameSubmodules) await this.#listSubmodules(commit, into);
        else await copyFile(path.join(this.directory, root, 'submodules'), path.join(into, 'submodules'));
        await this.#maker.delta(path.join(this.directory, root, 'tree'), root, commit, into);
        await writeFile(path.join(into, 'on'), root);
      }
    });
    const made = await this.#find(commit);
    await this.#removeUnused();
    return made!;
  }

  /** Gives the number of files. */
  async #listSubmodules(commit: string, into: string): Promise<number> {
    const files = splitNul((await this.#engine.run(['ls-tree', '-r', '-z', commit])).stdout);
    const submodules = files
      .filter((line) => line.subarray(0, 6).toString() === '160000')
      .map((line) => line.subarray(line.indexOf(9) + 1));
    await writeFile(
      path.join(into, 'submodules'),
      Buffer.concat(submodules.flatMap((name) => [name, Buffer.from([0])])),
    );
    return files.length;
  }

  async #find(commit: string): Promise<Base | undefined> {
    const home = path.join(this.directory, commit);
    const names = await readdir(home).catch((): string[] => []);
    const submodules = splitNul(
      await readFile(path.join(home, 'submodules')).catch(() => Buffer.alloc(0)),
    ).map(String);
    const now = new Date();
    if (names.includes('on')) this.#derived.set(commit, { usedAtMs: performance.now() });
    if (names.includes('tree')) {
      await utimes(home, now, now);
      await borrow(this.#engine, path.join(home, 'tree'));
      const roots = await this.#readRoots();
      this.#roots = [commit, ...roots.filter((root) => root !== commit)];
      const tree = path.join(home, 'tree');
      return { commit, lowers: [tree], tracked: [tree], submodules };
    }
    if (!names.includes('delta')) return undefined;
    const root = path.join(this.directory, await readFile(path.join(home, 'on'), 'utf8'), 'tree');
    const lowers = [path.join(home, 'delta'), root];
    return { commit, lowers, tracked: lowers, submodules };
  }

  async #nearestRoot(commit: string): Promise<{ root: string; sameSubmodules: boolean } | undefined> {
    for (const root of (await this.#readRoots()).slice(0, ROOTS_TRIED_MAX)) {
      const diff = await this.#engine.run(['diff-tree', '-r', '-z', '--no-renames', root, commit], {
        codes: [0, 128],
      });
      // two fields for each file: `:mode mode oid oid status` and its path
      const fields = splitNul(diff.stdout);
      if (diff.code !== 0 || fields.length > 2 * DELTA_FILES_MAX) continue;
      const sameSubmodules = !fields.some((field, index) => index % 2 === 0 && field.includes('160000 '));
      return { root, sameSubmodules };
    }
    return undefined;
  }

  async #readRoots(): Promise<string[]> {
    if (this.#roots === undefined) {
      const names = await readdir(this.directory).catch((): string[] => []);
      const commits = names.filter((name) => /^[0-9a-f]{40,64}$/.test(name));
      const contents = await Promise.all(commits.map((name) => readdir(path.join(this.directory, name))));
      this.#roots = commits.filter((_, index) => contents[index]!.includes('tree'));
      for (const [index, commit] of commits.entries()) {
        const isLeft = contents[index]!.includes('on') && !this.#derived.has(commit);
        if (isLeft) this.#derived.set(commit, { usedAtMs: -Infinity });
      }
    }
    return this.#roots;
  }

  async #withOptions(base: Base, options: Exclude<WorkspaceOptions, 'none'>, setup: Setup): Promise<Base> {
    const copied = await this.#copy(options.copy ?? []);
    const needsOwn = options.setup !== undefined || (copied !== undefined && this.#maker.copiesPerBase);
    if (!needsOwn) return { ...base, lowers: this.#maker.lowers(base, copied, undefined) };
    const hash = createHash('sha256')
      .update(JSON.stringify([copied ?? '', options.setup ?? '']))
      .digest('hex')
      .slice(0, 16);
    const name = `${base.commit}-${hash}`;
    const home = path.join(this.directory, name);
    if ((await readdir(home).catch(() => undefined)) === undefined) {
      await this.#build(name, (into) => this.#maker.setup(base, copied, options.setup, setup, into));
    }
    return { ...base, lowers: this.#maker.lowers(base, copied, home) };
  }

  /** One copy serves all commits for as long as the user's files stay as they are. */
  #copy(globs: string[]): Promise<string | undefined> {
    const key = JSON.stringify(globs);
    let copy = this.#copies.get(key);
    if (copy === undefined) {
      copy = this.#makeCopy(globs);
      this.#copies.set(key, copy);
      copy.catch(() => this.#copies.delete(key));
    }
    return copy;
  }

  async #makeCopy(globs: string[]): Promise<string | undefined> {
    const { top } = this.#engine.repository;
    const matches = await matchCopy(top, globs);
    if (matches.length === 0) return undefined;
    const name = `copy-${await fingerprint(top, matches)}`;
    const home = path.join(this.directory, name);
    if ((await readdir(home).catch(() => undefined)) === undefined) {
      await this.#build(name, async (into) => {
        await mkdir(path.join(into, 'files'));
        await copyIn(top, matches, path.join(into, 'files'));
      });
    }
    return path.join(home, 'files');
  }

  async #build(name: string, fill: (into: string) => Promise<void>): Promise<void> {
    const fresh = path.join(this.directory, freshName());
    await mkdir(fresh, { recursive: true });
    try {
      await fill(fresh);
      await giveTree(this.#maker.uid, fresh);
      await rename(fresh, path.join(this.directory, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error; // another process was faster
      });
    } finally {
      await removeTree(fresh);
    }
  }
}

/** Names the process, so that what it left unfinished is known once it is gone. */
function freshName(): string {
  return `.new-${process.pid}-${randomBytes(4).toString('hex')}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
