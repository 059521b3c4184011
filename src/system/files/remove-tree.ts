/**
 * Removes a directory of ours whatever an attempt did in it: locked directories, names without end, paths longer than
 * any path may be. Goes from handle to handle, so that no link leads it out, and not by recursion: what is very deep
 * is moved up first.
 */
import { chmodSync, opendirSync, realpathSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { Breather } from '../../base/breather.ts';
import { BosunError } from '../../contract/errors.ts';
import { OpenDirectory } from './below.ts';

/** Each level holds one handle. */
const DEPTH_MAX = 64;
/** Names are removed while they are listed, which may hide some: so it is listed again. */
const PASSES_MAX = 5;

type Problem = NodeJS.ErrnoException;

/** What cannot be removed is left, and named by the error, after all else is gone. */
export async function removeTree(directory: string): Promise<void> {
  const place = path.resolve(directory);
  let parent: OpenDirectory;
  try {
    parent = OpenDirectory.open(realpathSync(path.dirname(place)));
  } catch (error) {
    if (isGone(error)) return;
    throw error;
  }
  using _ = parent;
  const removal = new Removal();
  const name = Buffer.from(path.basename(place));
  await removal.remove(parent, name);
  const { left } = removal;
  if (left !== undefined && parent.lstat(name) !== undefined)
    throw new BosunError(
      'system',
      `cannot remove all of ${directory}: ${left.code ?? left.message}; remove it by hand`,
      { cause: left },
    );
}

/** For what is in nobody's way: what cannot be removed stays, and `bosun workspaces clean` names it. */
export async function tryRemoveTree(directory: string): Promise<void> {
  try {
    await removeTree(directory);
  } catch (error) {
    if (!(error instanceof BosunError)) throw error;
  }
}

class Removal {
  /** The first that could not be removed. */
  left: Problem | undefined;
  readonly #breather = new Breather();
  #moved = 0;

  /** One name in an open directory, with all that is below it. */
  async remove(parent: OpenDirectory, name: Buffer): Promise<void> {
    const top = this.#unlinkOrEnter(parent, name);
    if (top === undefined) return;
    await using root = top;
    await this.#empty(root, root, 1);
    this.#try(() => rmdirSync(parent.at(name)));
  }

  /** At most DEPTH_MAX deep: a directory further down becomes one of the root's. */
  async #empty(root: OpenDirectory, directory: OpenDirectory, depth: number): Promise<void> {
    for (let pass = 0; pass < PASSES_MAX; pass += 1) {
      const before = this.#moved;
      let count = 0;
      let listing;
      try {
        listing = opendirSync(directory.at(), { encoding: 'buffer' as BufferEncoding, bufferSize: 256 });
      } catch (error) {
        this.left ??= error as Problem;
        return;
      }
      try {
        for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
          count += 1;
          await this.#breather.breathe();
          const name = entry.name as unknown as Buffer;
          const below = this.#unlinkOrEnter(directory, name);
          if (below === undefined) continue;
          await using child = below;
          if (depth >= DEPTH_MAX && this.#moveUp(root, directory, name)) continue;
          if (depth >= DEPTH_MAX) continue;
          await this.#empty(root, child, depth + 1);
          this.#try(() => rmdirSync(directory.at(name)));
        }
      } finally {
        listing.closeSync();
      }
      if (count === 0) return;
      if (directory === root && this.#moved > before) pass = -1; // there are new names, and less below them
    }
  }

  #moveUp(root: OpenDirectory, directory: OpenDirectory, name: Buffer): boolean {
    const target = root.at(`.moved-up-${process.pid}-${(this.#moved += 1)}`);
    return this.#try(() => renameSync(directory.at(name), target));
  }

  /** Gives the directory that has to be emptied first, unlocked. */
  #unlinkOrEnter(parent: OpenDirectory, name: Buffer): OpenDirectory | undefined {
    try {
      unlinkSync(parent.at(name));
      return undefined;
    } catch (error) {
      if (isGone(error)) return undefined;
      if (!(parent.lstat(name)?.isDirectory() ?? false)) {
        this.left ??= error as Problem;
        return undefined;
      }
    }
    let entered: OpenDirectory | undefined;
    this.#try(() => {
      entered = parent.enter(name);
      chmodSync(entered.at(), 0o700);
    });
    return entered;
  }

  #try(act: () => void): boolean {
    try {
      act();
      return true;
    } catch (error) {
      if (!isGone(error)) this.left ??= error as Problem;
      return false;
    }
  }
}

function isGone(error: unknown): boolean {
  return (error as Problem).code === 'ENOENT';
}
