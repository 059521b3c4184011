/**
 * Workspaces as copies of the base, for machines without overlayfs in a user namespace. What differs is found
 * by comparing the attributes of every file with the base's.
 */
import type { BigIntStats } from 'node:fs';
import { access, mkdir, mkdtemp, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Breather } from '../base/breather.ts';
import { BosunError } from '../contract/errors.ts';
import type { Change } from '../system/git/change.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import type { Tree } from '../system/git/tree.ts';
import { capture, type Launcher } from '../system/process/process.ts';
import { Bases, type BasesOptions, type Delta, type LayerMaker } from './bases.ts';
import { findChanges, type Difference } from './changes.ts';
import { findFiles, type FoundFile } from './find.ts';
import { findMask } from './find-mask.ts';
import { isWorkspaceName, workspaceName } from './name.ts';
import { keepPack, moveCheckout, pack, setHead } from './private-git.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { give } from '../system/process/sandbox-user.ts';
import { runToEnd } from './run-to-end.ts';
import { join, lstatOrWhy, readLayers } from './stack.ts';
import { Places } from './places.ts';
import { readNames } from './read-names.ts';
import { objectsFor, withReads } from './reads.ts';
import { changedAtMs } from './used-bytes.ts';
import { makeDirectories, treeOf } from './tree.ts';
import type { LaunchParts, Base, Placed, Setup, Workspace, WorkspaceEntry, Workspaces } from './workspace.ts';

export class CloneWorkspaces implements Workspaces {
  readonly kind = 'clone';
  readonly #engine: EngineGit;
  readonly #bases: Bases;
  readonly #directory: string;
  readonly #scratch: string;
  readonly #places: Places;

  readonly #uid: number | undefined;

