/** What a report says of a run's state and history alone; `build.ts` adds what else it has. Pure, and for the page too. */
import type { ReportAt, RunTotals, TaskReport } from '../contract/report.ts';
import { waitReports } from '../schedule/history/waits.ts';
import { sumCosts } from '../schedule/money/cost.ts';
import { branchOf } from '../schedule/views/view.ts';
import { budgetReports } from './budgets.ts';
import { reportTasks, type TaskSources } from './tasks.ts';
import { committedIn } from './words.ts';

/** `tasks` where more is known of them. */
export function reportAt(sources: TaskSources, tasks = reportTasks(sources)): ReportAt {
  const { state, history, shownState } = sources;
  const because = (state.state === 'cancelled' && state.because) || null;
  return {
    version: 1,
    run: {
      id: state.id,
      name: state.workflow.name,
      state: shownState,
      because,
      short: because && (state.short ?? null),
      paused: (state.state === 'running' && state.paused) || null,
      startedAtMs: state.createdAtMs,
      endedAtMs: (shownState === state.state && state.endedAtMs) || null,
      durationMs: Math.max(0, (state.idleSinceMs ?? state.lastAtMs) - state.createdAtMs - state.idleMs),
      idleMs: state.idleMs,
      baseCommit: state.base,
      branch: branchOf(state.id),
      headCommit: state.head,
      source: state.source,
      hash: null,
      dirty: state.dirty,
      inputs: state.inputs,
    },
    totals: sumUp(tasks),
    tasks,
    conflicts: history.conflicts,
    questions: history.questions,
    messages: history.messages.messages,
    messagesLeftOut: history.messages.leftOut,
    budgets: budgetReports(state, history),
    waits: waitReports(history.waits, state.lastAtMs),
  };
}

function sumUp(tasks: TaskReport[]): RunTotals {
  const own = tasks.filter(({ group }) => group === null || group === 'expand');
  const byState: RunTotals['byState'] = {};
  for (const { state } of own) byState[state] = (byState[state] ?? 0) + 1;
  const paths = new Set<string>();
  let beyondLists = 0;
  let isCounted = true;
  let linesAdded = 0;
  let linesRemoved = 0;
  for (const { worker } of committedIn(tasks)) {
    const { attempts, diff } = worker;
    const last = attempts.findLast(({ snapshot }) => snapshot !== null);
    for (const { path } of last?.changed ?? []) paths.add(path);
    beyondLists += (last?.changedCount ?? 0) - (last?.changed.length ?? 0);
    if (diff === null && (last?.changedCount ?? 0) > 0) isCounted = false;
    linesAdded += diff?.linesAdded ?? 0;
    linesRemoved += diff?.linesRemoved ?? 0;
  }
  return {
    tasks: own.length,
    byState,
    attempts: tasks.reduce((sum, { attempts }) => sum + attempts.length, 0),
    changedFiles: paths.size + beyondLists,
    linesAdded: isCounted ? linesAdded : null,
    linesRemoved: isCounted ? linesRemoved : null,
    cost: sumCosts(tasks.flatMap(({ attempts }) => attempts.map(({ cost }) => cost))),
  };
}
