/**
 * Workspaces as layers: a private directory that overlayfs lays over a shared base. Making one costs three
 * directories; what differs from the base is what is in the layer.
 */
import { mkdirSync } from 'node:fs';
import { access, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bytesKey } from '../base/bytes-key.ts';
import type { Breather } from '../base/breather.ts';
import type { Change } from '../system/git/change.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import type { Launcher, OverlayMount } from '../system/process/process.ts';
import type { Tree } from '../system/git/tree.ts';
import { Bases, type BasesOptions, type Delta, type LayerMaker } from './bases.ts';
import { findChanges, type Difference } from './changes.ts';
import { findFiles, type FoundFile } from './find.ts';
import { findMask } from './find-mask.ts';
import { isWorkspaceName, workspaceName } from './name.ts';
import { findOpaque } from './opaque.ts';
import { OpaqueReader } from './read-opaque.ts';
import { moveCheckout, pack, setHead } from './private-git.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { give, giveTree } from '../system/process/sandbox-user.ts';
import { runToEnd } from './run-to-end.ts';
import { isWhiteout, join, lstatOrWhy, readLayers, type Layer } from './stack.ts';
import { makeDirectories, treeOf } from './tree.ts';
import { Places } from './places.ts';
import { readNames } from './read-names.ts';
import { objectsFor, withReads } from './reads.ts';
import { changedAtMs } from './used-bytes.ts';
import type { LaunchParts, Base, Placed, Setup, Workspace, WorkspaceEntry, Workspaces } from './workspace.ts';

export class OverlayWorkspaces implements Workspaces {
  readonly kind = 'overlay';
  readonly #engine: EngineGit;
  readonly #bases: Bases;
  readonly #mounts: string;
  readonly #layers: string;
  readonly #uid: number | undefined;
  readonly #reader: OpaqueReader | undefined;
  readonly #places: Places;

