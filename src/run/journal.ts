/** Reading what is there: finds the journal and the run that is meant. Quick: it starts no process. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { isOpen, type RunView, type ShownRunState } from '../contract/run.ts';
import { findHome, Home } from '../store/home.ts';
import { lease, type Keepable } from '../store/kept-open.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { keptBranches } from './kept-runs.ts';
import { assertOurs } from '../system/files/owned.ts';
import { assertOwnState } from '../system/files/own-state.ts';
import { findGit } from '../system/files/state-directory.ts';

const RUNS_NAMED_MAX = 10;

export interface Journal {
  home: Home;
  store: Store;
}

/** For the time of one operation: a program that has many of them keeps it open meanwhile, see `kept-open.ts`. */
export async function openJournal(cwd: string): Promise<Journal & AsyncDisposable> {
  const home = await requireHome(cwd);
  const leased = lease(home.journal, () => keepable(home));
  const { store } = leased.value;
  return { home, store, [Symbol.asyncDispose]: async () => leased[Symbol.dispose]() };
}

/** For whoever follows what is written: a store does not tell of what is written through itself. */
export async function openOwnJournal(cwd: string): Promise<Journal & AsyncDisposable> {
  const home = await requireHome(cwd);
  const store = openAt(home);
  return { home, store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

async function requireHome(cwd: string): Promise<Home> {
  const home = findHome(cwd);
  if (home && existsSync(home.journal)) return home;
  if (!findGit(cwd)) throw notInRepository(cwd);
  const kept = home && tellKept(home, undefined);
  const message = `no run was ever started in the repository of ${cwd}; start one with: bosun run`;
  throw new BosunError('not-found', [kept ?? message, ...(await toldEarlier(cwd))].join('. '));
}

function openAt(home: Home): Store {
  assertOurs(home.directory, home.journal);
  assertOwnState(home.directory);
  return openSqliteStore(home.journal);
}

function keepable(home: Home): Keepable & { store: Store } {
  const store = openAt(home);
  return { store, isCurrent: () => store.isCurrent(), close: () => void store[Symbol.asyncDispose]() };
}

function notInRepository(cwd: string): BosunError {
  return new BosunError(
    'no-repository',
    `${cwd} is not inside a git repository: go to the one whose runs you want to see`,
  );
}

/** Makes an empty one where no run was ever started, for whoever waits for the first. */
export async function prepareJournal(cwd: string): Promise<void> {
  const git = findGit(cwd);
  if (!git || existsSync(new Home(git).journal)) return;
  const { createHome } = await import('./prepare-home.ts');
  const home = await createHome(git);
  await openSqliteStore(home.journal)[Symbol.asyncDispose]();
}

/** An earlier version kept its state there. */
async function toldEarlier(cwd: string): Promise<string[]> {
  const git = findGit(cwd);
  if (git === undefined || !existsSync(path.join(git.top, '.bosun', 'journal.db'))) return [];
  const { tellEarlier } = await import('./earlier-state.ts'); // few ever need it
  const told = tellEarlier(new Home(git));
  return told === undefined ? [] : [told];
}

/** The runs that an engine drives, the newest first. */
export async function drivenRuns({ store }: Pick<Journal, 'store'>): Promise<RunView[]> {
  const open = await store.openRuns();
  const drivers = await Promise.all(open.map(({ id }) => store.driver(id)));
  return open.filter((_, index) => drivers[index] !== undefined);
}

/** The run of that id; where none is named, the only one at work, else the latest. */
export async function findRun({ home, store }: Journal, id: string | undefined): Promise<RunView> {
  if (id === undefined) {
    const [only, ...others] = await drivenRuns({ store });
    if (only && others.length === 0) return only;
  }
  const [latest] = id === undefined ? await store.runs(1) : [await store.run(id)];
  if (latest) return latest;
  const kept = tellKept(home, id);
  if (id === undefined)
    throw new BosunError('not-found', kept ?? 'no run was ever started here; start one with: bosun run');
  const latestRuns = await store.runs(5);
  for (const [n, run] of latestRuns.entries()) {
    if (!(await store.tasks(run.id)).some((task) => task.id === id || task.label === id)) continue;
    const word = `${n === 0 ? '' : `${run.id} `}--task ${/^[\w.-]+$/.test(id) ? id : `'${id}'`}`;
    throw new BosunError(
      'not-found',
      `there is no run ${id}, but run ${run.id} has a task of that name: bosun logs ${word}, bosun diff ${word}`,
    );
  }
  const known = latestRuns.map((run) => run.id).join(', ');
  const others =
    known === ''
      ? 'no run was ever started here; start one with: bosun run'
      : `the latest are: ${known} (all: bosun history)`;
  throw new BosunError('not-found', kept ?? `there is no run ${id}; ${others}`);
}

/**
 * The run that is to be changed: where none is named and several are at work, nobody guesses. `isMeant` tells which of
 * them it can be; `how` is what to type.
 */
export async function requireOneRun(
  journal: Journal,
  id: string | undefined,
  how: string,
  isMeant: (run: RunView) => boolean = () => true,
): Promise<RunView> {
  const driven = id === undefined ? await drivenRuns(journal) : [];
  if (driven.length < 2) return findRun(journal, id);
  const meant = driven.filter(isMeant);
  if (meant.length === 1) return meant[0]!;
  const names = (meant.length > 1 ? meant : driven).map((run) => run.id);
  const list = names.slice(0, RUNS_NAMED_MAX).join(', ');
  const left = names.length > RUNS_NAMED_MAX ? ` and ${names.length - RUNS_NAMED_MAX} more` : '';
  throw new BosunError('usage', `several runs are at work: ${list}${left}; name the one you mean: ${how}`);
}

/** A journal may have been moved aside: the work of its runs has not. */
function tellKept(home: Home, id: string | undefined): string | undefined {
  const kept = keptBranches(home).filter((run) => id === undefined || run === id);
  const [first] = kept;
  if (first === undefined) return undefined;
  const what =
    id === undefined
      ? `the journal ${home.journal} has no runs, but branches of earlier ones are kept: ${kept.slice(0, 5).join(', ')}${kept.length > 5 ? ', …' : ''}`
      : `run ${id} is not in the journal, but its branch is kept`;
  return `${what}. Look at it: git --git-dir=${home.git} log -p bosun/${first} ; merge it: git fetch ${home.git} bosun/${first} && git merge FETCH_HEAD`;
}

/** Of a run that an engine drives. */
export function shownDriven({ state, paused }: RunView): ShownRunState {
  return paused && state === 'running' ? 'paused' : state;
}

/** What is true now: a run that has begun, has not ended and that no engine drives was interrupted. */
export async function shownState(journal: Pick<Journal, 'store'>, run: RunView): Promise<ShownRunState> {
  const { store } = journal;
  if (!isOpen(run)) return run.state;
  if (await store.driver(run.id)) return shownDriven(run);
  const now = await store.run(run.id); // its engine may have ended it between the two looks, and gone
  if (now && !isOpen(now)) return now.state;
  if (!run.pending) return 'interrupted';
  return now?.pending ? 'pending' : shownState(journal, now ?? { ...run, state: 'cancelled' }); // one has just begun it
}
