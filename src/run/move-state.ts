/**
 * Moves what earlier versions kept in `.bosun/` of the work tree to where the state is now, once. Nothing of it is used
 * where it stands: a repository can bring such files along, so they are moved only after it is clear that they are ours.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { comparedName } from '../base/dot-git.ts';
import { BosunError } from '../contract/errors.ts';
import type { Home } from '../store/home.ts';
import { isLocked } from '../store/lock.ts';
import { gateOf } from './engines-at-work.ts';
import { gitInRepository, splitNul } from '../system/git/git.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { sandboxUid } from '../system/process/sandbox-user.ts';
import { makeStateDirectory } from '../system/files/state-directory.ts';

/** The journal comes last: as long as it has not been moved, the move is not over. */
const ENGINES = ['git', 'runs', 'journal.db-wal', 'journal.db-shm', 'journal.db'];
const SANDBOXES = ['bases', 'copies', 'layers', 'workspaces', 'memory'];
/** Made anew for each engine. */
const PASSING = ['attempts', 's', 'empty', 'scratch', 'engine.json', 'engine.lock', 'seccomp.bpf'];
const STATE = [...ENGINES, ...SANDBOXES, ...PASSING];
/** What earlier versions had git ignore. Anything else is somebody's own. */
const IGNORES = ['*\n', '*\n!/agents/\n!/agents/**\n', '*\n!/agents/\n!/agents/**\n!/config.yaml\n'];

function hasEarlierState(home: Home): boolean {
  return !existsSync(home.journal) && existsSync(earlier(home, 'journal.db'));
}

/** What came with the repository stays where it is, unused. */
export async function moveEarlierState(home: Home): Promise<void> {
  if (!hasEarlierState(home) || (await isTracked(home))) return;
  makeStateDirectory(home.directory);
  using _ = await gateOf(home);
  if (!hasEarlierState(home)) return; // another bosun was faster
  const objection = objectionTo(home);
  if (objection !== undefined)
    throw new BosunError(
      'wrong-state',
      `${earlier(home)} looks like the state of an earlier bosun, but ${objection}, so it is not used; move it away, or remove it`,
    );
  if (isLocked(earlier(home, 'engine.lock')))
    throw new BosunError('busy', `an earlier version of bosun is at work in ${home.top}: let it end first`);
  for (const name of SANDBOXES) move(earlier(home, name), path.join(home.sandbox, name));
  for (const name of ENGINES) move(earlier(home, name), path.join(home.directory, name));
  for (const name of PASSING) await removeTree(earlier(home, name));
  for (const name of readdirSync(earlier(home))) {
    if (/^(etc-|index-|try-)/.test(name)) await removeTree(earlier(home, name));
  }
  removeIgnore(earlier(home, '.gitignore'));
}

function earlier(home: Home, ...names: string[]): string {
  return path.join(home.top, '.bosun', ...names);
}

/** Why it may be a stranger's; undefined where it is ours. */
function objectionTo(home: Home): string | undefined {
  const ours = [process.geteuid?.(), sandboxUid];
  const check = (file: string): string | undefined => {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    const name = path.relative(home.top, file);
    if (stat.isSymbolicLink()) return `${name} is a symbolic link`;
    if (!ours.includes(stat.uid)) return `${name} belongs to user ${stat.uid}`;
    return undefined;
  };
  const files = STATE.map((name) => earlier(home, name));
  for (const file of [earlier(home), ...files, ...below(earlier(home, 'git'))]) {
    const objection = check(file);
    if (objection !== undefined) return objection;
  }
  return undefined;
}

/**
 * What a clone or a merge brought is in the index: bosun itself never let git track its state. So is a `.bosun` that is
 * a link or a submodule, whose files are in no index of ours.
 */
async function isTracked(home: Home): Promise<boolean> {
  if (existsSync(earlier(home, '.git'))) return true;
  const { stdout } = await gitInRepository(['ls-files', '-z'], { cwd: home.top });
  return splitNul(stdout).some((name) => {
    // the file system may take another spelling for the same name
    const [first, second] = name.toString().split(/[/\\]/, 2).map(comparedName);
    return first === '.bosun' && (second === undefined || STATE.includes(second));
  });
}

/** Follows no link. */
function below(directory: string): string[] {
  if (!lstatSync(directory, { throwIfNoEntry: false })?.isDirectory()) return [];
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.map((entry) => path.join(entry.parentPath, entry.name));
}

function move(from: string, to: string): void {
  if (!existsSync(from)) return;
  try {
    renameSync(from, to);
  } catch (cause) {
    throw new BosunError(
      'system',
      `cannot move ${from}, the state of an earlier bosun, to ${to}: ${(cause as Error).message}; move it there yourself (mv keeps everything), then run bosun again`,
      { cause },
    );
  }
}

function removeIgnore(file: string): void {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return;
  if (IGNORES.includes(readFileSync(file, 'utf8'))) rmSync(file);
}
