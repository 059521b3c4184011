/** What of this machine every sandbox shows, read-only: the system's programs and libraries, and toolchains on the PATH. */
import { accessSync, constants, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const NATIVE = path.resolve(import.meta.dirname, '../../native');

/** Names for the user inside, and no look-ups over the network that is not there. */
const OWN_ETC = ['passwd', 'group', 'nsswitch.conf', 'hosts'];
/** Nothing of these holds a secret or says whose machine it is. */
const SYSTEM_ETC = [
  'alternatives',
  'bash.bashrc',
  'ca-certificates',
  'ca-certificates.conf',
  'debian_version',
  'fonts',
  'java-17-openjdk',
  'java-21-openjdk',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'magic',
  'mime.types',
  'os-release',
  'perl',
  'pki',
  'profile',
  'protocols',
  'python3',
  'services',
  'shells',
  'ssl',
  'terminfo',
  'timezone',
];
/** Read-only stores that whole systems are built from, where there are any. */
const STORES = ['/nix/store', '/gnu/store'];
const ROOT_NAMES = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

let system: string[] | undefined;

/** Options of bwrap; the same for every sandbox of this process. */
export function systemMounts(): string[] {
  system ??= [
    '--ro-bind',
    '/usr',
    '/usr',
    ...ROOT_NAMES.flatMap((name) => {
      const at = `/${name}`;
      const stat = lstatSync(at, { throwIfNoEntry: false });
      if (stat?.isSymbolicLink()) return ['--symlink', readlinkSync(at), at];
      return stat?.isDirectory() ? ['--ro-bind', at, at] : [];
    }),
    ...SYSTEM_ETC.flatMap((name) => shown(`/etc/${name}`)),
    ...OWN_ETC.flatMap((name) => ['--ro-bind', path.join(NATIVE, 'etc', name), `/etc/${name}`]),
    ...STORES.flatMap(shown),
  ];
  return system;
}

/** Paths outside the system's own directories without which the programs on the PATH would not work. */
export function toolchains(searchPath: string): string[] {
  const found = new Set<string>();
  for (const directory of searchPath.split(':')) {
    if (!path.isAbsolute(directory) || isSystem(directory)) continue;
    if (isAbove(directory, homedir()) || !isReadable(directory)) continue;
    found.add(directory);
    for (const near of companions(directory)) found.add(near);
    for (const target of linkTargets(directory)) found.add(target);
  }
  return outermost([...found]);
}

const COMPANIONS = ['lib', 'lib64', 'libexec', 'include'];
const LINKS_MAX = 500;

/** Programs in `x/bin` find their libraries in `x/lib`; the rest of x may be anybody's, such as a home. */
function companions(directory: string): string[] {
  if (directory.endsWith('/node_modules/.bin')) return [path.dirname(directory)];
  if (!/^s?bin$/.test(path.basename(directory))) return [];
  return COMPANIONS.map((name) => path.join(path.dirname(directory), name)).filter(
    (name) => lstatSync(name, { throwIfNoEntry: false }) !== undefined,
  );
}

/** A program that is a link to somewhere else: that file, or the package that it is part of. */
function linkTargets(directory: string): string[] {
  const targets: string[] = [];
  for (const entry of readdirSync(directory, { withFileTypes: true }).slice(0, LINKS_MAX)) {
    if (!entry.isSymbolicLink()) continue;
    let target: string;
    try {
      target = realpathSync(path.join(directory, entry.name));
    } catch {
      continue; // it points nowhere
    }
    if (isSystem(target)) continue;
    const modules = target.lastIndexOf('/node_modules/');
    targets.push(modules === -1 ? target : target.slice(0, modules + '/node_modules'.length));
  }
  return targets;
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

function isSystem(file: string): boolean {
  return /^\/(usr|bin|sbin|lib(32|64|x32)?|nix\/store|gnu\/store)(\/|$)/.test(file);
}

function shown(file: string): string[] {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  // A link is shown as what it leads to: its target may lie in what is not shown.
  return statSync(file, { throwIfNoEntry: false }) ? ['--ro-bind', realpathSync(file), file] : [];
}

/** Leaves out what lies below another. */
export function outermost(paths: string[]): string[] {
  const kept: string[] = [];
  for (const file of [...new Set(paths)].sort((a, b) => a.length - b.length)) {
    if (!kept.some((other) => isAbove(other, file))) kept.push(file);
  }
  return kept.sort();
}

function isAbove(directory: string, file: string): boolean {
  return file === directory || file.startsWith(directory === '/' ? '/' : `${directory}/`);
}
