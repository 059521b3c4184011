/**
 * Agents that are started from outside, by a person or a program: a child of a task at work, by the rules of children
 * that an agent starts itself; an agent that goes on from a task that is done, as a run of its own; or one of nobody.
 *
 *   the parent's task │ at work: asked of its engine       ──▶ a task within, or why there is none
 *                     │ not yet, or its engine is gone     ──▶ with `queue`, kept for it; else refused
 *                     │ done                               ──▶ a run of its own, on what the task left on the branch
 *                     │ ended otherwise                    ──▶ refused
 */
import { randomUUID } from 'node:crypto';
import { BosunError } from '../contract/errors.ts';
import type { SpawnRequest } from '../contract/child.ts';
import type { Event } from '../contract/event.ts';
import type { Asked } from '../contract/operations.ts';
import type { Spawned } from '../contract/outputs.ts';
import { isOpen, type RunView } from '../contract/run.ts';
import { RUNTIMES } from '../contract/runtimes.ts';
import { REQUESTS_MAX, SPAWNED_CHARS_MAX } from '../run/child-desk.ts';
import { childTask } from '../run/child-task.ts';
import { findRun, openJournal, shownState, type Journal } from '../run/journal.ts';
import { loadRun } from '../run/load-run.ts';
import type { RunQueues } from '../run/run-queue.ts';
import { hasEnded, isGroup, type Node, type State } from '../schedule/state.ts';
import type { Request } from '../store/store.ts';
import { requireTask } from './find-task.ts';
import { startQueued, type LiveRun, type WatchOptions } from './run.ts';
import { queueRun } from './queue.ts';
import { lastOf, spawnedWorkflow } from './spawned-workflow.ts';
import { untilTaken } from './until-taken.ts';

/** How long an engine may take to react. */
const TAKEN_MS_MAX = 5000;
/** Of a run, asked for from outside and not yet taken by an engine. */
const WAITING_MAX = 200;

type SpawnOrder = Extract<Request, { do: 'spawn' }>;

export type SpawnOptions = Asked<'spawnAgent'> & WatchOptions & { queues?: RunQueues };

/** `live` where it is a run of its own that was begun here. */
export async function spawnAgent(options: SpawnOptions): Promise<Spawned & { live?: LiveRun }> {
  if (options.parent === undefined) return spawnRun(options);
  await using journal = await openJournal(options.cwd);
  const [id, task] = options.parent.split(/\/(.*)/s);
  const run = await findRun(journal, id);
  const { state, lastSeq } = await loadRun(journal.store, run.id);
  const parent = await parentOf(state, task);
  if (!hasEnded(parent)) return await askChild(journal, { run, state, lastSeq, parent }, options);
  if (parent.state !== 'done')
    throw new BosunError(
      'wrong-state',
      `${parent.label} of run ${run.id} is ${parent.state}: only what is done or at work can have children; try it again with: bosun retry ${parent.id} --run ${run.id}`,
    );
  return await spawnRun(options, { run, state, parent });
}

async function parentOf(state: State, named: string | undefined): Promise<Node> {
  const all = [...state.nodes.values()];
  if (named === undefined || named === '') {
    if (all.length === 1) return all[0]!;
    throw new BosunError(
      'usage',
      `run ${state.id} has ${all.length} tasks: say which is the parent, as ${state.id}/${all[0]?.id ?? 'TASK'}`,
    );
  }
  const node = await requireTask(state.id, all, named);
  if (!isGroup(node)) return node;
  throw new BosunError(
    'usage',
    `${node.label} of run ${state.id} stands for ${node.children.length} tasks; name one of them, such as ${state.id}/${node.children[0]!.id}`,
  );
}

/** A run of its own: recorded first, as any that waits, and then begun where it is not left to others. */
async function spawnRun(
  options: SpawnOptions,
  of?: { run: RunView; state: State; parent: Node },
): Promise<Spawned & { live?: LiveRun }> {
  const { workflow, task } = spawnedWorkflow(options, of && { ...of, said: await lastOf(options, of) });
  const { cwd, by, queues, trust } = options;
  const { id, notes } = await queueRun({
    cwd,
    by,
    ...(queues && { queues }),
    ...(trust !== undefined && { trust }),
    workflow,
    source: 'exec',
    ...(of && {
      base: of.parent.branchCommit ?? of.run.headCommit,
      parent: { run: of.run.id, task: of.parent.id },
    }),
  });
  const spawned = { run: id, task, ...(options.parent !== undefined && { parent: options.parent }), notes };
  if (options.queue) return { ...spawned, state: 'pending' };
  let begun: Awaited<ReturnType<typeof startQueued>>;
  try {
    begun = await startQueued({ ...options, run: id });
    if (begun && 'fault' in begun) throw begun.fault;
  } catch (error) {
    if (!(error instanceof BosunError)) throw error;
    const why = `run ${id} is queued and was not started: ${error.message}; start it with: bosun work`;
    return { ...spawned, notes: [...notes, why], state: 'pending' };
  }
  if (!begun) return { ...spawned, state: options.signal?.aborted ? 'pending' : 'active' };
  return { ...spawned, notes: [...notes, ...begun.live.notes], state: 'active', live: begun.live };
}

interface Family {
  run: RunView;
  state: State;
  /** What the state knows. */
  lastSeq: number;
  parent: Node;
}

