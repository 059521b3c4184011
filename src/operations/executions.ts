/**
 * Executions: a worker, told by a template, does a work item. Each is a run of its repository, whose first event says
 * what it is of, so that what is said of it here cannot disagree with its journal. They are started in execute.ts.
 */
import { BosunError } from '../contract/errors.ts';
import type { ExecutionState } from '../contract/execution-states.ts';
import type { Asked, Reading } from '../contract/operations.ts';
import type { RunState, RunView } from '../contract/run.ts';
import type {
  Execution,
  ExecutionFacts,
  ExecutionWorkspace,
  ServedRepository,
} from '../contract/serving-schema.ts';
import { openJournal, type Journal } from '../run/journal.ts';
import { runsOf } from '../store/events.ts';
import { openRecords, type OpenRecords } from '../store/records/records.ts';
import { changesOf, streamDiff } from './changes.ts';
import { cleanWorkspaces } from './clean.ts';
import { cancelRun } from './interrupt.ts';
import { readOutput } from './output.ts';
import { reportOf } from './report.ts';

/** The name of their workflows, and of their one task. */
export const EXECUTION = 'execution';
const LIST_MAX = 100;
/** Of the newest runs of a repository, how many are looked through. */
const LOOKED_MAX = 10_000;
/** As their journals say it. */
const OPEN: readonly RunState[] = ['running', 'cancelling'];
const DIFF_BYTES_MAX = 1024 * 1024;

const STATES: Record<string, ExecutionState> = { done: 'success', failed: 'error', cancelled: 'cancelled' };

export async function listExecutions(options: Reading<'executions'>): Promise<ExecutionFacts[]> {
  const { limit = LIST_MAX, repositoryId, workerId, status, before } = options;
  using records = openRecords();
  const all = records.repositories.all();
  const asked = repositoryId === undefined ? all : [served(records, repositoryId)];
  const found: ExecutionFacts[] = [];
  const last = before === undefined ? undefined : (await find(before)).facts;
  for (const repository of asked) {
    options.signal?.throwIfAborted();
    const fits = (each: ExecutionFacts): boolean =>
      (last === undefined || newestFirst(last, each) < 0) &&
      (workerId === undefined || each.workerId === workerId) &&
      (status === undefined || each.status === status);
    // of one millisecond there are more than fit, and none is left out
    const isLookedAt = ({ createdAtMs }: RunView): boolean =>
      last === undefined || createdAtMs <= last.createdAtMs;
    found.push(...(await executionsIn(repository, { limit, fits, isLookedAt })));
  }
  return found.toSorted(newestFirst).slice(0, limit);
}

/** The number in the id of its run. */
function numberOf({ run }: ExecutionFacts): number {
  return Number(run.split('-').at(-1));
}

/** The same order each time, also of those of one millisecond. */
function newestFirst(a: ExecutionFacts, b: ExecutionFacts): number {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs;
  if (a.repositoryId !== b.repositoryId) return a.repositoryId < b.repositoryId ? -1 : 1;
  return numberOf(b) - numberOf(a);
}

export async function busyWorkers(repositories: readonly ServedRepository[]): Promise<Set<string>> {
  const busy = new Set<string>();
  for (const repository of repositories)
    for (const { workerId } of await executionsIn(repository, { limit: LOOKED_MAX, states: OPEN }))
      busy.add(workerId);
  return busy;
}

export async function executionOf({ execution, signal }: Reading<'execution'>): Promise<Execution> {
  const { facts, cwd } = await find(execution);
  const { run } = facts;
  if (facts.status === 'pending' || facts.status === 'running') return facts;
  const report = await reportOf({ cwd, run, ...(signal && { signal }) });
  const task = report.tasks.find(({ id }) => id === EXECUTION);
  const attempts = task?.attempts ?? [];
  const last = attempts.at(-1);
  const { patch, isCut } = await patchOf(cwd, run, signal);
  const { output: result } = last ? await readOutput({ cwd, run, task: EXECUTION }) : {};
  const { cost } = report.totals;
  return {
    ...facts,
    ...(facts.status !== 'success' && { errorMessage: task?.message ?? `the execution was ${facts.status}` }),
    output: {
      diff: patch,
      isCut,
      logs: (task?.log.lines ?? []).map(({ text }) => text),
      artifacts: last?.artifacts ?? [],
      ...(result !== undefined && { result }),
      metrics: {
        tokens: cost.tokens ?? 0,
        costUsd: cost.usdKnown,
        toolCalls: attempts.reduce((sum, { toolCalls }) => sum + (toolCalls ?? 0), 0),
        durationMs: report.run.durationMs,
      },
    },
  };
}

export async function cancelExecution({
  execution,
  ...asked
}: Asked<'cancelExecution'>): Promise<ExecutionFacts> {
  const { facts, cwd } = await find(execution);
  await cancelRun({ ...asked, cwd, run: facts.run, waits() {} });
  return (await find(execution)).facts;
}

/** Those that nobody has cleaned up, the newest first. */
export async function listExecutionWorkspaces({
  limit = LIST_MAX,
}: Reading<'executionWorkspaces'>): Promise<ExecutionWorkspace[]> {
  using records = openRecords();
  const all: ExecutionWorkspace[] = [];
  for (const repository of records.repositories.all()) {
    const found = await executionsIn(repository, {
      limit,
      fits: ({ id }) => !records.kept.isCleaned(id),
    });
    all.push(...found.map(workspaceOf));
  }
  return all.toSorted((a, b) => b.createdAtMs - a.createdAtMs).slice(0, limit);
}

