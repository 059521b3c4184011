/** Makes the report of a run from its events. Pure: it reads no clock, no file and no git. */
import type { Recorded } from '../contract/event.ts';
import type { Cost, RunReport, TaskReport, Totals } from '../contract/report.ts';
import type { ShownRunState, TaskView } from '../contract/run.ts';
import { sumCosts } from './cost.ts';
import { judgeClaim } from './fold/agent.ts';
import { budgetReports } from './fold/budget.ts';
import { waitReports } from './fold/waits.ts';
import { foldRun, inOrder, type FoldedRun } from './fold/fold.ts';
import type { Folded } from './fold/tasks.ts';
import { isolationLines } from './isolation.ts';
import { LIMITS, shareOut } from './limits.ts';
import { nextCommands } from './next.ts';
import { reportDiff } from './patch/patch.ts';
import type { Patch } from './patch/patch-reader.ts';

export interface ReportExtra {
  /** The patch of each task, by its id. */
  diffs: Map<string, Patch>;
  /** Whether an engine drives the run is not in its journal. */
  shownState: ShownRunState;
  /** Where the tasks stand, as the engine recorded it: the fold here only follows what is shown. */
  views?: TaskView[];
  /** Of what happened and the files of the branch. */
  hash?: string;
  /** What all of it changed, between the base and the head. */
  changed?: { files: number; linesAdded: number; linesRemoved: number };
}

export function buildReport(events: Iterable<Recorded>, extra: ReportExtra): RunReport {
  return reportOn(foldRun(events), extra);
}

export function reportOn(run: FoldedRun, extra: ReportExtra): RunReport {
  const { created } = run;
  const tasks = reportTasks(run, extra);
  const endedAtMs = extra.shownState === run.state ? run.endedAtMs : null;
  const report: Omit<RunReport, 'next'> = {
    version: 1,
    run: {
      id: created.id,
      name: created.workflow.name,
      state: extra.shownState,
      because: run.because,
      short: run.because === null ? null : run.short,
      startedAtMs: run.startedAtMs,
      endedAtMs,
      durationMs: Math.max(0, run.lastAtMs - run.startedAtMs - run.idleMs),
      idleMs: run.idleMs,
      baseCommit: created.base,
      branch: `bosun/${created.id}`,
      headCommit: run.head,
      source: created.source,
      hash: extra.hash ?? null,
      dirty: created.dirty,
      inputs: created.inputs,
    },
    isolation: isolationLines(run),
    totals: {
      ...sumUp(tasks),
      ...(extra.changed && {
        changedFiles: extra.changed.files,
        linesAdded: extra.changed.linesAdded,
        linesRemoved: extra.changed.linesRemoved,
      }),
    },
    tasks,
    conflicts: run.conflicts,
    questions: run.questions,
    budgets: budgetReports(run),
    waits: waitReports(run.waits, run.lastAtMs),
  };
  return { ...report, next: nextCommands(report) };
}

function reportTasks(run: FoldedRun, { diffs, shownState, views = [] }: ReportExtra): TaskReport[] {
  for (const { id, state, message } of views) {
    const report = run.tasks.get(id)?.report;
    if (report) Object.assign(report, { state, message: message ?? report.message });
  }
  const folded = inOrder(run);
  const diffShares = shareOut(
    folded.map(({ report }) => diffs.get(report.id)?.text.length ?? 0),
    LIMITS.diffCharsInAll,
    LIMITS.diffCharsPerTask,
  );
  const logShares = shareOut(
    folded.map(({ tail }) => tail.chars()),
    LIMITS.logCharsInAll,
    LIMITS.logCharsPerTask,
  );
  const fileShares = shareOut(
    folded.map(({ report }) => report.attempts.reduce((sum, attempt) => sum + attempt.changed.length, 0)),
    LIMITS.changedFilesInAll,
    LIMITS.changedFilesPerAttempt,
  );
  return folded.map((task, index) => {
    const patch = diffs.get(task.report.id);
    trimAttempts(task, fileShares[index]!);
    task.report.attempts.forEach(judgeClaim);
    return {
      ...task.report,
      cost: costOf(task),
      ...standing(run, task, shownState),
      diff: patch === undefined ? null : reportDiff(patch, diffShares[index]!),
      log: task.tail.report(logShares[index]!),
    };
  });
}

function costOf({ report, children }: Folded): Cost {
  return sumCosts([...report.attempts.map(({ cost }) => cost), ...children.map(costOf)]);
}

/** The last attempts keep their lists of files; the count stays with all. */
function trimAttempts({ report }: Folded, filesMax: number): void {
  let left = filesMax;
  for (const attempt of report.attempts.toReversed()) {
    attempt.changed = attempt.changed.slice(0, left);
    left -= attempt.changed.length;
  }
}

/** Nothing in the journal says that a task could start: its needs do. And what no engine drives does not run. */
function standing(
  run: FoldedRun,
  { report }: Folded,
  shownState: ShownRunState,
): Pick<TaskReport, 'state' | 'message'> {
  const { state, message } = report;
  if (state === 'waiting' && report.needs.every((need) => run.tasks.get(need)?.isMet)) {
    return { state: 'ready', message };
  }
  if (shownState === 'interrupted' && (state === 'running' || state === 'merging')) {
    return { state: 'ready', message: `interrupted while ${state}` };
  }
  return { state, message };
}

function sumUp(tasks: TaskReport[]): Totals {
  const own = tasks.filter(({ group }) => group === null || group === 'expand');
  const byState: Totals['byState'] = {};
  for (const { state } of own) byState[state] = (byState[state] ?? 0) + 1;
  const paths = new Set<string>();
  let beyondLists = 0;
  let isCounted = true;
  let linesAdded = 0;
  let linesRemoved = 0;
  for (const { attempts, diff } of tasks.filter(({ commit }) => commit !== null)) {
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
