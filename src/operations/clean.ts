/**
 * `bosun workspaces clean`: takes away workspaces that nobody needs any more. It believes the journal only as far as
 * git and the file system agree: what goes is a commit under its ref, and was not touched since that was made.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { attemptRef } from '../collect/collect.ts';
import { isOpen, type Collected, type RunView } from '../contract/run.ts';
import type { Reading } from '../contract/operations.ts';
import type { Cleaned } from '../contract/outputs.ts';
import { eventsOf, runsOf } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { namesIn } from '../system/files/names-in.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { mayBeOf } from '../workspace/name.ts';
import { openEngine, type Engine } from '../run/open-engine.ts';

export type CleanOptions = Reading<'clean'> & {
  /** What is of this run alone. */
  run?: string;
  /** A named point at which a test may end the process. */
  fault?(point: string): void;
};

export async function cleanWorkspaces(options: CleanOptions): Promise<Cleaned> {
  await using engine = await openEngine(options.cwd, { freesSpace: true });
  const { fault } = options;
  const { workspaces } = engine.stages;
  const { run: only } = options;
  const all = await workspaces.names();
  const names = only === undefined ? all : all.filter((name) => mayBeOf(name, only));
  const memories = new Set(namesIn(engine.home.memories));
  const why = new Map<string, string>();
  const removed = new Set<string>();
  const judge = async (name: string, use: Use | undefined): Promise<void> => {
    options.signal?.throwIfAborted();
    const reason = await whyKept(engine, name, use);
    if (reason !== undefined) {
      why.set(name, reason);
      return;
    }
    fault?.(`removing:${name}`);
    await workspaces.remove(name);
    fault?.(`removed:${name}`);
    removed.add(name);
  };
  for await (const run of only === undefined ? runsOf(engine.store) : oneRun(engine.store, only)) {
    const own = names.filter((name) => mayBeOf(name, run.id));
    const remembered = isOpen(run) ? [] : await memoriesOf(engine, run, memories);
    if (own.length === 0 && remembered.length === 0) continue;
    // Nobody begins to drive it while they go.
    using claim = await engine.store.claim(run.id);
    if (!claim) {
      for (const name of own) why.set(name, `run ${run.id} is at work`);
      continue;
    }
    const uses = own.length === 0 ? new Map<string, Use>() : await lastUses(engine.store, run);
    for (const name of own) if (uses.has(name)) await judge(name, uses.get(name));
    // Agents remember as long as their run may go on by itself; without their workspaces nobody else could use that.
    for (const name of remembered) await removeTree(path.join(engine.home.memories, name));
  }
  // Of one run alone: what it does not know may be another's, whose name begins like its own.
  if (only === undefined)
    for (const name of names) if (!why.has(name) && !removed.has(name)) await judge(name, undefined);
  fault?.('forgotten');
  await removeUnusedBases(engine);
  return {
    removed: names.filter((name) => removed.has(name)),
    kept: names.flatMap((name) => (why.has(name) ? [{ name, why: why.get(name)! }] : [])),
  };
}

async function* oneRun(store: Store, id: string): AsyncGenerator<RunView> {
  const run = await store.run(id);
  if (run) yield run;
}

/** Bases are made again where they are needed; those of runs that may go on are kept, and all while others work. */
export async function removeUnusedBases({ store, stages, whileAlone }: Engine): Promise<boolean> {
  const bases = new Set<string>();
  for await (const run of runsOf(store)) if (isOpen(run)) bases.add(run.baseCommit);
  return whileAlone(() => stages.workspaces.prune(bases));
}

/** The workspaces that attempts of the run worked in and that are there. */
export async function workspacesOf({ store, stages }: Engine, run: RunView): Promise<string[]> {
  const names = (await stages.workspaces.names()).filter((name) => mayBeOf(name, run.id));
  if (names.length === 0) return [];
  const uses = await lastUses(store, run);
  return names.filter((name) => uses.has(name));
}

/** The last attempt that worked in a workspace, and what was made of that work. */
interface Use {
  run: RunView;
  task: string;
  attempt: number;
  collected?: Collected;
  collectedAtMs: number;
}

async function lastUses(store: Store, run: RunView): Promise<Map<string, Use>> {
  const uses = new Map<string, Use>();
  for await (const { event, atMs } of eventsOf(store, run.id, { withoutOutput: true, valueBytesMax: 0 })) {
    if (event.type === 'attempt.workspace') {
      const { task, attempt } = event;
      uses.set(event.workspace, { run, task, attempt, collectedAtMs: 0 });
    } else if (event.type === 'attempt.finished' && event.collected) {
      for (const use of uses.values())
        if (use.task === event.task && use.attempt === event.attempt)
          Object.assign(use, { collected: event.collected, collectedAtMs: atMs });
    }
  }
  return uses;
}

/** Undefined where it may go. */
async function whyKept(engine: Engine, name: string, use: Use | undefined): Promise<string | undefined> {
  const changedAtMs = await engine.stages.workspaces.changedAtMs(name);
  if (use && isOpen(use.run))
    return `it holds work of run ${use.run.id} that is not a commit; bosun resume ${use.run.id} goes on`;
  if (changedAtMs === 0) return undefined; // nothing was ever written into it
  const { layers, workspaces } = engine.home;
  const where = path.join(engine.stages.workspaces.kind === 'overlay' ? layers : workspaces, name);
  if (!use) return `no run in the journal knows it; look at ${where} and remove it yourself`;
  const { run, task, attempt, collected } = use;
  if (!collected)
    return `it holds work of run ${run.id} that is not a commit; its work could not be made a commit`;
  let keptAtMs = use.collectedAtMs;
  if (collected.changedCount > 0) {
    const refAtMs = changedRefAtMs(engine, attemptRef(run.id, task, attempt));
    if (
      refAtMs === undefined ||
      (await engine.stages.git.revParse(`${collected.commit}^{tree}`)) === undefined
    )
      return `the snapshot of its work (${task} of run ${run.id}) is gone; look at ${where} and remove it yourself`;
    keptAtMs = Math.max(keptAtMs, refAtMs);
  }
  if (changedAtMs > keptAtMs)
    return `it was changed after the snapshot of ${task} of run ${run.id} was made; look at ${where} and remove it yourself`;
  return undefined;
}

function changedRefAtMs({ stages }: Engine, ref: string): number | undefined {
  return statSync(path.join(stages.git.directory, ref), { throwIfNoEntry: false })?.mtimeMs;
}

/** The directories, of those that are there, in which agents of the run remember something. */
async function memoriesOf(
  { store, home }: Engine,
  run: RunView,
  names: ReadonlySet<string>,
): Promise<string[]> {
  if (names.size === 0) return [];
  const own = (await store.tasks(run.id)).map(({ id }) => path.basename(home.memory(run.id, id)));
  return own.filter((name) => names.has(name));
}