  constructor(engine: EngineGit, launcher: Launcher, options: BasesOptions = {}) {
    this.#uid = launcher.uid;
    this.#engine = engine;
    this.#bases = new Bases(
      engine,
      path.join(engine.sandbox, 'copies'),
      new CloneMaker(engine, launcher),
      options,
    );
    this.#directory = path.join(engine.sandbox, 'workspaces');
    this.#scratch = path.join(engine.sandbox, 'scratch');
    this.#places = new Places(this.#bases, this.#directory, this.#scratch);
  }

  base(...request: Parameters<Workspaces['base']>): Promise<Base> {
    return this.#bases.get(...request);
  }

  async create(base: Base, id: string): Promise<Workspace> {
    await mkdir(this.#directory, { recursive: true });
    for (let atMs = Date.now(); ; atMs += 1) {
      const name = workspaceName(id, atMs);
      // copied under another name: half a workspace must never look like a whole one
      const fresh = path.join(this.#directory, `.new-${process.pid}-${name}`);
      try {
        await mkdir(fresh);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
        throw error;
      }
      await copyTree(base.lowers[0]!, fresh);
      try {
        await rename(fresh, path.join(this.#directory, name));
        return this.#workspace(name, base);
      } catch (error) {
        await removeTree(fresh);
        if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
      }
    }
  }

  async open(name: string, base: Base): Promise<Workspace | undefined> {
    if (!isWorkspaceName(name)) return undefined;
    const isThere = await access(path.join(this.#directory, name)).then(
      () => true,
      () => false,
    );
    return isThere ? this.#workspace(name, base) : undefined;
  }

  names(): Promise<string[]> {
    return this.#places.names();
  }

  list(): Promise<WorkspaceEntry[]> {
    return this.#places.list();
  }

  changedAtMs(name: string): Promise<number> {
    return changedAtMs(Buffer.from(path.join(this.#directory, name)));
  }

  remove(name: string): Promise<void> {
    return this.#places.remove(name);
  }

  [Symbol.dispose](): void {}

  prune(keep: ReadonlySet<string>): Promise<void> {
    return this.#places.prune(keep);
  }

  #workspace(name: string, base: Base): CloneWorkspace {
    this.#places.hold(name, base.name);
    return new CloneWorkspace(
      name,
      path.join(this.#directory, name),
      path.join(this.#scratch, name),
      base,
      this.#engine,
      this.#uid,
    );
  }
}

class CloneWorkspace implements Workspace {
  readonly name: string;
  readonly path: string;
  readonly base: Base;
  readonly #scratch: string;
  readonly #excludes: () => Promise<string[]>;
  readonly #uid: number | undefined;
  readonly #objects: string[];

  constructor(
    name: string,
    at: string,
    scratch: string,
    base: Base,
    engine: EngineGit,
    uid: number | undefined,
  ) {
    this.#objects = objectsFor(base, engine);
    this.#uid = uid;
    this.name = name;
    this.path = at;
    this.base = base;
    this.#scratch = scratch;
    this.#excludes = () => engine.repository.excludes();
  }

  async inside(around: LaunchParts): Promise<Placed> {
    return { ...withReads(around, this.#objects), cwd: this.path };
  }

  async insideScratch(around: LaunchParts): Promise<Placed> {
    await mkdir(this.#scratch, { recursive: true });
    const cwd = await mkdtemp(path.join(this.#scratch, 'copy-'));
    await copyTree(this.path, cwd);
    return { ...withReads(around, this.#objects), cwd };
  }

  async changes(signal?: AbortSignal): Promise<Change[]> {
    const from = this.base.lowers[0]!;
    const compared = {
      current: [{ directory: this.path, opaque: new Set<string>() }],
      tracked: await readLayers(this.base.tracked),
      submodules: this.base.submodules,
      hidden: this.base.hidden,
      excludes: await this.#excludes(),
      source: (file: Buffer) => join(this.path, file),
      differences: (directory: Buffer, breather: Breather) =>
        compare(join(from, directory), join(this.path, directory), breather),
    };
    return findChanges(compared, signal);
  }

  async tree(): Promise<Tree> {
    return treeOf([{ directory: this.path, opaque: new Set() }]);
  }

  async makeDirectories(paths: readonly string[]): Promise<void> {
    makeDirectories([{ directory: this.path, opaque: new Set() }], this.path, paths, this.#uid);
  }

  async find(globs: string[]): Promise<FoundFile[]> {
    return findFiles([{ directory: this.path, opaque: new Set() }], globs, this.base.hide);
  }
}

/** Directories that both have are always given: what differs may be below them. */
async function compare(before: Buffer, after: Buffer, breather: Breather): Promise<Difference[]> {
  const differences: Difference[] = [];
  const [old, now] = [await readNames(before, breather), await readNames(after, breather)];
  for (let [o, n] = [0, 0]; o < old.length || n < now.length;) {
    await breather.breathe();
    const order = o === old.length ? 1 : n === now.length ? -1 : Buffer.compare(old[o]!, now[n]!);
    const name = order < 0 ? old[o]! : now[n]!;
    const stat = order < 0 ? 'ENOENT' : lstatOrWhy(join(after, name));
    const was = order > 0 ? 'ENOENT' : lstatOrWhy(join(before, name));
    if (order <= 0) o += 1;
    if (order >= 0) n += 1;
    if (typeof stat === 'object') {
      if (typeof was !== 'object' || stat.isDirectory() || !isSame(was, stat))
        differences.push({ name, stat, isReplaced: false });
    } else if (order <= 0) differences.push({ name, stat: undefined, isReplaced: false });
  }
  return differences;
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.mode === b.mode && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** `to` exists; times are kept, for they say what changed. */
async function copyTree(from: string, to: string): Promise<void> {
  const copied = await capture(['cp', '-a', '--reflink=auto', '--', `${from}/.`, to]);
  if (copied.code !== 0)
    throw new BosunError('system', `cannot copy ${from} to ${to}: ${copied.stderr.trim().slice(0, 1000)}`);
}

class CloneMaker implements LayerMaker {
  readonly copiesPerBase = true;
  readonly uid: number | undefined;
  readonly #engine: EngineGit;
  readonly #launcher: Launcher;

  constructor(engine: EngineGit, launcher: Launcher) {
    this.#engine = engine;
    this.#launcher = launcher;
    this.uid = launcher.uid;
  }

  async delta({ root, from, to, isFiltered }: Delta, into: string): Promise<void> {
    const tree = path.join(into, 'tree');
    await mkdir(tree);
    await copyTree(root, tree);
    give(this.uid, into, tree);
    const own = isFiltered ? await pack(this.#engine, tree, to) : undefined;
    const reads = this.#engine.objectDirectories;
    await runToEnd(
      this.#launcher,
      { ...moveCheckout(from, to), cwd: tree, reads },
      `make the files of ${to}`,
    );
    if (own !== undefined) await keepPack(tree, own);
    await setHead(this.#engine, tree, to);
  }

  async setup(
    base: Base,
    copied: string | undefined,
    command: string | undefined,
    setup: Setup,
    into: string,
  ): Promise<void> {
    const full = path.join(into, 'full');
    await mkdir(full);
    await copyTree(base.lowers[0]!, full);
    if (copied !== undefined) await copyTree(copied, full);
    if (command !== undefined) {
      give(this.uid, into, full);
      const launch = withReads(
        { argv: ['/bin/sh', '-c', command], cwd: full, ...setup.around },
        objectsFor(base, this.#engine),
      );
      await runToEnd(this.#launcher, launch, `run the setup command "${command}"`, setup);
    }
    for (const file of await findMask([{ directory: full, opaque: new Set() }], base.hide))
      await removeTree(path.join(full, file));
  }

  /** What would have to be covered is not there. */
  async mask(): Promise<string[]> {
    return [];
  }

  lowers(base: Base, _copied: string | undefined, made: string | undefined): string[] {
    return made === undefined ? base.lowers : [path.join(made, 'full')];
  }
}
