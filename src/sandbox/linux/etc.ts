/**
 * The /etc that sandboxes show: copies of what programs need of the machine's, made once and mounted as one. Each of
 * them mounted by itself would make every start slower by milliseconds. Nothing that others may not read is copied.
 */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { PACKAGE } from '../../base/package-directory.ts';
import { shellWord } from '../../base/shell-word.ts';

/** Names for the user inside, and no look-ups over the network that is not there. */
const OWN = path.resolve(import.meta.dirname, '../../../native/etc');
/** Nothing of these holds a secret or says whose machine it is. */
const COPIED = [
  'bash.bashrc',
  'ca-certificates.conf',
  'debian_version',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'magic',
  'mime.types',
  'os-release',
  'profile',
  'protocols',
  'python3',
  'services',
  'shells',
  'timezone',
];
/** These have so many files that to mount them costs less. */
const MOUNTED = ['alternatives', 'fonts', 'java-17-openjdk', 'java-21-openjdk', 'pki', 'ssl'];
const OTHERS_MAY_READ = 0o004;
const BIN = path.join(PACKAGE, 'bin');
/** A login shell forgets the PATH that it was given; where an agent may use our command, ours still comes first. */
const PROFILE_END = `
if [ -x ${shellWord(path.join(BIN, 'bosun'))} ]; then PATH=${shellWord(BIN)}:$PATH; fi
`;

/** Options of bwrap. Where `read` names more of the machine's /etc, there must be room to mount it: see `sealEtc`. */
export function etcMounts(prepared: string, read: readonly string[]): string[] {
  const machine = mounted().flatMap((name) => ['--ro-bind', `/etc/${name}`, `/etc/${name}`]);
  if (!needsRoom(prepared, read)) return ['--ro-bind', prepared, '/etc', ...machine];
  const shown = readdirSync(prepared, { withFileTypes: true }).flatMap((entry) => {
    const [from, at] = [path.join(prepared, entry.name), `/etc/${entry.name}`];
    return entry.isSymbolicLink() ? ['--symlink', readlinkSync(from), at] : ['--ro-bind', from, at];
  });
  return ['--perms', '0755', '--size', '1048576', '--tmpfs', '/etc', ...shown, ...machine];
}

/** Comes after all that is mounted below /etc. */
export function sealEtc(prepared: string, read: readonly string[]): string[] {
  return needsRoom(prepared, read) ? ['--remount-ro', '/etc'] : [];
}

/** bwrap makes no mount point in a directory that is mounted read-only. */
function needsRoom(prepared: string, read: readonly string[]): boolean {
  return read.some(
    (file) => file.startsWith('/etc/') && !existsSync(path.join(prepared, file.slice('/etc'.length))),
  );
}

let found: string[] | undefined;

function mounted(): string[] {
  return (found ??= MOUNTED.filter((name) => existsSync(`/etc/${name}`)));
}

/** Gives the directory, below `directory`; makes it where the machine's has changed since. */
export function prepareEtc(directory: string): string {
  const stats = COPIED.map((name) => statSync(`/etc/${name}`, { throwIfNoEntry: false }));
  const seen = stats.map((stat) => (stat ? `${stat.mtimeMs} ${stat.size}` : '')).join('\n');
  const hash = createHash('sha256').update(`${PROFILE_END}\n${OWN}\n${seen}`).digest('hex').slice(0, 16);
  const prepared = path.join(directory, `etc-${hash}`);
  if (existsSync(prepared)) return prepared;
  const fresh = `${prepared}.new-${process.pid}`;
  mkdirSync(fresh, { recursive: true, mode: 0o755 });
  for (const [index, name] of COPIED.entries()) {
    if (stats[index] !== undefined) copy(`/etc/${name}`, path.join(fresh, name));
  }
  for (const name of mounted()) mkdirSync(path.join(fresh, name));
  cpSync(OWN, fresh, { recursive: true });
  const profile = path.join(fresh, 'profile');
  if (existsSync(profile)) appendFileSync(profile, PROFILE_END);
  try {
    renameSync(fresh, prepared);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(prepared)) throw error; // else another engine was faster
  }
  return prepared;
}

/** Links stay links, since what they lead to is shown at the same place. */
function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: mayBeShown });
}

function mayBeShown(file: string): boolean {
  const stat = lstatSync(file);
  if (stat.isSymbolicLink()) return true;
  return (stat.isDirectory() || stat.isFile()) && (stat.mode & OTHERS_MAY_READ) !== 0;
}
