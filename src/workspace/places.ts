/**
 * Where workspaces lie, by name, and which base each one holds, however they are made. What is in them is known to
 * `overlay.ts` and `clone.ts`.
 */
import { readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { removeTree, tryRemoveTree } from '../system/files/remove-tree.ts';
import type { Bases } from './bases.ts';
import { createdAtMs, isWorkspaceName } from './name.ts';
import { usedBytes } from './used-bytes.ts';
import type { WorkspaceEntry } from './workspace.ts';

export class Places {
  readonly #bases: Bases;
  readonly #directory: string;
  readonly #beside: string;
  /** The names of the bases that the workspaces of this process are on. */
  readonly #held = new Map<string, string>();

  /** `directory` holds a workspace's files, `beside` what goes with them. */
  constructor(bases: Bases, directory: string, beside: string) {
    this.#bases = bases;
    this.#directory = directory;
    this.#beside = beside;
  }

  /** Its base stays as long as the workspace does. */
  hold(name: string, base: string): void {
    if (this.#held.has(name)) return;
    this.#held.set(name, base);
    this.#bases.hold(base);
  }

  async names(): Promise<string[]> {
    return (await readdir(this.#directory).catch((): string[] => [])).filter(isWorkspaceName);
  }

  async list(): Promise<WorkspaceEntry[]> {
    const names = await this.names();
    return Promise.all(
      names.map(async (name) => ({
        name,
        createdAtMs: createdAtMs(name),
        bytes: await usedBytes(path.join(this.#directory, name)),
      })),
    );
  }

  async remove(name: string): Promise<void> {
    if (!isWorkspaceName(name)) throw new BosunError('not-found', `${name} is not the name of a workspace`);
    // under another name first: half a workspace must never look like a whole one
    const gone = path.join(this.#directory, `.gone-${name}`);
    await rename(path.join(this.#directory, name), gone).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    const base = this.#held.get(name);
    if (this.#held.delete(name)) this.#bases.release(base!);
    await Promise.all([tryRemoveTree(gone), tryRemoveTree(path.join(this.#beside, name))]);
  }

  /** What a killed process was removing, and bases that nobody needs. */
  async prune(keep: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.#directory).catch((): string[] => []);
    for (const name of names.filter((name) => name.startsWith('.gone-')))
      await removeTree(path.join(this.#directory, name));
    await this.#bases.prune(keep);
  }
}
