/** The newest runs of a repository at a glance. It folds no journal: what it reads of each is bounded, whatever its size. */
import { tokensInAll } from '../contract/model.ts';
import type { Reading } from '../contract/operations.ts';
import type { Overview, ShownRun } from '../contract/outputs.ts';
import { isOpen, type RunView, type TaskState } from '../contract/run.ts';
import { openJournal } from '../run/journal.ts';
import { STRIP_EVENTS, stripOfEvents } from '../schedule/views/strip-of-events.ts';
import type { Store } from '../store/store.ts';
import { gitInRepository } from '../system/git/git.ts';
import { mergedOf } from './merged-runs.ts';
import { asShownRun } from './status.ts';
import { stopped } from './stopped-task.ts';
import { sharedBudgetsOf } from './shared-budget.ts';
import { runsOf } from '../store/events.ts';

const LIMIT = 30;
const LIMIT_MAX = 100;
const BARS_MAX = 80;
/** Of a run of tens of thousands of attempts the strip shows how it began. */
const EVENTS_MAX = 4000;
const TASKS_MAX = 8;
const ATTENTION: TaskState[] = ['failed', 'asking', 'running', 'merging', 'delayed'];
const DAYS = 14;
const RUNS_OF_DAYS_MAX = 5000;

export async function overviewOf(options: Reading<'overview'>): Promise<Overview> {
  await using journal = await openJournal(options.cwd);
  const { store, home } = journal;
  const runs = options.runs
    ? (await Promise.all(options.runs.map((run) => store.run(run)))).filter((run) => run !== undefined)
    : await newest(store, Math.min(options.limit ?? LIMIT, LIMIT_MAX));
  const merged = await mergedOf(home.top, runs);
  const glances: Overview['runs'] = [];
  for (const view of runs) {
    options.signal?.throwIfAborted();
    const run = await asShownRun(journal, view);
    const isMerged = merged.has(view.id);
    glances.push({ run, ...(await glanceOf(store, run)), ...(!isOpen(view) && { isMerged }) });
  }
  if (options.runs) return { runs: glances };
  const head = await gitInRepository(['symbolic-ref', '--quiet', '--short', 'HEAD'], {
    cwd: home.top,
    codes: [0, 1, 128],
  });
  const branch = head.stdout.toString().trim();
  return {
    runs: glances,
    days: await daysOf(store),
    shared: await sharedBudgetsOf(options.cwd),
    ...(branch !== '' && { branch }),
  };
}

/** With those that have not ended, however old they are. */
async function newest(store: Store, limit: number): Promise<RunView[]> {
  const runs = await store.runs(limit);
  const known = new Set(runs.map(({ id }) => id));
  const open = (await store.openRuns()).filter(({ id }) => !known.has(id));
  return [...runs, ...open.slice(0, LIMIT_MAX)];
}

async function glanceOf(
  store: Store,
  run: ShownRun,
): Promise<Pick<Overview['runs'][number], 'strip' | 'tasks'>> {
  const events = await store.read(run.id, { types: STRIP_EVENTS, limit: EVENTS_MAX, valueBytesMax: 0 });
  const strip = stripOfEvents(events, {
    fromMs: run.createdAtMs,
    toMs: run.endedAtMs,
    barsMax: BARS_MAX,
  });
  const states = ATTENTION.filter((state) => run.counts[state] || state === 'running');
  const tasks = await store.tasks(run.id, { states, limit: TASKS_MAX });
  return { strip, tasks: run.state === 'interrupted' ? tasks.map(stopped) : tasks };
}

async function daysOf(store: Store): Promise<NonNullable<Overview['days']>> {
  const today = new Date();
  const days = Array.from({ length: DAYS }, (_, n) => {
    const date = new Date(today.getFullYear(), today.getMonth(), today.getDate() - (DAYS - 1 - n));
    return { day: dayOf(date), fromMs: date.getTime(), usd: 0, tokens: 0, cacheRead: 0 };
  });
  const byDay = new Map(days.map((each) => [each.day, each]));
  let count = 0;
  for await (const { createdAtMs, spending } of runsOf(store, { sinceMs: days[0]!.fromMs })) {
    if ((count += 1) > RUNS_OF_DAYS_MAX) break;
    const day = byDay.get(dayOf(new Date(createdAtMs)));
    if (!day || !spending) continue;
    day.usd += spending.usd;
    day.tokens += tokensInAll(spending.tokens);
    day.cacheRead += spending.tokens.cacheRead;
  }
  return days.map(({ day, usd, tokens, cacheRead }) => ({ day, usd, tokens, cacheRead }));
}

function dayOf(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
