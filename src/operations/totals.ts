/** What runs cost, how long they took and how often they failed: by agent, runtime, model or task. It changes nothing. */
import { BosunError } from '../contract/errors.ts';
import { tokensInAll, type Spending } from '../contract/model.ts';
import type { Reading } from '../contract/operations.ts';
import type { Totals } from '../contract/totals-schema.ts';
import type { RunView, TaskView } from '../contract/run.ts';
import type { Agent, Workflow } from '../contract/workflow.ts';
import { parseDurationMs } from '../base/units.ts';
import { openJournal } from '../run/journal.ts';
import { runsOf } from '../store/events.ts';
import type { Store } from '../store/store.ts';

const RUNS_MAX = 10_000;
const TASKS_MAX = 500_000;
const ROWS_MAX = 1000;

type Row = Totals['rows'][number];
interface Counted {
  row: Omit<Row, 'failureRate'>;
  done: number;
  runs: Set<string>;
}
/** What one task adds to the row of a key. */
interface Share {
  key: string;
  task: TaskView;
  spending: Spending | undefined;
}

export async function totalsOf(options: Reading<'totals'>): Promise<Totals> {
  const { per, since, signal } = options;
  const sinceMs = since === undefined ? undefined : parseSince(since, Date.now());
  await using journal = await openJournal(options.cwd);
  const rows = new Map<string, Counted>();
  let [runs, tasks] = [0, 0];
  let isCut = false;
  for await (const run of runsOf(journal.store, sinceMs === undefined ? {} : { sinceMs })) {
    signal?.throwIfAborted();
    if (runs === RUNS_MAX || tasks > TASKS_MAX) {
      isCut = true;
      break;
    }
    runs += 1;
    const views = await journal.store.tasks(run.id);
    tasks += views.length;
    for (const share of await sharesOf(journal.store, run, views, per)) add(rows, run, share);
  }
  const all = [...rows.values()].map(({ row, done }) => ({
    ...row,
    failureRate: done + row.failed === 0 ? null : row.failed / (done + row.failed),
  }));
  const sorted = all.toSorted((a, b) => b.usd - a.usd || b.workedMs - a.workedMs || (a.key < b.key ? -1 : 1));
  isCut ||= sorted.length > ROWS_MAX;
  return { per, ...(sinceMs !== undefined && { sinceMs }), runs, rows: sorted.slice(0, ROWS_MAX), isCut };
}

/** `7d`, or a date, which begins at midnight here, or a date with a time. */
export function parseSince(since: string, nowMs: number): number {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(since)) return nowMs - parseDurationMs(since);
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(since);
  if (day) {
    const [year, month, date] = day.slice(1).map(Number) as [number, number, number];
    const start = new Date(year, month - 1, date);
    if (start.getMonth() === month - 1 && start.getDate() === date) return start.getTime();
  } else if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(since)) {
    const atMs = Date.parse(since.replace(' ', 'T'));
    if (!Number.isNaN(atMs)) return atMs;
  }
  throw new BosunError(
    'usage',
    `since must be a duration or a date, such as 7d, 12h, 2026-11-01 or 2026-11-01T09:00, not ${JSON.stringify(since.slice(0, 60))}`,
  );
}

/** Only of tasks that were worked on: one that stands for others is what they are. */
async function sharesOf(store: Store, run: RunView, views: TaskView[], per: Totals['per']): Promise<Share[]> {
  const worked = views.filter(({ attempt }) => attempt > 0);
  const within = spendingWithin(views);
  const shareOf = (key: string, task: TaskView): Share => ({
    key,
    task,
    spending: ownSpending(task, within),
  });
  if (per === 'task') return worked.map((task) => shareOf(`${run.name}: ${partsOf(task.id)[0]}`, task));
  if (per === 'model') {
    const byId = new Map(views.map((task) => [task.id, task]));
    return (await store.modelUses(run.id)).flatMap(({ model, task, ...spending }) => {
      const view = byId.get(task);
      return view ? [{ key: model, task: view, spending }] : [];
    });
  }
  const workflow = await workflowOf(store, run);
  return worked.map((task) => {
    const agent = agentOf(task, workflow);
    const runtime = task.runtime ?? agent.runtime ?? (agent.isCommand ? COMMANDS : UNKNOWN);
    const name = task.agent ?? (agent.isCommand ? COMMANDS : `${run.name}: ${partsOf(task.id)[0]}`);
    return shareOf(per === 'runtime' ? runtime : name, task);
  });
}

