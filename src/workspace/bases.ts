/**
 * Makes the read-only trees that workspaces lie on, each once. A base is built under another name and renamed
 * into place, so one that is there is whole.
 *
 *   bases/<commit>/tree                 a full checkout
 *   bases/<commit>/delta, on            the difference to the full checkout named in `on`
 *   bases/<commit>+<hash>/…             the same where something is hidden, of the commit named in `filtered`
 *   bases/copy-<fingerprint>/files      what `copy` names
 *   bases/<one of these>-<hash>/setup   what `setup` did on top of all these
 */
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { EngineGit } from '../system/git/engine-git.ts';
import { splitNul } from '../system/git/git.ts';
import { diffTrees, type TreeChange } from '../system/git/tree-diff.ts';
import { checkoutOf, commitOfBase, freshName, hashOf, isLeftOver, viewOf, type View } from './base-name.ts';
import { copyIn, fingerprint, matchCopy } from './copy-in.ts';
import { filterCommit, type FilteredCommit } from './filtered-commit.ts';
import { readHidden, writeHidden } from './hidden.ts';
import { borrow, checkOut } from './private-git.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { awaitLock } from '../store/lock.ts';
import { giveTree } from '../system/process/sandbox-user.ts';
import type { Base, BaseOptions, Setup } from './workspace.ts';

/** A commit that differs in more files than this from every full checkout gets one of its own. */
const DELTA_FILES_MAX = 2000;
const ROOTS_TRIED_MAX = 4;
/** Nobody waits longer for another engine: a setup command may hang there. */
const MAKING_MS_MAX = 10 * 60_000;
const SUBMODULE_MODE = '160000';
const NONE: ReadonlySet<string> = new Set();

export interface BaseLimits {
  /** How many differences are kept beside those in use: each brings an index of its own. */
  deltasMax: number;
  /** One that was asked for so shortly ago may be about to be used. */
  recentMs: number;
}

const BASE_LIMITS: BaseLimits = { deltasMax: 64, recentMs: 10_000 };

/** From the checkout `root` of a commit to another. `isFiltered`: its git has objects of its own. */
export interface Delta {
  root: string;
  from: string;
  to: string;
  isFiltered: boolean;
}

/** Does it while no other engine is at work here, and gives whether it did. */
export type WhileAlone = (action: () => Promise<void>) => Promise<boolean>;

const ALONE: WhileAlone = async (action) => {
  await action();
  return true;
};

/** How layers are made; overlay and clone differ here. */
export interface LayerMaker {
  /** Makes `<into>/delta` or `<into>/tree`. */
  delta(delta: Delta, into: string): Promise<void>;
  /** Makes the layers of `into` for what `copied` and the setup command bring; gives all lowers. */
  setup(
    base: Base,
    copied: string | undefined,
    command: string | undefined,
    setup: Setup,
    into: string,
  ): Promise<void>;
  /** Of what `copied` and the setup command brought, what is hidden and still there. */
  mask(base: Base, lowers: string[]): Promise<string[]>;
  /** What `setup` has made, on top of the base. */
  lowers(base: Base, copied: string | undefined, made: string | undefined): string[];
  /** Whether a copied directory alone needs a base of its own. */
  readonly copiesPerBase: boolean;
  /** Whose the layers must be. */
  readonly uid: number | undefined;
}

export interface BasesOptions {
  limits?: BaseLimits;
  /** Other engines may have workspaces on any base. */
  whileAlone?: WhileAlone | undefined;
}

