/** What a workspace is, whichever way it is made. Implementations: overlay.ts, clone.ts. */
import type { WorkspaceOptions } from '../contract/workflow.ts';
import type { Change } from '../system/git/change.ts';
import type { Launch } from '../system/process/process.ts';
import type { Tree } from '../system/git/tree.ts';
import type { FoundFile } from './find.ts';

/** How a base is made; `hide` has the globs, normalized, of what must not be seen. */
export type BaseOptions = Exclude<WorkspaceOptions, 'none'> & { hide?: string[] };

/** A read-only tree that any number of workspaces share: a checkout, with layers of differences on top. */
export interface Base {
  /** The commit of the engine's git directory whose files these are: what work on it descends from. */
  commit: string;
  /** The commit that git shows inside: the same, or where something is hidden one without it. */
  checkedOut: string;
  /** Of the checkout, among all that lie beside it. */
  name: string;
  hide: string[];
  /** Paths of `commit` that are left out, as `bytesKey` gives them, and the directories that they are in. */
  hidden: Hidden;
  /** Untracked paths below `lowers` that `hide` matches and that a launch has to cover. */
  mask: string[];
  /** Directories, the topmost first; the last one is a full checkout. */
  lowers: string[];
  /** Of `lowers`, those that hold files of the commit; the others hold what `copy` and `setup` brought. */
  tracked: string[];
  /** Paths of the commit that are submodules: empty directories here, kept as they are. */
  submodules: string[];
}

export interface Hidden {
  files: ReadonlySet<string>;
  directories: ReadonlySet<string>;
}

/** How the `setup` command of a base is run; what it prints is told while it runs. */
export interface Setup {
  /** Its environment, and its fence where there is one. */
  around: Pick<Launch, 'env' | 'fence' | 'reads'>;
  onOutput?(chunk: Buffer): void;
  signal?: AbortSignal;
}

/** What a workspace looks at of a launch, and what it adds. */
export type LaunchParts = Pick<Launch, 'fence' | 'reads'>;
export type Placed = Pick<Launch, 'fence' | 'reads' | 'cwd' | 'overlay'>;

export interface Workspace {
  /** `agent-{id}-{timestamp}` */
  readonly name: string;
  /** The directory the attempt works in; behind a fence the attempt may see it at another path. */
  readonly path: string;
  readonly base: Base;
  /** What a launch needs to run in this workspace. */
  inside(around: LaunchParts): Promise<Placed>;
  /** The same, on a throw-away layer: the command sees the work and cannot change it. */
  insideScratch(around: LaunchParts): Promise<Placed>;
  /** What kinds of things lie where, as the attempt will see them. */
  tree(): Promise<Tree>;
  /** Makes directories where there are none yet; nothing on the way may be a link. */
  makeDirectories(paths: readonly string[]): Promise<void>;
  /** What differs from the base, ignored files left out. Throws the reason of `signal` once that is aborted. */
  changes(signal?: AbortSignal): Promise<Change[]>;
  /** Finds files by glob, ignored ones too; gives their path in the workspace and where they lie now. */
  find(globs: string[]): Promise<FoundFile[]>;
}

export interface WorkspaceEntry {
  name: string;
  createdAtMs: number;
  bytes: number;
}

/** All workspaces of a repository. */
export interface Workspaces extends Disposable {
  readonly kind: 'overlay' | 'clone';
  /** Makes, or finds, the base of a commit. Cheap where a near base exists. */
  base(commit: string, options?: BaseOptions, setup?: Setup): Promise<Base>;
  create(base: Base, id: string): Promise<Workspace>;
  /** A workspace that an earlier engine left behind; undefined where it is gone. */
  open(name: string, base: Base): Promise<Workspace | undefined>;
  names(): Promise<string[]>;
  /** With their sizes, which takes a walk through each. */
  list(): Promise<WorkspaceEntry[]>;
  /** When something in it was last changed, as the kernel noted it; 0 where nothing was ever written. */
  changedAtMs(name: string): Promise<number>;
  /** Takes it away for good: only after its layer is a commit. Harmless where it is gone. */
  remove(name: string): Promise<void>;
  /** Takes away the bases of all commits but these, and what a crash left half made. */
  prune(keep: ReadonlySet<string>): Promise<void>;
}