async function askChild(journal: Journal, family: Family, options: SpawnOptions): Promise<Spawned> {
  const { store } = journal;
  const { run, state, lastSeq, parent } = family;
  const { by, name, queue = false, signal } = options;
  const shown = await shownState(journal, run);
  if (!queue) requireAtWork(run, parent, shown);
  if (state.cancelling) throw new BosunError('wrong-state', `run ${run.id} is being cancelled`);
  const child = await childTask(state, parent, name ?? 'spawned', requestOf(options, state));
  const key = randomUUID();
  const request: SpawnOrder = {
    do: 'spawn',
    task: parent.id,
    key,
    child,
    by,
    ...(name !== undefined && { name }),
  };
  await store.request(run.id, request, {
    afterSeq: lastSeq,
    require: (waiting, recorded) => requireRoom(family, request, waiting, recorded),
  });
  const asked = { run: run.id, parent: `${run.id}/${parent.id}`, notes: [] };
  if (queue) return { ...asked, state: 'pending' };
  const look = async (): Promise<Spawned | undefined> => {
    const answer = await answerTo(journal, run, parent.id, key);
    if (answer?.type === 'child.added') return { ...asked, task: answer.child, state: 'active' };
    if (answer) throw new BosunError('wrong-state', `no child was started: ${answer.why}`);
    const now = await findRun(journal, run.id);
    // What is refused here must not start with a resume.
    if (!isOpen(now) && (await store.withdraw(run.id, key)))
      throw new BosunError(
        'wrong-state',
        `no child was started: run ${run.id} has just ended: it is ${now.state}`,
      );
    // Its engine has died: the next one takes it.
    return (await store.driver(run.id)) || !isOpen(now) ? undefined : { ...asked, state: 'pending' };
  };
  let taken: Spawned | undefined;
  try {
    taken = await untilTaken(look, { msMax: TAKEN_MS_MAX, signal });
  } catch (error) {
    if (signal?.aborted) await store.withdraw(run.id, key); // nobody waits for it any more
    throw error;
  }
  if (taken) return taken;
  const { pid } = (await store.driver(run.id)) ?? { pid: 0 };
  throw new BosunError(
    'busy',
    `run ${run.id} has not reacted yet: its bosun process (${pid}) is busy or stopped (after Ctrl-Z: kill -CONT ${pid}); the agent is kept and starts as soon as it can`,
  );
}

function requireAtWork(run: RunView, { label, state }: Node, shown: string): void {
  if (shown === 'running' && state === 'running') return;
  const isDriven = shown === 'running' || shown === 'paused';
  const why = isDriven ? `${label} of run ${run.id} is ${state}` : `run ${run.id} is ${shown}`;
  throw new BosunError(
    'wrong-state',
    `no agent is at work that could have a child: ${why}; --queue keeps it until ${label} is at work`,
  );
}

/** What the journal keeps of it is bounded, and so is what waits to be taken. Of one task each, but for the text. */
function requireRoom(
  { run, state, parent }: Family,
  request: SpawnOrder,
  waiting: readonly Request[],
  recorded: readonly Event[],
): void {
  const queued = waiting.filter((each) => each.do === 'spawn');
  const taken = recorded.filter((event) => event.type === 'child.requested');
  const coming = [...taken, ...queued, request];
  const ofParent = coming.filter(({ task }) => task === parent.id).length;
  const chars = coming.reduce((sum, { child }) => sum + JSON.stringify(child).length, state.spawnedChars);
  if (queued.length >= WAITING_MAX)
    throw new BosunError(
      'busy',
      `${WAITING_MAX} agents wait for run ${run.id} to take them; try again in a moment`,
    );
  if ((parent.spawns ?? 0) + ofParent > REQUESTS_MAX)
    throw new BosunError(
      'busy',
      `${parent.label} was asked for too many children: the limit is ${REQUESTS_MAX}`,
    );
  if (chars > SPAWNED_CHARS_MAX)
    throw new BosunError(
      'busy',
      `the children of run ${run.id} were given too much text: the limit is ${SPAWNED_CHARS_MAX / 1024 / 1024} MB in all`,
    );
}

/** A role is an agent of the parent's workflow, or a runtime. */
function requestOf(options: SpawnOptions, { workflow }: State): SpawnRequest {
  const { role, prompt, model, write, check, usd, tokens } = options;
  const isAgent = role !== undefined && Object.hasOwn(workflow.agents, role);
  const runtime = isAgent ? undefined : (options.runtime ?? RUNTIMES.find((known) => known === role));
  const isOther = role !== undefined && runtime === undefined;
  return {
    prompt,
    ...(isOther && { agent: role }),
    ...(runtime !== undefined && { runtime }),
    ...(model !== undefined && { model }),
    ...(write && { write: [...write] }),
    ...(check !== undefined && { check }),
    ...(usd !== undefined && { usd }),
    ...(tokens !== undefined && { tokens }),
  };
}

/** Both are in the journal with the same transaction. */
async function answerTo({ store }: Journal, run: RunView, task: string, key: string) {
  const events = await store.read(run.id, { afterSeq: run.lastSeq, task, withoutOutput: true });
  const asked = events.findLast(({ event }) => event.type === 'child.requested' && event.key === key)?.event;
  if (asked?.type !== 'child.requested') return undefined;
  for (const { event } of events)
    if ((event.type === 'child.added' || event.type === 'child.refused') && event.id === asked.id)
      return event;
  return undefined;
}
