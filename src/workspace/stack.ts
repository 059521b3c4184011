/** Directories that lie on top of each other, read as overlayfs would show them. Never mounts, never writes. */
import { bytesKey } from '../base/bytes-key.ts';
import { lstatSync, readdirSync, type BigIntStats } from 'node:fs';
import { readFile } from 'node:fs/promises';

export interface Layer {
  directory: string;
  /** Directories (as `bytesKey` their path) that hide all that lies below them. */
  opaque: ReadonlySet<string>;
}

export interface StackEntry {
  stat: BigIntStats;
  /** Where it is, and in which layer. */
  source: Buffer;
  root: string;
}

const SLASH = Buffer.from('/');

export function join(directory: Buffer | string, name: Buffer): Buffer {
  const left = typeof directory === 'string' ? Buffer.from(directory) : directory;
  if (left.length === 0) return name;
  return name.length === 0 ? left : Buffer.concat([left, SLASH, name]);
}

/** How a layer says that something below it is gone. */
export function isWhiteout(stat: BigIntStats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0n;
}

/** `path` is relative to the layers, empty for their root. A link on the way to it leads nowhere. */
export function lookup(layers: readonly Layer[], path: Buffer): StackEntry | undefined {
  for (const layer of layers) {
    const way = kindOfWay(layer, bytesKey(path));
    if (way === 'other') return undefined;
    const source = join(layer.directory, path);
    const stat = way === 'none' ? 'ENOENT' : lstatOrWhy(source);
    if (typeof stat === 'object')
      return isWhiteout(stat) ? undefined : { stat, source, root: layer.directory };
    if (stat === 'ENOTDIR' || isUnderOpaque(layer, path)) return undefined;
  }
  return undefined;
}

type Way = 'directory' | 'other' | 'none';
/** A layer is read while nothing in it changes, so what its directories are is asked once. */
const ways = new WeakMap<Layer, Map<string, Way>>();

/** Whether all that is before the last name of a path is directories. */
function kindOfWay(layer: Layer, key: string): Way {
  const end = key.lastIndexOf('/');
  if (end <= 0) return 'directory';
  const known = ways.get(layer) ?? new Map<string, Way>();
  ways.set(layer, known);
  // from the top down and without recursion: a path may have thousands of names
  let way: Way = known.get(key.slice(0, end)) ?? 'directory';
  if (known.has(key.slice(0, end))) return way;
  for (let at = key.indexOf('/'); at !== -1 && way === 'directory'; at = key.indexOf('/', at + 1)) {
    const directory = key.slice(0, at);
    way = known.get(directory) ?? wayAt(layer, directory);
    known.set(directory, way);
  }
  if (way !== 'directory') known.set(key.slice(0, end), way);
  return way;
}

function wayAt(layer: Layer, directory: string): Way {
  const stat = lstatOrWhy(join(layer.directory, Buffer.from(directory, 'latin1')));
  if (stat === 'ENOENT') return 'none';
  return typeof stat === 'object' && stat.isDirectory() ? 'directory' : 'other';
}

/** The names in a directory, each with its topmost entry. */
export function listNames(layers: readonly Layer[], path: Buffer): { name: Buffer; entry: StackEntry }[] {
  const seen = new Map<string, { name: Buffer; entry: StackEntry } | undefined>();
  for (const layer of layers) {
    const directory = join(layer.directory, path);
    const way = kindOfWay(layer, bytesKey(path));
    const stat = way === 'none' ? 'ENOENT' : way === 'other' ? 'ENOTDIR' : lstatOrWhy(directory);
    if (stat === 'ENOTDIR') break;
    if (typeof stat === 'object') {
      if (!stat.isDirectory()) break;
      for (const name of readdirSync(directory, { encoding: 'buffer' })) {
        if (seen.has(bytesKey(name))) continue;
        const source = join(directory, name);
        const found = lstatOrWhy(source);
        const isThere = typeof found === 'object' && !isWhiteout(found);
        const entry = isThere && { stat: found, source, root: layer.directory };
        seen.set(bytesKey(name), entry ? { name, entry } : undefined);
      }
    }
    if (layer.opaque.has(bytesKey(path)) || isUnderOpaque(layer, path)) break;
  }
  return [...seen.values()]
    .filter((found) => found !== undefined)
    .sort((a, b) => Buffer.compare(a.name, b.name));
}

/** Layers as they lie on disk; `<layer>.opaque` lists what each hides. */
export function readLayers(directories: readonly string[]): Promise<Layer[]> {
  return Promise.all(
    directories.map(async (directory) => {
      const listed = await readFile(`${directory}.opaque`, 'latin1').catch(() => '');
      return { directory, opaque: new Set(listed.split('\0').filter((path) => path !== '')) };
    }),
  );
}

function isUnderOpaque(layer: Layer, path: Buffer): boolean {
  if (layer.opaque.size === 0) return false;
  const key = bytesKey(path);
  for (let end = key.lastIndexOf('/'); end > 0; end = key.lastIndexOf('/', end - 1)) {
    if (layer.opaque.has(key.slice(0, end))) return true;
  }
  return false;
}

/** Most of what is asked for is not there: so nothing is thrown for it. */
export function lstatOrWhy(path: Buffer | string): BigIntStats | 'ENOENT' | 'ENOTDIR' {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? 'ENOENT';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return 'ENOTDIR';
    if (code === 'ENAMETOOLONG') return 'ENOENT'; // whoever walks down here stops before
    throw error;
  }
}