  /** `isNative: false` does without the native program, as where there is no compiler. */
  constructor(engine: EngineGit, launcher: Launcher, options: BasesOptions & { isNative?: boolean } = {}) {
    this.#engine = engine;
    this.#uid = launcher.uid;
    this.#reader = (options.isNative ?? OpaqueReader.isAvailable) ? new OpaqueReader() : undefined;
    const maker = new OverlayMaker(engine, launcher, this.#reader);
    this.#bases = new Bases(engine, path.join(engine.sandbox, 'bases'), maker, options);
    this.#mounts = path.join(engine.sandbox, 'workspaces');
    this.#layers = path.join(engine.sandbox, 'layers');
    this.#places = new Places(this.#bases, this.#layers, this.#mounts);
  }

  base(...request: Parameters<Workspaces['base']>): Promise<Base> {
    return this.#bases.get(...request);
  }

  async create(base: Base, id: string): Promise<Workspace> {
    for (let atMs = Date.now(); ; atMs += 1) {
      const name = workspaceName(id, atMs);
      try {
        // three directories are made sooner than a thread is asked to make them
        mkdirSync(path.join(this.#mounts, name));
        mkdirSync(path.join(this.#layers, name, 'upper'), { recursive: true });
        give(this.#uid, path.join(this.#layers, name), path.join(this.#layers, name, 'upper'));
        return this.#workspace(name, base);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT') mkdirSync(this.#mounts, { recursive: true });
        else if (code !== 'EEXIST') throw error;
      }
    }
  }

  async open(name: string, base: Base): Promise<Workspace | undefined> {
    if (!isWorkspaceName(name)) return undefined;
    const isThere = await access(path.join(this.#layers, name, 'upper')).then(
      () => true,
      () => false,
    );
    if (!isThere) return undefined;
    await mkdir(path.join(this.#mounts, name), { recursive: true });
    return this.#workspace(name, base);
  }

  names(): Promise<string[]> {
    return this.#places.names();
  }

  list(): Promise<WorkspaceEntry[]> {
    return this.#places.list();
  }

  async changedAtMs(name: string): Promise<number> {
    const upper = path.join(this.#layers, name, 'upper');
    if ((await readdir(upper).catch(() => ['?'])).length === 0) return 0;
    return changedAtMs(Buffer.from(upper));
  }

  remove(name: string): Promise<void> {
    return this.#places.remove(name);
  }

  [Symbol.dispose](): void {
    this.#reader?.close();
  }

  prune(keep: ReadonlySet<string>): Promise<void> {
    return this.#places.prune(keep);
  }

  #workspace(name: string, base: Base): Workspace {
    this.#places.hold(name, base.name);
    const at = path.join(this.#mounts, name);
    const layer = path.join(this.#layers, name);
    return new OverlayWorkspace(name, at, layer, base, this.#engine, this.#reader, this.#uid);
  }
}

class OverlayWorkspace implements Workspace {
  readonly name: string;
  readonly path: string;
  readonly base: Base;
  readonly #layer: string;
  readonly #upper: string;
  readonly #excludes: () => Promise<string[]>;
  readonly #reader: OpaqueReader | undefined;
  readonly #uid: number | undefined;
  readonly #objects: string[];

  constructor(
    name: string,
    at: string,
    layer: string,
    base: Base,
    engine: EngineGit,
    reader: OpaqueReader | undefined,
    uid: number | undefined,
  ) {
    this.#objects = objectsFor(base, engine);
    this.#reader = reader;
    this.#uid = uid;
    this.name = name;
    this.path = at;
    this.base = base;
    this.#layer = layer;
    this.#upper = path.join(layer, 'upper');
    this.#excludes = () => engine.repository.excludes();
  }

  async inside(around: LaunchParts): Promise<Placed> {
    const work = await this.#fresh('work');
    return this.#complete(around, { lowers: this.base.lowers, upper: this.#upper, work, at: this.path });
  }

  async insideScratch(around: LaunchParts): Promise<Placed> {
    const scratch = await this.#fresh('scratch');
    const [upper, work] = [path.join(scratch, 'upper'), path.join(scratch, 'work')];
    await Promise.all([mkdir(upper), mkdir(work)]);
    give(this.#uid, upper, work);
    return this.#complete(around, { lowers: [this.#upper, ...this.base.lowers], upper, work, at: this.path });
  }

  async changes(signal?: AbortSignal): Promise<Change[]> {
    const names = await readdir(this.#upper);
    if (names.length === 0 || (names.length === 1 && names[0] === '.git')) return [];
    const { current, tracked, upper } = await this.#stack();
    const compared = {
      current,
      tracked,
      submodules: this.base.submodules,
      hidden: this.base.hidden,
      excludes: await this.#excludes(),
      source: (file: Buffer) => join(this.#upper, file),
      differences: (directory: Buffer, breather: Breather) => readUpper(upper, directory, breather),
    };
    return findChanges(compared, signal);
  }

  async tree(): Promise<Tree> {
    return treeOf((await this.#stack()).current);
  }

  async makeDirectories(paths: readonly string[]): Promise<void> {
    if (paths.length > 0) makeDirectories((await this.#stack()).current, this.#upper, paths, this.#uid);
  }

  async find(globs: string[]): Promise<FoundFile[]> {
    if (globs.length === 0) return [];
    return findFiles((await this.#stack()).current, globs, this.base.hide);
  }

  async #stack(): Promise<{ upper: Layer; current: Layer[]; tracked: Layer[] }> {
    const lowers = await readLayers(this.base.lowers);
    const upper = { directory: this.#upper, opaque: await findOpaque(this.#upper, lowers, this.#reader) };
    const tracked = lowers.filter(({ directory }) => this.base.tracked.includes(directory));
    return { upper, current: [upper, ...lowers], tracked };
  }

  /** A work directory can be mounted once; the numbers go on after a restart of the engine. */
  async #fresh(kind: 'work' | 'scratch'): Promise<string> {
    for (let n = 1; ; n += 1) {
      const directory = path.join(this.#layer, `${kind}-${n}`);
      try {
        await mkdir(directory);
        give(this.#uid, directory);
        return directory;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }

  #complete(around: LaunchParts, overlay: OverlayMount): Placed {
    return { ...withReads(around, this.#objects), cwd: this.path, overlay };
  }
}

async function readUpper(upper: Layer, directory: Buffer, breather: Breather): Promise<Difference[]> {
  const at = join(upper.directory, directory);
  const differences: Difference[] = [];
  for (const name of await readNames(at, breather)) {
    await breather.breathe();
    const stat = lstatOrWhy(join(at, name));
    if (typeof stat !== 'object') continue;
    if (isWhiteout(stat)) differences.push({ name, stat: undefined, isReplaced: false });
    else differences.push({ name, stat, isReplaced: upper.opaque.has(bytesKey(join(directory, name))) });
  }
  return differences;
}

class OverlayMaker implements LayerMaker {
  readonly copiesPerBase = false;
  readonly uid: number | undefined;
  readonly #engine: EngineGit;
  readonly #launcher: Launcher;
  readonly #reader: OpaqueReader | undefined;

  constructor(engine: EngineGit, launcher: Launcher, reader: OpaqueReader | undefined) {
    this.#engine = engine;
    this.#launcher = launcher;
    this.#reader = reader;
    this.uid = launcher.uid;
  }

  async delta({ root, from, to, isFiltered }: Delta, into: string): Promise<void> {
    const [delta, objects] = [path.join(into, 'delta'), path.join(into, 'objects')];
    if (isFiltered) {
      await pack(this.#engine, objects, to, from);
      await giveTree(this.uid, objects);
    }
    await this.#layer(isFiltered ? [objects, root] : [root], into, 'delta', (at, overlay) =>
      runToEnd(
        this.#launcher,
        { ...moveCheckout(from, to), cwd: at, overlay, reads: this.#engine.objectDirectories },
        `make the files of ${to}`,
      ),
    );
    await setHead(this.#engine, delta, to);
    if (!isFiltered) return;
    const inGit = path.join('.git', 'objects', 'pack');
    await mkdir(path.dirname(path.join(delta, inGit)), { recursive: true });
    await rename(path.join(objects, inGit), path.join(delta, inGit));
    await removeTree(objects);
  }

  async setup(
    base: Base,
    copied: string | undefined,
    command: string | undefined,
    setup: Setup,
    into: string,
  ): Promise<void> {
    await this.#layer(this.lowers(base, copied, undefined), into, 'setup', (at, overlay) =>
      runToEnd(
        this.#launcher,
        withReads(
          { argv: ['/bin/sh', '-c', command ?? ':'], cwd: at, overlay, ...setup.around },
          objectsFor(base, this.#engine),
        ),
        `run the setup command "${command}"`,
        setup,
      ),
    );
  }

  async mask(base: Base, lowers: string[]): Promise<string[]> {
    const untracked = lowers.filter((lower) => !base.tracked.includes(lower));
    return findMask(await readLayers(untracked), base.hide);
  }

  lowers(base: Base, copied: string | undefined, made: string | undefined): string[] {
    return [
      ...(made === undefined ? [] : [path.join(made, 'setup')]),
      ...(copied === undefined ? [] : [copied]),
      ...base.lowers,
    ];
  }

  async #layer(
    lowers: string[],
    into: string,
    name: string,
    fill: (at: string, overlay: OverlayMount) => Promise<void>,
  ): Promise<void> {
    const [upper, work, at] = [path.join(into, name), path.join(into, 'work'), path.join(into, 'at')];
    await Promise.all([mkdir(upper), mkdir(work), mkdir(at)]);
    give(this.uid, into, upper, work, at);
    await fill(at, { lowers, upper, work, at });
    const opaque = await findOpaque(upper, await readLayers(lowers), this.#reader);
    if (opaque.size > 0) await writeFile(`${upper}.opaque`, [...opaque].join('\0'), 'latin1');
    await Promise.all([removeTree(work), removeTree(at)]);
  }
}
