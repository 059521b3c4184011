/** Which paths outside the system's own directories the programs on a PATH need. Never shows what may hold credentials. */
import { accessSync, constants, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { isWithin } from '../../base/is-within.ts';
import { isSystem, outermost } from './system-mounts.ts';
import { isThere, toolHomes, toolVariables } from './tool-homes.ts';

const COMPANIONS = ['lib', 'lib64', 'libexec', 'include', 'pyvenv.cfg'];
const LINKS_MAX = 500;
/** Every one is a mount, which costs the start of each command some of its time. */
const PATHS_MAX = 150;
/** A PATH is searched again after this long: something may have been installed, or have gone. */
const FRESH_MS = 10_000;
const FOUND_MAX = 100;

/** Below a home. Nothing that lies above one of these is ever shown for the sake of a tool. */
const SECRETS = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.config',
  '.docker',
  '.kube',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.m2/settings.xml',
  '.gem/credentials',
  '.cargo/credentials',
  '.cargo/credentials.toml',
];

interface Toolchains {
  /** What to show. */
  paths: string[];
  /** What tells tools where they are. */
  variables: Record<string, string>;
}

const found = new Map<string, Toolchains & { atMs: number }>();

/** Searched once in a while: a run asks again for each of its commands. */
export function toolchains(searchPath: string, home = homedir()): Toolchains {
  const key = `${home}:${searchPath}`;
  const known = found.get(key);
  if (known && performance.now() - known.atMs < FRESH_MS) return known;
  const fresh = {
    paths: search(searchPath, home),
    variables: toolVariables(searchPath),
    atMs: performance.now(),
  };
  if (found.size >= FOUND_MAX) found.clear();
  found.set(key, fresh);
  return fresh;
}

function search(searchPath: string, home: string): string[] {
  const shown = new Set<string>();
  for (const directory of searchPath.split(':')) {
    if (!path.isAbsolute(directory) || isWithin(directory, home)) continue;
    // What the system's administrator installs lies elsewhere, and is linked to from there.
    if (isSystem(directory) && !isWithin('/usr/local', directory)) continue;
    if (!isReadable(directory)) continue;
    for (const file of [directory, ...companions(directory), ...linkTargets(directory)]) shown.add(file);
  }
  for (const { show } of toolHomes(searchPath)) for (const file of show) shown.add(file);
  const secrets = SECRETS.map((name) => path.join(home, name));
  const allowed = [...shown].filter(
    (file) => !isSystem(file) && !secrets.some((secret) => isWithin(file, secret)),
  );
  return outermost(allowed).slice(0, PATHS_MAX);
}

/** Programs in `x/bin` find their libraries in `x/lib`; the rest of x may be anybody's, such as a home. */
function companions(directory: string): string[] {
  if (directory.endsWith('/node_modules/.bin')) return [path.dirname(directory)];
  if (!/^s?bin$/.test(path.basename(directory))) return [];
  return COMPANIONS.map((name) => path.join(path.dirname(directory), name)).filter(isThere);
}

/** A PATH may name what is not there, is no directory, or is not for this user: a shell passes over it, too. */
function isReadable(directory: string): boolean {
  try {
    accessSync(directory, constants.R_OK | constants.X_OK);
    return statSync(directory).isDirectory();
  } catch {
    return false;
  }
}

/** Programs that are links to somewhere else: those files with what belongs to them, or the package they are part of. */
function linkTargets(directory: string): string[] {
  const links = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  return links.slice(0, LINKS_MAX).flatMap(({ name }) => targetsOf(path.join(directory, name)));
}

function targetsOf(link: string): string[] {
  try {
    const target = realpathSync(link);
    if (!statSync(target).isFile()) return [];
    const modules = target.lastIndexOf('/node_modules/');
    if (modules !== -1) return [target.slice(0, modules + '/node_modules'.length)];
    // A link may lead to another one, which has to be there too.
    const next = path.resolve(path.dirname(link), readlinkSync(link));
    const between = lstatSync(next).isSymbolicLink() ? [next] : [];
    return [...between, target].flatMap((file) => [file, ...companions(path.dirname(file))]);
  } catch {
    return []; // it leads nowhere, or where the user may not go
  }
}