export class Bases {
  readonly directory: string;
  readonly #engine: EngineGit;
  readonly #maker: LayerMaker;
  /** What is being made or was made by this process. */
  readonly #made = new Map<string, Promise<Base>>();
  readonly #copies = new Map<string, Promise<string | undefined>>();
  /** Names of those that can be made again from another's checkout, the one longest unused first. */
  readonly #derived = new Map<string, { usedAtMs: number }>();
  readonly #uses = new Map<string, number>();
  readonly #limits: BaseLimits;
  readonly #whileAlone: WhileAlone;
  /** Names of those with a full checkout, the last used first. */
  #roots: string[] | undefined;
  #claimed: Promise<void> | undefined;
  /** One full checkout at a time: the second request may be near the first. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    engine: EngineGit,
    directory: string,
    maker: LayerMaker,
    { limits = BASE_LIMITS, whileAlone = ALONE }: BasesOptions = {},
  ) {
    this.#whileAlone = whileAlone;
    this.directory = directory;
    this.#limits = limits;
    this.#engine = engine;
    this.#maker = maker;
  }

  get(commit: string, options: BaseOptions = {}, setup: Setup = { around: { env: {} } }): Promise<Base> {
    const view = viewOf(commit, options.hide ?? []);
    this.#touch(view.name);
    return this.#once(`${view.name} ${JSON.stringify(options)}`, async () => {
      await (this.#claimed ??= this.#claim());
      const base = await this.#once(view.name, () => this.#inTurn(() => this.#ofView(view)));
      return this.#withOptions(base, options, setup);
    });
  }

  /** What an engine of another user left here must be ours to show. */
  async #claim(): Promise<void> {
    if (process.getuid?.() !== 0) return;
    const uid = this.#maker.uid ?? 0;
    for (const name of await readdir(this.directory).catch((): string[] => [])) {
      if (name.startsWith('.')) continue; // being made, perhaps by another engine
      const home = path.join(this.directory, name);
      if ((await stat(home)).uid !== uid) await giveTree(uid, home);
    }
  }

  /** A workspace lies on the base of this name until it is released. */
  hold(name: string): void {
    this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1);
  }

  release(name: string): void {
    const uses = (this.#uses.get(name) ?? 0) - 1;
    if (uses > 0) this.#uses.set(name, uses);
    else this.#uses.delete(name);
    this.#touch(name);
  }

  #touch(name: string): void {
    if (this.#derived.delete(name)) this.#derived.set(name, { usedAtMs: performance.now() });
  }

  async #removeUnused(): Promise<void> {
    const { deltasMax, recentMs } = this.#limits;
    for (const [unused, { usedAtMs }] of this.#derived) {
      if (this.#derived.size <= deltasMax) return;
      if (this.#uses.has(unused) || performance.now() - usedAtMs < recentMs) continue;
      this.#derived.delete(unused);
      this.#roots = this.#roots?.filter((root) => root !== unused);
      for (const key of this.#made.keys()) if (key.split(' ')[0] === unused) this.#made.delete(key);
      const names = await readdir(this.directory);
      for (const name of names.filter((name) => checkoutOf(name) === unused)) {
        const gone = path.join(this.directory, freshName());
        await rename(path.join(this.directory, name), gone);
        await removeTree(gone);
      }
    }
  }

  /** `keep` has commits: all views of one are kept. */
  async prune(keep: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.directory).catch((): string[] => []);
    const needed = names.map(checkoutOf).filter((name) => keep.has(commitOfBase(name)));
    const kept = new Set(needed);
    for (const name of needed) {
      const on = await readFile(path.join(this.directory, name, 'on'), 'utf8').catch(() => undefined);
      if (on !== undefined) kept.add(on);
    }
    for (const name of names) {
      const isUnused = !name.startsWith('.') && !name.startsWith('copy-') && !kept.has(checkoutOf(name));
      if (isLeftOver(name) || isUnused || (keep.size === 0 && !name.startsWith('.new-'))) {
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

  async #ofView(view: View): Promise<Base> {
    const found = await this.#find(view);
    if (found !== undefined) return found;
    const isFiltered = view.hide.length > 0;
    await this.#build(view.name, async (into) => {
      const shown = isFiltered ? await this.#filter(view, into) : { commit: view.commit, objects: NONE };
      const to = shown.commit;
      const near = await this.#nearestRoot(view, shown);
      if (near === undefined) {
        const fileCount = await this.#listSubmodules(to, into);
        await mkdir(path.join(into, 'tree'));
        await checkOut(this.#engine, to, path.join(into, 'tree'), fileCount, isFiltered);
      } else {
        const { root, from, sameSubmodules } = near;
        if (!isFiltered) await borrow(this.#engine, path.join(this.directory, root, 'tree'));
        if (!sameSubmodules) await this.#listSubmodules(to, into);
        else await copyFile(path.join(this.directory, root, 'submodules'), path.join(into, 'submodules'));
        await this.#maker.delta(
          { root: path.join(this.directory, root, 'tree'), from, to, isFiltered },
          into,
        );
        await writeFile(path.join(into, 'on'), root);
      }
    });
    const made = await this.#find(view);
    if (this.#derived.size > this.#limits.deltasMax) await this.#whileAlone(() => this.#removeUnused());
    return made!;
  }

  async #filter({ commit, hide }: View, into: string): Promise<FilteredCommit> {
    const filtered = await filterCommit(this.#engine, commit, hide, into);
    await writeFile(path.join(into, 'filtered'), filtered.commit);
    await writeHidden(into, filtered.hidden);
    return filtered;
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

  async #find({ commit, hide, name }: View): Promise<Base | undefined> {
    const home = path.join(this.directory, name);
    const names = await readdir(home).catch((): string[] => []);
    if (!names.includes('tree') && !names.includes('delta')) return undefined;
    const submodules = splitNul(
      await readFile(path.join(home, 'submodules')).catch(() => Buffer.alloc(0)),
    ).map(String);
    const checkedOut = await this.#checkedOut(name);
    const hidden = await readHidden(home);
    const rest = { commit, checkedOut, name, hide, hidden, mask: [], submodules };
    if (names.includes('on')) this.#derived.set(name, { usedAtMs: performance.now() });
    if (names.includes('tree')) {
      const now = new Date();
      await utimes(home, now, now);
      const tree = path.join(home, 'tree');
      if (hide.length === 0) await borrow(this.#engine, tree);
      const roots = await this.#readRoots();
      this.#roots = [name, ...roots.filter((root) => root !== name)];
      return { ...rest, lowers: [tree], tracked: [tree] };
    }
    const root = path.join(this.directory, await readFile(path.join(home, 'on'), 'utf8'), 'tree');
    if (hide.length === 0) await borrow(this.#engine, root);
    const lowers = [path.join(home, 'delta'), root];
    return { ...rest, lowers, tracked: lowers };
  }

  async #checkedOut(name: string): Promise<string> {
    if (commitOfBase(name) === name) return name;
    return readFile(path.join(this.directory, name, 'filtered'), 'utf8');
  }

  /** Of those that hide the same. */
  async #nearestRoot(
    { commit, name }: View,
    { commit: to, objects }: Pick<FilteredCommit, 'commit' | 'objects'>,
  ): Promise<{ root: string; from: string; sameSubmodules: boolean } | undefined> {
    const roots = await this.#readRoots();
    const alike = roots.filter((root) => root.slice(commitOfBase(root).length) === name.slice(commit.length));
    for (const root of alike.slice(0, ROOTS_TRIED_MAX)) {
      const from = await this.#checkedOut(root);
      const changes = await this.#differences(from, to);
      if (changes === undefined || changes.length > DELTA_FILES_MAX) continue;
      // its objects could be read: what is hidden now may have been elsewhere then
      if (changes.some((change) => change.from !== undefined && objects.has(change.from.id))) continue;
      return { root, from, sameSubmodules: !changes.some(touchesSubmodule) };
    }
    return undefined;
  }

  /** Undefined where git cannot read one of the two. */
  async #differences(from: string, to: string): Promise<TreeChange[] | undefined> {
    const { trees, repository } = this.#engine;
    const idLength = repository.objectFormat === 'sha1' ? 20 : 32;
    const few = await diffTrees(trees, idLength, from, to).catch(() => undefined); // git says what is wrong
    if (few) return few;
    const args = ['diff-tree', '-r', '-z', '--no-renames', from, to];
    const { code, stdout } = await this.#engine.run(args, { codes: [0, 128] });
    // two fields for each file: `:mode mode oid oid status` and its path
    const lines = splitNul(stdout).filter((_, index) => index % 2 === 0);
    return code === 0 ? lines.map(changeIn) : undefined;
  }

  async #readRoots(): Promise<string[]> {
    if (this.#roots === undefined) {
      const names = await readdir(this.directory).catch((): string[] => []);
      const checkouts = names.filter((name) => /^[0-9a-f]{40,64}(\+[0-9a-f]+)?$/.test(name));
      const contents = await Promise.all(checkouts.map((name) => readdir(path.join(this.directory, name))));
      this.#roots = checkouts.filter((_, index) => contents[index]!.includes('tree'));
      for (const [index, name] of checkouts.entries()) {
        const isLeft = contents[index]!.includes('on') && !this.#derived.has(name);
        if (isLeft) this.#derived.set(name, { usedAtMs: -Infinity });
      }
    }
    return this.#roots;
  }

  async #withOptions(base: Base, options: BaseOptions, setup: Setup): Promise<Base> {
    const copied = await this.#copy(options.copy ?? []);
    const needsOwn = options.setup !== undefined || (copied !== undefined && this.#maker.copiesPerBase);
    if (!needsOwn) return this.#on(base, copied, undefined);
    const name = `${base.name}-${hashOf([copied ?? '', options.setup ?? ''])}`;
    const home = path.join(this.directory, name);
    if ((await readdir(home).catch(() => undefined)) === undefined) {
      const fill = (into: string): Promise<void> =>
        this.#maker.setup(base, copied, options.setup, setup, into);
      await this.#build(name, fill, setup.signal);
    }
    return this.#on(base, copied, home);
  }

  async #on(base: Base, copied: string | undefined, made: string | undefined): Promise<Base> {
    const lowers = this.#maker.lowers(base, copied, made);
    return { ...base, lowers, mask: await this.#maker.mask(base, lowers) };
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

  /** Another engine may want the same at this moment: the second waits for the first, and has nothing to do. */
  async #build(name: string, fill: (into: string) => Promise<void>, signal?: AbortSignal): Promise<void> {
    const file = path.join(this.directory, `.making-${hashOf(name)}`);
    await mkdir(this.directory, { recursive: true });
    using _ = await awaitLock(file, MAKING_MS_MAX, signal);
    const home = path.join(this.directory, name);
    if ((await readdir(home).catch(() => undefined)) === undefined) await this.#make(name, fill);
    await rm(file, { force: true }); // others may wait at the old one: to make a base twice does no harm
  }

  async #make(name: string, fill: (into: string) => Promise<void>): Promise<void> {
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

/** From `:mode mode oid oid status`, where a side that is not there has zeros. */
function changeIn(line: Buffer): TreeChange {
  const [before, after, old, now] = line.toString().slice(1).split(' ') as [string, string, string, string];
  return { from: { mode: before, id: old }, to: { mode: after, id: now } };
}

function touchesSubmodule({ from, to }: TreeChange): boolean {
  return from?.mode === SUBMODULE_MODE || to?.mode === SUBMODULE_MODE;
}
