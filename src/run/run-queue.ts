/**
 * Where runs are written down that wait for an engine: their first events, and what they start from. Runs that are asked
 * for at the same time share a transaction, since what costs is the disk. It starts nothing, and makes no sandbox.
 *
 *   asked for ──▶ base known ──▶ in the journal, all of a batch or none ──▶ base held ──▶ acknowledged
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { baseRef } from '../collect/collect.ts';
import type { Home } from '../store/home.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Once, Store } from '../store/store.ts';
import { assertOurs } from '../system/files/owned.ts';
import { commitDirtyTree } from '../system/git/dirty-tree.ts';
import { openEngineGit, type EngineGit } from '../system/git/engine-git.ts';
import { heldMark, requireObjects } from '../system/git/hold-objects.ts';
import { readHead } from '../system/git/read-head.ts';
import { inspectRepository, type Repository } from '../system/git/repository.ts';
import { firstBatch, type NewRun } from './create-run.ts';
import { holdBase } from './hold-base.ts';
import { lastNumberOf } from './kept-runs.ts';
import { sealQueued } from './own-seal.ts';
import { createHome } from './prepare-home.ts';

/** Asked for and not yet in the journal; more are refused. */
const WAITING_MAX = 10_000;
/** What one transaction takes: engines wait for it. */
const BATCH_RUNS_MAX = 256;
const BATCH_TASKS_MAX = 2000;
const NAMES_MAX = 1000;
const DIRECTORIES_MAX = 100;

export type RunToQueue = Omit<NewRun, 'base'> &
  Required<Pick<NewRun, 'queued'>> & {
    once?: Once;
    /** Says of the run by its id that it may do what it asks for: see `Queued`. */
    trusted?(id: string): string;
  };

export interface Enqueued {
  id: string;
  /** What a person should know. */
  notes: string[];
}

/** What it takes to write runs down, and to see which wait. */
export interface OpenedQueue extends AsyncDisposable {
  repository: Repository;
  home: Home;
  store: Store;
  git: EngineGit;
  /** The journal's file: another of that name is another journal. */
  inode: number;
}

interface Waiting {
  run: RunToQueue;
  /** HEAD as it is by then, where nothing is said. */
  base?: string;
  settled: PromiseWithResolvers<Enqueued>;
}

export class RunQueue implements AsyncDisposable {
  readonly #cwd: string;
  readonly #waiting: Waiting[] = [];
  readonly #numbers = new Map<string, number>();
  /** What was held, and how the engine's git directory stood then. */
  #held: { base: string; mark: number } | undefined;
  #opening: Promise<OpenedQueue> | undefined;
  #writing: Promise<void> | undefined;
  /** What was asked of it and has no answer yet. */
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(cwd: string) {
    this.#cwd = path.resolve(cwd);
  }

  /** Resolves once the run is in the journal and what it starts from is kept; that is HEAD where `from` is not given. */
  add(run: RunToQueue, from?: string): Promise<Enqueued> {
    return this.#whileOpen(() => this.#add(run, from));
  }

  async #add(run: RunToQueue, from: string | undefined): Promise<Enqueued> {
    const base = run.dirty ? await this.#snapshot() : from;
    if (this.#waiting.length >= WAITING_MAX)
      throw new BosunError(
        'busy',
        `too many runs are waiting to be written to the journal (the limit is ${WAITING_MAX}); try again in a moment`,
      );
    const settled = Promise.withResolvers<Enqueued>();
    this.#waiting.push({ run, ...(base !== undefined && { base }), settled });
    this.#writing ??= this.#writeAll();
    return settled.promise;
  }

  /** The work tree, as it was when the queue was opened. */
  repository(): Promise<Repository> {
    return this.#whileOpen(async () => (await this.#open()).repository);
  }

