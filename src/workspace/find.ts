/** Finds files in layers by glob, ignored ones too, hidden ones never. Never follows a link. */
import { normalizeGlob, parseGlob } from '../base/glob-syntax.ts';
import { compileGlobs, literalStarts } from '../base/globs.ts';
import { Breather } from '../base/breather.ts';
import { BosunError } from '../contract/errors.ts';
import { join, listNames, lookup, type StackEntry, type Layer } from './stack.ts';

const FOUND_MAX = 10_000;
const ENTRIES_MAX = 2_000_000;

/** A file by its path in the workspace, and the directory below which it has this path. */
export interface FoundFile {
  path: string;
  root: string;
}

export async function findFiles(
  layers: readonly Layer[],
  globs: readonly string[],
  hide: readonly string[] = [],
): Promise<FoundFile[]> {
  const starts = new Set<string>();
  for (const glob of globs) {
    const normalized = normalizeGlob(glob);
    if ('problem' in normalized)
      throw new BosunError('invalid-workflow', `"${glob}" in "artifacts" ${normalized.problem}`);
    for (const names of literalStarts(parseGlob(glob))) starts.add(names.join('/'));
  }
  const search = new Search(layers, compileGlobs(globs), compileGlobs(hide));
  for (const start of starts) {
    const at = Buffer.from(start);
    const entry = lookup(layers, at);
    if (entry !== undefined) await search.entry(at, entry);
  }
  return [...search.found].map(([path, root]) => ({ path, root }));
}

class Search {
  readonly found = new Map<string, string>();
  readonly #layers: readonly Layer[];
  readonly #isMatch: (path: string) => boolean;
  readonly #isHidden: (path: string) => boolean;
  readonly #breather = new Breather();
  #entries = 0;

  constructor(
    layers: readonly Layer[],
    isMatch: (path: string) => boolean,
    isHidden: (path: string) => boolean,
  ) {
    this.#layers = layers;
    this.#isMatch = isMatch;
    this.#isHidden = isHidden;
  }

  async entry(at: Buffer, { stat, root }: StackEntry): Promise<void> {
    if (this.found.size >= FOUND_MAX || (this.#entries += 1) > ENTRIES_MAX) return;
    const path = at.toString();
    if (path === '.git' || path.startsWith('.git/')) return; // the workspace's own
    if (stat.isFile()) {
      if (this.#isMatch(path) && !this.#isHidden(path)) this.found.set(path, root);
      return;
    }
    if (!stat.isDirectory()) return;
    await this.#breather.breathe(); // a large tree must not hold up everything else
    for (const below of listNames(this.#layers, at)) await this.entry(join(at, below.name), below.entry);
  }
}
