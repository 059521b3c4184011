/**
 * Moves the user's files, index and branch from one commit to another: all of it or nothing, whatever ends this
 * process on the way. What needs much space is written before anything of the user's is touched; whatever comes after
 * that the next command can take back, and to take it back needs no space. A file that somebody changed meanwhile stays
 * as it is.
 *
 *   staged ──▶ intended ──▶ locked ──▶ taken, placed ──▶ indexed ──▶ moved ──▶ noted ──▶ (gone)
 *   nothing is touched yet             undone by whoever comes next    it is done
 */
import { lstatSync, readFileSync, renameSync } from 'node:fs';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { machineError } from '../base/machine-failure.ts';
import { BosunError } from '../contract/errors.ts';
import { copyIndex } from '../system/git/copy-index.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import { gitInRepository, splitNul } from '../system/git/git.ts';
import { isOnBranch } from '../system/git/on-branch.ts';
import {
  placeFiles,
  removeEmptied,
  statOf,
  takeBack,
  takeFiles,
  type LandingEntry,
} from './landing-files.ts';
import {
  farStage,
  readIntent,
  readWhere,
  stageOf,
  workTreeOf,
  writeIntent,
  writeWhere,
  type Intent,
} from './landing-intent.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import type { Repository } from '../system/git/repository.ts';
import type { WorkTree } from '../system/git/work-tree.ts';

const SUBMODULE = '160000';

export interface LandingRequest {
  /** Where it keeps what it needs to finish or to undo itself: `Home.landing`. */
  directory: string;
  engine: EngineGit;
  repository: Repository;
  tree: WorkTree;
  to: string;
  what: string;
  record?: LandingRecord | undefined;
  /** A named point at which a test may end the process. */
  fault?: ((point: string) => void) | undefined;
}

/** What is recorded of a landing once it is done: also by the next command, where it was cut off in between. */
export interface LandingRecord {
  note: string;
  /** False where it cannot be recorded yet: then the next command does it. It may be called again for the same note. */
  write: WriteNote;
}

export type WriteNote = (note: string) => Promise<boolean>;

/** Whoever calls it holds the lock on merges, and has called `recoverLanding`. */
export async function moveBranchTo(request: LandingRequest): Promise<void> {
  const { directory, record, fault } = request;
  const stage = await changeAll(request);
  try {
    if (record && !(await record.write(record.note))) return;
  } catch (error) {
    const why = `it could not be recorded (${(error as Error).message})`;
    throw new BosunError(
      'system',
      `${request.what} is in your branch, but ${why}: put that right, free some space say, then bosun status records it`,
      { cause: error },
    );
  }
  fault?.('noted');
  await discard(directory, stage);
}

/** Gives the stage, which is still there: with it the next command knows what is left to do. */
async function changeAll(request: LandingRequest): Promise<string> {
  const { directory, repository, tree, to, what, record } = request;
  const { top, gitDir, commonDir, head: from, branch } = repository;
  const fault = request.fault ?? (() => {});
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const nonce = randomUUID();
  const where = { top, worktree: path.relative(commonDir, gitDir), nonce };
  let isSettled = true;
  let isDone = false;
  try {
    await writeWhere(directory, where);
    const stage = await makeStage(directory, top, nonce);
    const entries = await prepareStage(request, stage);
    fault('staged');
    const onto = branch ?? 'your detached HEAD';
    const isForward = await request.engine.isAncestor(from, to);
    const note = record && { note: record.note };
    const intent: Intent = { ...where, from, to, isForward, what, onto, entries, ...note };
    await writeIntent(directory, intent);
    fault('intended');
    await lockIndex(gitDir, nonce);
    fault('locked');
    isSettled = false;
    try {
      await keep(tree.index, path.join(stage, 'index.old'));
      await refuseChanges(tree, top);
      takeFiles(top, stage, entries, fault);
      placeFiles(top, stage, entries, fault);
      await swapIndex(tree, stage, fault);
      const reason = `bosun merge ${what}`;
      await gitInRepository(['update-ref', '-m', reason, 'HEAD', to, from], { cwd: top, detached: true });
      fault('moved');
    } catch (error) {
      const head = await headOf(top);
      if (head === undefined) throw error; // who knows: nothing is undone before git can tell
      if (head !== to) {
        await undo(repository, stage, entries);
        isSettled = true;
        throw error;
      }
    }
    isSettled = true;
    removeEmptied(top, entries);
    isDone = true;
    return stage;
  } catch (error) {
    if (!isSettled)
      throw new BosunError(
        'system',
        `the merge into ${top} was cut off and could not be undone (${(error as Error).message}): put that right, free some space say, then bosun status undoes it`,
        { cause: error },
      );
    throw machineError(error, `nothing was merged, since files could not be written in ${top}`) ?? error;
  } finally {
    // what could be neither done nor undone is left to the next command
    if (isSettled) {
      await unlockIndex(gitDir, nonce);
      fault('unlocked');
      if (!isDone) await discard(directory, stageOf(directory, top, nonce));
    }
  }
}