/** Of one that has ended: what it did is in a snapshot by then. */
export async function cleanExecution({
  execution,
  ...asked
}: Asked<'cleanExecution'>): Promise<ExecutionWorkspace> {
  const { facts, cwd } = await find(execution);
  if (facts.status === 'pending' || facts.status === 'running')
    throw new BosunError(
      'wrong-state',
      `execution ${execution} is ${facts.status}: cancel it first, or wait until it has ended`,
    );
  await cleanWorkspaces({ ...asked, cwd, run: facts.run });
  using records = openRecords();
  records.kept.clean(execution, Date.now());
  return { ...workspaceOf(facts), status: 'cleaning' };
}

/** The run of an execution, and the repository it is in. */
export async function find(
  execution: string,
): Promise<{ facts: ExecutionFacts; view: RunView; cwd: string }> {
  const at = execution.indexOf(':');
  using records = openRecords();
  const none = new BosunError(
    'not-found',
    `there is no execution ${JSON.stringify(execution.slice(0, 200))}; an id is the name of a repository and a run, such as shop:execution-1 (all: bosun executions)`,
  );
  const repository = records.repositories.all().find(({ name }) => at > 0 && name === execution.slice(0, at));
  if (!repository) throw none;
  await using journal = await openJournal(repository.directory);
  const view = await journal.store.run(execution.slice(at + 1));
  const facts = view && (await factsOf(journal, view, repository.name));
  if (!facts) throw none;
  return { facts, view, cwd: repository.directory };
}

export function served(records: OpenRecords, name: string): ServedRepository {
  const found = records.repositories.all().find((each) => each.name === name);
  if (found) return found;
  throw new BosunError('not-found', `no repository ${JSON.stringify(name.slice(0, 200))} is served`);
}

async function executionsIn(
  { name, directory }: ServedRepository,
  {
    limit,
    fits = () => true,
    isLookedAt = () => true,
    states,
  }: {
    limit: number;
    fits?: (facts: ExecutionFacts) => boolean;
    isLookedAt?: (run: RunView) => boolean;
    states?: readonly RunState[];
  },
): Promise<ExecutionFacts[]> {
  await using journal = await openJournal(directory).catch(() => undefined); // it may be gone, or have no run yet
  if (!journal) return [];
  const found: ExecutionFacts[] = [];
  let looked = 0;
  for await (const view of runsOf(journal.store, { name: EXECUTION, ...(states && { states }) })) {
    if (!isLookedAt(view)) continue;
    if ((looked += 1) > LOOKED_MAX) break;
    const facts = await factsOf(journal, view, name);
    if (facts && fits(facts)) found.push(facts);
    if (found.length >= limit) break;
  }
  return found;
}

/** Undefined of a run of that name which is none: somebody may call a workflow so. */
async function factsOf(
  { store }: Pick<Journal, 'store'>,
  view: RunView,
  repositoryId: string,
): Promise<ExecutionFacts | undefined> {
  if (view.name !== EXECUTION) return undefined;
  const [first] = await store.read(view.id, { limit: 1, valueBytesMax: 0 });
  if (first?.event.type !== 'run.created' || first.event.source !== EXECUTION) return undefined;
  const { inputs } = first.event;
  const { workerId, workItemId, templateId, workspaceId } = inputs as Record<string, string>;
  const id = `${repositoryId}:${view.id}`;
  return {
    id,
    repositoryId,
    run: view.id,
    workerId: workerId!,
    workItemId: workItemId!,
    templateId: templateId!,
    workspaceId: workspaceId === '' ? id : workspaceId!,
    status: STATES[view.state] ?? (view.pending ? 'pending' : 'running'),
    createdAtMs: view.createdAtMs,
    ...(view.endedAtMs !== undefined && { completedAtMs: view.endedAtMs }),
  };
}

function workspaceOf(facts: ExecutionFacts): ExecutionWorkspace {
  const { id, repositoryId, workerId, workItemId, run, status, createdAtMs, completedAtMs } = facts;
  return {
    id,
    repositoryId,
    workerId,
    workItemId,
    branch: `bosun/${run}`,
    status: completedAtMs === undefined ? 'active' : status === 'success' ? 'completed' : 'error',
    createdAtMs,
    ...(completedAtMs !== undefined && { completedAtMs }),
  };
}

async function patchOf(
  cwd: string,
  run: string,
  signal: AbortSignal | undefined,
): Promise<{ patch: string; isCut: boolean }> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // What a failed attempt left is its task's, not the run's.
  const of = (await changesOf({ cwd, run })).files.length > 0 ? { cwd, run } : { cwd, run, task: EXECUTION };
  await streamDiff({ ...of, ...(signal && { signal }) }, (piece) => {
    if (bytes < DIFF_BYTES_MAX) pieces.push(piece.subarray(0, DIFF_BYTES_MAX - bytes));
    bytes += piece.length;
  }).catch((error: unknown) => {
    if (!(error instanceof BosunError) || error.code !== 'not-found') throw error; // it left nothing
  });
  return { patch: Buffer.concat(pieces).toString(), isCut: bytes > DIFF_BYTES_MAX };
}