  /** What is under way is written down first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
    await this.#writing;
    await this.#close();
  }

  async #whileOpen<T>(action: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closed();
    const work = action();
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  async #writeAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // what is asked for in the same turn goes along
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchOf(this.#waiting));
      try {
        await this.#write(batch);
      } catch (error) {
        if (batch.length === 1) batch[0]!.settled.reject(error);
        // One that cannot be written is no reason to refuse the others.
        else
          for (const each of batch) await this.#write([each]).catch((e: unknown) => each.settled.reject(e));
      }
    }
    this.#writing = undefined;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const { repository, home, store, git } = await this.#open();
    const head = await readHead(repository);
    const bases = batch.map(({ base }) => base ?? head);
    const notes = new Map<string, string[]>();
    for (const base of new Set(bases)) notes.set(base, await this.#hold(git, base));
    const atMs = Date.now();
    const made = new Set<string>();
    const ids = await store.enqueue(
      batch.map(({ run: { once, trusted, queued, ...run } }, n) => ({
        name: run.workflow.name,
        lastNumber: this.#lastNumber(home, run.workflow.name),
        first: (id) => {
          made.add(id);
          const word = trusted && { trusted: trusted(id) };
          const unsealed = { ...run, queued: { ...queued, ...word }, base: bases[n]! };
          const sealed = sealQueued(this.#cwd, { type: 'run.created', id, ...unsealed });
          return firstBatch({ ...unsealed, queued: { ...unsealed.queued, sealed } }, atMs)(id);
        },
        ...(once && { once }),
      })),
    );
    for (const [n, { settled }] of batch.entries()) {
      try {
        // One that was asked for before started from what was there then.
        if (made.delete(ids[n]!)) await git.updateRef(baseRef(ids[n]!), bases[n]!);
        settled.resolve({ id: ids[n]!, notes: notes.get(bases[n]!)! });
      } catch (error) {
        settled.reject(error); // the run is there all the same, as one whose caller never heard of it
      }
    }
  }

  /** Once for each base, and again where somebody has let go of what was held. */
  async #hold(git: EngineGit, base: string): Promise<string[]> {
    if (this.#held?.base === base && this.#held.mark === heldMark(git)) return [];
    await requireObjects(git, base, 'this run');
    const unheld = await holdBase(git, base, 'this run');
    if (unheld !== undefined) return [unheld];
    this.#held = { base, mark: heldMark(git) };
    return [];
  }

  /** The uncommitted changes of now, as a commit. */
  async #snapshot(): Promise<string> {
    const { git } = await this.#open();
    const repository = await inspectRepository(this.#cwd);
    return commitDirtyTree(git, 'bosun: uncommitted changes\n', Date.now(), repository);
  }

  /** By what lies beside the journal; the journal knows its own. */
  #lastNumber(home: Home, name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    if (this.#numbers.size >= NAMES_MAX) this.#numbers.clear();
    const last = lastNumberOf(home, name);
    this.#numbers.set(name, last);
    return last;
  }

  /** Opened anew where somebody has moved the journal away: what is written to the old file is nowhere. */
  async #open(): Promise<OpenedQueue> {
    const opened = await this.#opening;
    if (opened && inodeOf(opened.home.journal) !== opened.inode) await this.#close();
    this.#opening ??= openQueue(this.#cwd);
    this.#opening.catch(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    this.#opening = undefined;
    this.#held = undefined;
    this.#numbers.clear();
    await opened?.[Symbol.asyncDispose]();
  }
}

function closed(): BosunError {
  return new BosunError('wrong-state', 'this Bosun was closed: make a new one to queue runs');
}

export async function openQueue(cwd: string): Promise<OpenedQueue> {
  const repository = await inspectRepository(cwd);
  const home = await createHome(repository);
  assertOurs(home.journal, home.lock);
  await using undo = new AsyncDisposableStack();
  const store = undo.use(openSqliteStore(home.journal));
  const git = undo.use(await openEngineGit(repository));
  const all = undo.move();
  return {
    repository,
    home,
    store,
    git,
    inode: inodeOf(home.journal)!,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

function batchOf(waiting: readonly Waiting[]): number {
  let tasks = 0;
  const full = waiting.findIndex(({ run }, n) => {
    tasks += Object.keys(run.workflow.tasks).length;
    return n > 0 && tasks > BATCH_TASKS_MAX;
  });
  return Math.min(full < 0 ? waiting.length : full, BATCH_RUNS_MAX);
}

/** The queues of one program, by directory; they stay open until it is closed. */
export class RunQueues implements AsyncDisposable {
  readonly #all = new Map<string, RunQueue>();
  #isClosed = false;

  at(cwd: string): RunQueue {
    if (this.#isClosed) throw closed();
    const directory = path.resolve(cwd);
    const found = this.#all.get(directory);
    if (found) return found;
    if (this.#all.size >= DIRECTORIES_MAX)
      throw new BosunError('busy', `one program may queue runs from ${DIRECTORIES_MAX} directories at most`);
    const queue = new RunQueue(directory);
    this.#all.set(directory, queue);
    return queue;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#all.values()];
    this.#all.clear();
    await Promise.all(all.map((queue) => queue[Symbol.asyncDispose]()));
  }
}