/** In brackets: no agent can be called that. */
const COMMANDS = '(commands)';
const UNKNOWN = '(unknown)';

async function workflowOf(store: Store, run: RunView): Promise<Workflow | undefined> {
  const [first] = await store.read(run.id, { limit: 1 });
  return first?.event.type === 'run.created' ? first.event.workflow : undefined;
}

/** As the workflow says it; tasks that were written at run time name agents of it. */
function agentOf(
  { id, agent }: TaskView,
  workflow: Workflow | undefined,
): { runtime?: string; isCommand?: boolean } {
  if (!workflow) return {};
  const named = agent === undefined ? undefined : namedIn(workflow, agent);
  if (named) return runtimeOf(named);
  let at: Workflow = workflow;
  for (const part of partsOf(id)) {
    const task = Object.hasOwn(at.tasks, part) ? at.tasks[part] : undefined;
    if (task?.run !== undefined) return { isCommand: true };
    if (typeof task?.agent === 'object') return runtimeOf(task.agent);
    const nested = task?.uses === undefined ? undefined : at.nested?.[task.uses];
    if (!nested) return {};
    at = nested;
  }
  return {};
}

function namedIn({ agents, nested = {} }: Workflow, name: string): Agent | undefined {
  if (Object.hasOwn(agents, name)) return agents[name];
  for (const each of Object.values(nested)) {
    const found = namedIn(each, name);
    if (found) return found;
  }
  return undefined;
}

function runtimeOf(agent: Agent | undefined): { runtime?: string } {
  return agent ? { runtime: agent.runtime } : {};
}

/** The names in an id, as they are written: `deploy/check.2` is `deploy`, `check`. */
function partsOf(id: string): [string, ...string[]] {
  return id.split('/').map((part) => part.split('.')[0]!) as [string, ...string[]];
}

/** By task: what the tasks right within it spent, which its own figures hold too. */
function spendingWithin(views: readonly TaskView[]): Map<string, Spending[]> {
  const within = new Map<string, Spending[]>();
  for (const { parent, spending } of views) {
    if (parent === undefined || !spending) continue;
    const known = within.get(parent);
    if (known) known.push(spending);
    else within.set(parent, [spending]);
  }
  return within;
}

function ownSpending(
  { id, spending }: TaskView,
  within: ReadonlyMap<string, Spending[]>,
): Spending | undefined {
  const others = within.get(id);
  if (!spending || !others) return spending;
  const less = (of: (spending: Spending) => number): number =>
    Math.max(
      0,
      others.reduce((left, each) => left - of(each), of(spending)),
    );
  return {
    requests: less(({ requests }) => requests),
    tokens: {
      input: less(({ tokens }) => tokensInAll(tokens)),
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
    },
    usd: less(({ usd }) => usd),
    unpriced: less(({ unpriced }) => unpriced),
  };
}

function add(rows: Map<string, Counted>, run: RunView, { key, task, spending }: Share): void {
  let counted = rows.get(key);
  if (!counted) {
    const row = {
      key,
      runs: 0,
      tasks: 0,
      failed: 0,
      usd: 0,
      unpriced: 0,
      requests: 0,
      tokens: 0,
      workedMs: 0,
    };
    rows.set(key, (counted = { row, done: 0, runs: new Set() }));
  }
  const { row } = counted;
  counted.runs.add(run.id);
  row.runs = counted.runs.size;
  row.tasks += 1;
  if (task.state === 'failed') row.failed += 1;
  if (task.state === 'done') counted.done += 1;
  row.workedMs += task.workedMs ?? 0;
  if (!spending) return;
  row.usd += spending.usd;
  row.unpriced += spending.unpriced;
  row.requests += spending.requests;
  row.tokens += tokensInAll(spending.tokens);
}
