/**
 * Finds what `scope.hide` matches among the untracked files that `copy` and `setup` brought: these cannot be left
 * out of a commit and have to be covered. Never follows a link.
 */
import { readlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { parseGlob } from '../base/glob-syntax.ts';
import { compileGlobs, compileTrees, literalStarts } from '../base/globs.ts';
import { BosunError } from '../contract/errors.ts';
import { throughLink, wayThrough } from './filtered-commit.ts';
import { join, listNames, lookup, type StackEntry, type Layer } from './stack.ts';

/** Each is a mount, and mounts make a start slow. */
const MASK_MAX = 500;
const ENTRIES_MAX = 2_000_000;

/** Paths that are there; a directory that a glob hides with all that could be in it stands for itself. */
export async function findMask(layers: readonly Layer[], hide: readonly string[]): Promise<string[]> {
  if (layers.length === 0 || hide.length === 0) return [];
  const isHidden = compileGlobs(hide);
  refuseLinks(layers, hide, isHidden);
  const walk = new Walk(layers, isHidden, compileTrees(hide));
  const starts = hide.flatMap((glob) => literalStarts(parseGlob(glob)).map((names) => names.join('/')));
  for (const start of new Set(starts)) {
    const at = Buffer.from(start);
    const entry = lookup(layers, at);
    if (entry !== undefined) await walk.entry(at, entry);
  }
  return [...walk.found].filter((file) => !parentsOf(file).some((parent) => walk.found.has(parent))).sort();
}

class Walk {
  readonly found = new Set<string>();
  readonly #layers: readonly Layer[];
  readonly #isHidden: (path: string) => boolean;
  readonly #isHiddenTree: (directory: string) => boolean;
  #entries = 0;

  constructor(
    layers: readonly Layer[],
    isHidden: (path: string) => boolean,
    isHiddenTree: (directory: string) => boolean,
  ) {
    this.#layers = layers;
    this.#isHidden = isHidden;
    this.#isHiddenTree = isHiddenTree;
  }

  async entry(at: Buffer, { stat }: StackEntry): Promise<void> {
    const file = at.toString();
    const isDirectory = stat.isDirectory();
    if (file === '.git') return; // the workspace's own
    if ((this.#entries += 1) > ENTRIES_MAX)
      throw new BosunError(
        'system',
        `workspace.copy and setup bring more than ${ENTRIES_MAX} files, too many to look for those that scope.hide names: bring less, or begin its globs with a directory`,
      );
    if (file !== '' && (isDirectory ? this.#isHiddenTree(file) : this.#isHidden(file)))
      return this.#add(file, at, stat.isSymbolicLink());
    if (!isDirectory) return;
    for (const below of listNames(this.#layers, at)) await this.entry(join(at, below.name), below.entry);
    await setImmediate(); // a large tree must not hold up everything else
  }

  #add(file: string, at: Buffer, isLink: boolean): void {
    const why = isLink
      ? 'a symbolic link, which cannot be covered'
      : at.equals(Buffer.from(file))
        ? undefined
        : 'whose name is not UTF-8';
    if (why !== undefined) {
      throw new BosunError(
        'invalid-workflow',
        `scope.hide matches ${file}, which workspace.copy or setup brings, ${why}: hide its directory, or do not bring it`,
      );
    }
    this.found.add(file);
    if (this.found.size <= MASK_MAX) return;
    throw new BosunError(
      'invalid-workflow',
      `scope.hide matches more than ${MASK_MAX} files that workspace.copy and setup bring, such as ${file}: hide their directory instead, as dir/**`,
    );
  }
}

function refuseLinks(
  layers: readonly Layer[],
  hide: readonly string[],
  isHidden: (path: string) => boolean,
): void {
  for (const glob of hide) {
    for (const directory of wayThrough(glob)) {
      const entry = lookup(layers, Buffer.from(directory));
      if (entry?.stat.isSymbolicLink() && !isHidden(directory))
        throw throughLink(glob, directory, readlinkSync(entry.source, { encoding: 'buffer' }));
    }
  }
}

function parentsOf(file: string): string[] {
  const names = file.split('/');
  return names.slice(1).map((_, n) => names.slice(0, n + 1).join('/'));
}
