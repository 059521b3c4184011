/**
 * `bosun prune`: takes away what old runs left. First a run leaves the journal, which notes what is still to go; then
 * that goes. Cut off anywhere, the next prune finishes it. Runs at work are left alone; while there are any, the space of
 * git's objects and of the journal stays taken.
 */
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import { isOpen, type RunView } from '../contract/run.ts';
import { runsOf } from '../store/events.ts';
import { takeLock } from '../store/lock.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { usedBytes } from '../workspace/used-bytes.ts';
import { removeUnusedBases, workspacesOf } from './clean.ts';
import { openEngine, type Engine } from '../run/open-engine.ts';
import { sizeOnDisk, sweepObjects, unmergedWork } from './prune-git.ts';

export type PruneOptions = Reading<'prune'> & {
  /** Is asked before anything goes; nothing goes without a yes. */
  confirm(found: Prunable): Promise<boolean>;
  /** A named point at which a test may end the process. */
  fault?(point: string): void;
};

export interface Prunable {
  runs: { id: string; state: RunView['state']; endedAtMs: number }[];
  /** What would be old enough, and why it stays. */
  kept: { id: string; why: string }[];
}

export type Pruned = Prunable & {
  freedBytes: number;
  leftBytes: number;
  /** False where other runs are at work: the next prune frees the rest. */
  isSwept: boolean;
};

/** Undefined where it was not to be done. */
export async function prune(options: PruneOptions): Promise<Pruned | undefined> {
  const { olderThanMs, keep, maxBytes } = options;
  if (olderThanMs === undefined && keep === undefined && maxBytes === undefined)
    throw new BosunError(
      'usage',
      'say which runs may go: --older-than 30d, --keep 20 or --max-size 5GB; see bosun prune --help',
    );
  await using engine = await openEngine(options.cwd, { freesSpace: true });
  using merging = takeLock(engine.home.mergeLock); // what a merge makes is on no ref until it has landed
  if (!merging)
    throw new BosunError(
      'busy',
      `a bosun merge is at work in ${engine.home.top}: wait for it, then prune again`,
    );
  const sizeBefore = await usedBytes(engine.home.directory);
  await removeLeft(engine, options); // of a prune that was cut off
  const { going, kept } = await choose(engine, options, sizeBefore);
  const found = {
    runs: going.map((run) => ({ id: run.id, state: run.state, endedAtMs: endedAt(run) })),
    kept,
  };
  if (!(await options.confirm(found))) return undefined;
  const gone = new Set<string>();
  for (const run of going) {
    options.signal?.throwIfAborted();
    using claim = await engine.store.claim(run.id);
    const now = await engine.store.run(run.id);
    // While a person was asked somebody may have resumed it: what it has done since nobody agreed to.
    if (!claim || now?.lastSeq !== run.lastSeq) continue;
    gone.add(run.id);
    const tasks = await engine.store.tasks(run.id);
    await engine.store.prune(run.id, {
      workspaces: await workspacesOf(engine, run),
      memories: tasks.map(({ id }) => path.basename(engine.home.memory(run.id, id))),
    });
    options.fault?.(`journal:${run.id}`);
  }
  const problem = await removeLeft(engine, options);
  await removeUnusedBases(engine);
  options.fault?.('cleaned');
  const isSwept = await engine.whileAlone(async () => {
    await sweepObjects(engine);
    options.fault?.('swept');
    engine.store.compact();
  });
  if (problem) throw problem;
  const leftBytes = await usedBytes(engine.home.directory);
  const runs = found.runs.filter(({ id }) => gone.has(id));
  return { runs, kept, freedBytes: Math.max(0, sizeBefore - leftBytes), leftBytes, isSwept };
}

async function choose(
  engine: Engine,
  options: PruneOptions,
  sizeBytes: number,
): Promise<{ going: RunView[]; kept: Prunable['kept'] }> {
  const { olderThanMs = 0, keep = 0, maxBytes } = options;
  const old: RunView[] = [];
  let place = 0;
  for await (const run of runsOf(engine.store))
    if (++place > keep && endedAt(run) <= Date.now() - olderThanMs) old.push(run);
  const going: RunView[] = [];
  const kept: Prunable['kept'] = [];
  let leftBytes = sizeBytes;
  for (const run of old.toReversed()) {
    if (maxBytes !== undefined && leftBytes <= maxBytes) break;
    const isAtWork = (await engine.store.driver(run.id)) !== undefined;
    const why = isAtWork ? 'it is at work' : await whyKept(engine, run, options);
    if (why !== undefined) kept.push({ id: run.id, why });
    else {
      going.push(run);
      if (maxBytes !== undefined) leftBytes -= await sizeOnDisk(engine, run);
    }
  }
  return { going, kept };
}

async function whyKept(
  engine: Engine,
  run: RunView,
  { interrupted = false, unmerged = false }: PruneOptions,
): Promise<string | undefined> {
  if (run.pending) return `it is queued (bosun cancel ${run.id} takes it out of the queue)`;
  if (isOpen(run) && !interrupted) return 'it can be resumed (--interrupted takes it, too)';
  if (unmerged) return undefined;
  const work = await unmergedWork(engine, run);
  if (work !== undefined) return `${work} (--unmerged takes it, too)`;
  if ((await workspacesOf(engine, run)).length === 0) return undefined;
  return isOpen(run)
    ? 'it has a workspace whose work is not a commit (--unmerged takes it, too)'
    : 'it has a workspace; see bosun workspaces clean (--unmerged takes it, too)';
}

/**
 * What runs that left the journal have left elsewhere. Gives the first thing that cannot be removed: it holds up nothing
 * else, and the next prune tries it again.
 */
async function removeLeft(
  { store, home, stages }: Engine,
  { fault }: PruneOptions,
): Promise<BosunError | undefined> {
  let problem: BosunError | undefined;
  for (const { run, left } of await store.pruned()) {
    try {
      for (const name of left.workspaces) await stages.workspaces.remove(name);
      for (const name of left.memories) await removeTree(path.join(home.memories, name));
      fault?.(`files:${run}`);
      await removeTree(home.run(run));
      await stages.git.removeRefs([`refs/heads/bosun/${run}`, `refs/bosun/${run}/`]);
      fault?.(`refs:${run}`);
      await store.forget(run);
    } catch (error) {
      if (!(error instanceof BosunError)) throw error;
      problem ??= error;
    }
  }
  return problem;
}

function endedAt({ endedAtMs, createdAtMs }: RunView): number {
  return endedAtMs ?? createdAtMs;
}