/**
 * Finishes or undoes what a merge that was cut off left, and says which; whoever calls it holds the lock on merges, and
 * is in the work tree `here`. What it left to be recorded goes to `write`.
 */
export async function recoverLanding(
  directory: string,
  here: string,
  write: WriteNote = () => Promise.resolve(true),
): Promise<string | undefined> {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isDirectory())
    throw new BosunError('wrong-state', `${directory} must be a directory, but is not: remove it`);
  const intent = await readIntent(directory);
  const where = intent ?? (await readWhere(directory));
  const repository = where && (await workTreeOf(directory, where, here));
  const stage = repository && stageOf(directory, repository.top, where.nonce);
  if (intent === undefined) {
    await discard(directory, stage); // it had not touched anything
    return undefined;
  }
  const { from, to, isForward, what, onto, nonce, entries, note } = intent;
  if (repository === undefined || stage === undefined)
    throw new BosunError(
      'wrong-state',
      `the merge of ${what} into ${onto} was cut off in ${intent.top}, where git finds no work tree of this repository now: bring it back (see git worktree repair) and run bosun there; or, if it is gone for good, remove ${directory}`,
    );
  const { top, gitDir, head } = repository;
  const left = head === from ? await undo(repository, stage, entries) : [];
  // or somebody has committed on top of it since; what was taken back leaves no such trace
  const isDone = head === to || (head !== from && isForward === true && (await hasMoved(repository, intent)));
  if (head === to) removeEmptied(top, entries);
  await unlockIndex(gitDir, nonce);
  if (isDone && note !== undefined && !(await write(note))) return undefined;
  await discard(directory, stage);
  if (isDone) return `the merge of ${what} into ${onto} was cut off at its very end; it is complete now`;
  if (head !== from)
    return `the merge of ${what} into ${onto} was cut off, and ${onto} has moved since, so the files in ${top} stay as they are: see git status`;
  const names =
    left.length === 0 ? '' : `; changed meanwhile, so left as they are: ${left.slice(0, 10).join(', ')}`;
  return `the merge of ${what} into ${onto} was cut off and has been undone, so nothing of it is there: merge again${names}`;
}

/** The branch that it was to land on has it: others may have had the same commit before. */
async function hasMoved({ top, branch }: Repository, { to, onto }: Intent): Promise<boolean> {
  return branch !== undefined && branch === onto && (await isOnBranch(top, to, `refs/heads/${branch}`));
}

/** On the file system of the work tree, since renames must work. */
async function makeStage(directory: string, top: string, nonce: string): Promise<string> {
  const isNear = (await stat(directory)).dev === (await stat(top)).dev;
  const stage = isNear ? path.join(directory, 'stage') : farStage(top, nonce);
  await mkdir(stage, { mode: 0o700 });
  await mkdir(path.join(stage, 'new'));
  await mkdir(path.join(stage, 'old'));
  return stage;
}

/** Writes the files and the index of the new commit where nobody looks. */
async function prepareStage(
  { engine, repository, tree, to }: LandingRequest,
  stage: string,
): Promise<LandingEntry[]> {
  const { top, head: from } = repository;
  const index = path.join(stage, 'index');
  await copyIndex(tree.index, index);
  // Files that only look changed, since somebody saved them as they were, or a landing put them there a moment ago.
  await tree.run(['update-index', '-q', '--refresh'], { index, codes: [0, 1] });
  await tree.run(['read-tree', '-m', from, to], { index });
  const entries: LandingEntry[] = [];
  const fields = splitNul((await engine.run(['diff-tree', '-r', '-z', '--no-renames', from, to])).stdout);
  const sparse: Buffer[] = [];
  for (let n = 0; n + 1 < fields.length; n += 2) {
    const [before, after] = fields[n]!.toString().slice(1).split(' ') as [string, string];
    const name = fields[n + 1]!;
    if (before === SUBMODULE || after === SUBMODULE) continue;
    const old = before === '000000' ? undefined : statOf(top, name);
    // the tree is clean: what is not there is outside a sparse checkout
    if (before !== '000000' && old === undefined) sparse.push(name);
    else entries.push({ path: name.toString('latin1'), ...(old && { old }), isMade: after !== '000000' });
  }
  if (sparse.length > 0)
    await tree.run(['update-index', '--skip-worktree', '-z', '--stdin'], {
      index,
      input: joined(sparse),
      codes: [0, 128],
    });
  const made = entries.filter(({ isMade }) => isMade).map((entry) => Buffer.from(entry.path, 'latin1'));
  await tree.refuseForeignFilters(made.map(String), index, 'this merge');
  const fresh = path.join(stage, 'new');
  await tree
    .run(['checkout-index', '-z', '--stdin'], { index, tree: fresh, input: joined(made) })
    .catch((cause: unknown) => {
      throw unwritten(cause, top);
    });
  for (const entry of entries) {
    if (!entry.isMade) continue;
    const made = statOf(fresh, Buffer.from(entry.path, 'latin1'));
    if (made === undefined)
      throw new BosunError(
        'system',
        `nothing was merged: git did not write ${entry.path}; see that your own git configuration lets it (filters, sparse checkout), then merge again`,
      );
    entry.made = made;
  }
  return entries;
}

