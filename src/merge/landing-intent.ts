/**
 * What a landing writes down so that the next command can finish or undo it. An archive can bring such notes along in
 * its `.git`, so they are believed only as far as this repository agrees: they lead to no place outside of it.
 */
import { lstatSync } from 'node:fs';
import { open, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { isDotGit } from '../base/dot-git.ts';
import type { LandingEntry, FileStat } from './landing-files.ts';
import { inspectRepository, type Repository } from '../system/git/repository.ts';
import { stateDirectory } from '../system/files/state-directory.ts';

interface Where {
  /** The work tree, where it was then. */
  top: string;
  /** Its git directory, below the one that all work trees share. */
  worktree: string;
  /** The content of the lock on the user's index, so that nobody else's is taken away; names the stage, too. */
  nonce: string;
}

export interface Intent extends Where {
  from: string;
  to: string;
  /** `to` has all of `from`: not so where a merge is taken back. */
  isForward?: boolean;
  /** What is merged, and onto what, in words. */
  what: string;
  onto: string;
  entries: LandingEntry[];
  /** What is to be recorded of it once it is done; whoever began it knows how to read that. */
  note?: string;
}

export async function writeWhere(directory: string, { top, worktree, nonce }: Where): Promise<void> {
  await writeFile(path.join(directory, 'where'), JSON.stringify({ top, worktree, nonce }), { mode: 0o600 });
}

export async function writeIntent(directory: string, intent: Intent): Promise<void> {
  const file = await open(path.join(directory, 'intent.new'), 'w', 0o600);
  await file.writeFile(JSON.stringify(intent));
  await file.sync();
  await file.close();
  await rename(path.join(directory, 'intent.new'), path.join(directory, 'intent.json'));
}

/** Undefined where nothing was touched yet. */
export async function readIntent(directory: string): Promise<Intent | undefined> {
  const text = await readFile(path.join(directory, 'intent.json'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    },
  );
  if (text === undefined) return undefined;
  const intent = parse(text);
  if (isWhere(intent) && isIntent(intent)) return intent;
  throw new BosunError(
    'wrong-state',
    `${directory} says that a merge was cut off, but not in a way that bosun writes, so nothing of it is used: look at git status, then remove ${directory}`,
  );
}

/** Undefined where it says nothing that can be believed. */
export async function readWhere(directory: string): Promise<Where | undefined> {
  const where = parse(await readFile(path.join(directory, 'where'), 'utf8').catch(() => ''));
  return isWhere(where) ? where : undefined;
}

/**
 * The work tree that it speaks of: the one we are in, for a repository may have been moved or copied, or one that is
 * linked to the same repository.
 */
export async function workTreeOf(
  directory: string,
  where: Where,
  top: string,
): Promise<Repository | undefined> {
  const state = await realpath(path.dirname(directory));
  for (const candidate of new Set([top, where.top])) {
    const found = await inspectRepository(candidate).catch(() => undefined);
    if (found === undefined || path.relative(found.commonDir, found.gitDir) !== where.worktree) continue;
    if ((await realpath(stateDirectory(found.commonDir)).catch(() => undefined)) === state) return found;
  }
  return undefined;
}

/** Beside the landing's notes, or in the work tree where that is another file system. */
export function stageOf(directory: string, top: string, nonce: string): string {
  const far = farStage(top, nonce);
  const stage = lstatSync(far, { throwIfNoEntry: false }) ? far : path.join(directory, 'stage');
  for (const place of [stage, path.join(stage, 'old'), path.join(stage, 'new')])
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new BosunError('wrong-state', `${place} is a link, which bosun never makes there: remove it`);
  return stage;
}

export function farStage(top: string, nonce: string): string {
  return path.join(top, `.bosun-merge-${nonce}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isWhere(value: unknown): value is Where {
  if (typeof value !== 'object' || value === null) return false;
  const { top, worktree, nonce } = value as Partial<Where>;
  return (
    typeof top === 'string' &&
    path.isAbsolute(top) &&
    typeof worktree === 'string' &&
    typeof nonce === 'string' &&
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(nonce)
  );
}

function isIntent(value: Where): value is Intent {
  const { from, to, what, onto, entries, note } = value as Partial<Intent>;
  const isHash = (hash: unknown): boolean => typeof hash === 'string' && /^[0-9a-f]{40,64}$/.test(hash);
  return (
    isHash(from) &&
    isHash(to) &&
    typeof what === 'string' &&
    typeof onto === 'string' &&
    (note === undefined || typeof note === 'string') &&
    Array.isArray(entries) &&
    entries.every(isEntry)
  );
}

function isEntry(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { path: name, old, isMade, made } = value as Partial<LandingEntry>;
  return (
    typeof name === 'string' && isInside(name) && typeof isMade === 'boolean' && [old, made].every(isStat)
  );
}

/** A name that git has in a tree. */
function isInside(name: string): boolean {
  const names = Buffer.from(name, 'latin1').toString().split('/');
  return !name.includes('\0') && names.every((part) => !['', '.', '..'].includes(part) && !isDotGit(part));
}

function isStat(value: FileStat | undefined): boolean {
  return (
    value === undefined || (typeof value === 'object' && value !== null && typeof value.ino === 'string')
  );
}
