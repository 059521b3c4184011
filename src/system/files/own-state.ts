/**
 * Refuses a state directory in which anything leads elsewhere: an archive can bring a git directory along with all that
 * is in it, and what lies in the state is written, emptied and removed. It changes nothing.
 */
import { lstatSync, readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { userName } from './owned.ts';
import { sandboxElsewhere } from './sandbox-elsewhere.ts';

/** What bosun makes in the state directory, and in that of sandboxes: never a link, never somebody else's. */
const STATE = ['engines', 'git', 'runs', 'sandbox', 'tmp'];
const SANDBOX = ['attempts', 'bases', 'copies', 'empty', 'layers', 'memory', 's', 'scratch', 'workspaces'];

/** Throws for what lies directly in it, and in the directories that bosun always has there. */
export function assertOwnState(state: string): void {
  const sandbox = sandboxElsewhere(state) ?? path.join(state, 'sandbox');
  assertDirectories(state, STATE);
  assertDirectories(sandbox, SANDBOX);
  for (const directory of [state, sandbox, path.join(state, 'engines')]) assertNoLinks(directory);
}

/** Of a run; `directory` need not be there. What agents made lies deeper. */
export function assertOwnRun(directory: string): void {
  assertDirectories(path.dirname(directory), [path.basename(directory)]);
  for (const entry of assertNoLinks(directory))
    if (entry.isDirectory()) assertNoLinks(path.join(directory, entry.name));
}

/** What git writes into, without asking whether it leads elsewhere. */
const GIT = ['info', 'objects', 'objects/info', 'objects/pack', 'refs', 'refs/heads', 'refs/bosun'];

/** Of the engine's git directory; what is made anew in it each time may be anything. */
export function assertOwnGit(directory: string, madeAnew: RegExp): void {
  assertDirectories(directory, GIT);
  assertNoLinks(directory, madeAnew);
  for (const name of ['objects', 'refs', 'refs/heads', 'refs/heads/bosun', 'refs/bosun'])
    assertNoLinks(path.join(directory, name));
}

/** Throws for a link directly in there, or a file with a second name; a directory that is not there has none. */
function assertNoLinks(directory: string, except?: RegExp): Dirent[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
  const link = entries.find((entry) => entry.isSymbolicLink() && !except?.test(entry.name));
  if (link) throw refused(path.join(directory, link.name), 'is a symbolic link');
  for (const entry of entries) {
    const file = path.join(directory, entry.name);
    // Written in place it would change the other one.
    if (entry.isFile() && (lstatSync(file, { throwIfNoEntry: false })?.nlink ?? 1) > 1)
      throw refused(file, 'is a hard link to another file');
  }
  return entries;
}

function assertDirectories(parent: string, names: string[]): void {
  const uid = process.geteuid?.();
  for (const name of ['', ...names]) {
    const file = path.join(parent, name);
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    if (stat.isSymbolicLink()) throw refused(file, 'is a symbolic link');
    if (!stat.isDirectory()) throw refused(file, 'is not a directory');
    if (uid !== undefined && stat.uid !== uid) throw refused(file, `belongs to ${userName(stat.uid)}`);
  }
}

function refused(file: string, why: string): BosunError {
  return new BosunError(
    'system',
    `${file} ${why}, which bosun never makes there, so nothing in that state is used; move it away, and if you unpacked this repository from an archive, all of its bosun directory`,
  );
}