/** git does not say why it could not write a file; there is one reason that people meet. */
function unwritten(cause: unknown, top: string): unknown {
  const file = /unable to write file (.*)/.exec((cause as Error).message)?.[1];
  if (file === undefined) return cause;
  return new BosunError(
    'system',
    `nothing was merged: there seems to be no space for the new files of ${top} (git could not write ${file}); free some space and merge again`,
    { cause },
  );
}

function joined(names: Buffer[]): Buffer {
  return Buffer.concat(names.flatMap((name) => [name, Buffer.from([0])]));
}

/** As git does it: nobody else changes the index now. The lock appears with its content, so that it is known as ours. */
async function lockIndex(gitDir: string, nonce: string): Promise<void> {
  const file = path.join(gitDir, 'index.lock');
  const written = writtenLock(gitDir, nonce);
  await writeFile(written, nonce, { flag: 'wx' });
  try {
    await link(written, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw error;
      return writeFile(file, nonce, { flag: 'wx' }); // a file system without hard links
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new BosunError(
      'busy',
      `another git command is at work here (${file} exists), so nothing was changed: wait for it and merge again, or remove that file if no git runs`,
    );
  } finally {
    await rm(written, { force: true });
  }
}

function writtenLock(gitDir: string, nonce: string): string {
  return path.join(gitDir, `bosun-lock-${nonce}`);
}

async function unlockIndex(gitDir: string, nonce: string): Promise<void> {
  const file = path.join(gitDir, 'index.lock');
  if ((await readFile(file, 'utf8').catch(() => undefined)) === nonce) await rm(file);
  await rm(writtenLock(gitDir, nonce), { force: true });
}

async function refuseChanges(tree: WorkTree, top: string): Promise<void> {
  const changed = await tree.changed('no');
  if (changed.length > 0)
    throw new BosunError(
      'wrong-state',
      `${changed[0]} in ${top} was changed just now, so nothing was merged: merge again`,
    );
}

/** Under a second name, which needs no space; a copy where there are no hard links. */
async function keep(file: string, as: string): Promise<void> {
  await link(file, as).catch(() => copyIndex(file, as));
}

async function swapIndex(tree: WorkTree, stage: string, fault: (point: string) => void): Promise<void> {
  const index = path.join(stage, 'index');
  // so that git knows the files as they are and need not read them again
  await tree.run(['update-index', '-q', '--refresh'], { index, codes: [0, 1], detached: true });
  await keep(index, path.join(stage, 'index.new'));
  fault('refreshed');
  renameSync(index, tree.index);
  fault('indexed');
}

/** Gives what had to be left, since it is neither as before nor as after. */
async function undo({ top, gitDir }: Repository, stage: string, entries: LandingEntry[]): Promise<string[]> {
  const left = takeBack(top, stage, entries);
  const index = path.join(gitDir, 'index');
  const [now, before, after] = [index, path.join(stage, 'index.old'), path.join(stage, 'index.new')].map(
    read,
  );
  if (after === undefined || before === undefined || now?.equals(before)) return left;
  if (!now?.equals(after)) return [...left, 'the index'];
  renameSync(path.join(stage, 'index.old'), index);
  return left;
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

async function headOf(top: string): Promise<string | undefined> {
  const found = await gitInRepository(['rev-parse', '--verify', '--quiet', 'HEAD'], {
    cwd: top,
    codes: [0, 1, 128],
  }).catch(() => undefined);
  return found?.stdout.toString().trim();
}

/** The intent goes first: without it the rest is rubbish. */
async function discard(directory: string, stage: string | undefined): Promise<void> {
  await rm(path.join(directory, 'intent.json'), { force: true });
  if (stage !== undefined) await removeTree(stage);
  await removeTree(directory);
}
