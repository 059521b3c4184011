/** Finds files in layers by glob, ignored ones too, hidden ones never. Never follows a link. */
import picomatch from 'picomatch';
import { compileGlobs } from '../base/globs.ts';
import { join, list, lookup, type Entry, type Layer } from './stack.ts';

const FOUND_MAX = 10_000;

export async function findFiles(
  layers: readonly Layer[],
  globs: readonly string[],
  hide: readonly string[] = [],
): Promise<{ path: string; source: string }[]> {
  const found = new Map<string, string>();
  for (const glob of globs) {
    const { base, isGlob } = picomatch.scan(glob.replace(/^\.\//, '').replace(/\/+$/, ''));
    const start = Buffer.from(base);
    const entry = lookup(layers, start);
    if (entry === undefined || base.split('/').includes('..')) continue;
    // a directory stands for all that is in it
    const isMatch = isGlob ? picomatch(glob.replace(/^\.\//, ''), { dot: true }) : () => true;
    collect(layers, start, entry, isMatch, found);
  }
  const isHidden = compileGlobs(hide);
  return [...found].filter(([path]) => !isHidden(path)).map(([path, source]) => ({ path, source }));
}

function collect(
  layers: readonly Layer[],
  at: Buffer,
  entry: Entry,
  isMatch: (path: string) => boolean,
  found: Map<string, string>,
): void {
  if (found.size >= FOUND_MAX) return;
  const path = at.toString();
  if (entry.stat.isFile()) {
    if (isMatch(path)) found.set(path, entry.source.toString());
    return;
  }
  if (!entry.stat.isDirectory()) return;
  for (const below of list(layers, at)) {
    if (at.length === 0 && below.name.toString() === '.git') continue;
    collect(layers, join(at, below.name), below.entry, isMatch, found);
  }
}
