/** Makes the report of a run from its state and its history. Pure: it reads no clock, no file and no git. */
import type { Recorded } from '../contract/event.ts';
import type { AttemptReport, RunReport, TaskReport } from '../contract/report.ts';
import type { ShownRunState } from '../contract/run.ts';
import { foldRecorded } from '../schedule/fold/format-2.ts';
import { newHistory, remember, type History } from '../schedule/history/history.ts';
import { isGroup, nodeOf, type State } from '../schedule/state.ts';
import { groupResult } from '../schedule/workflow/group-result.ts';
import { isolationLines } from './isolation.ts';
import { REPORT_LIMITS, shareOut } from './limits.ts';
import { LogTails } from './log-tails.ts';
import { nextCommands } from './next.ts';
import { reportDiff } from './patch/patch.ts';
import type { Patch } from './patch/patch-reader.ts';
import { reportAt } from './report-at.ts';
import { reportTasks } from './tasks.ts';

/** By how much what a runtime says may differ from what was metered. */
const DIFFERS_BY = 0.05;

export interface ReportExtra {
  /** The patch of each task, by its id. */
  diffs: Map<string, Patch>;
  /** Whether an engine drives the run is not in its journal. */
  shownState: ShownRunState;
  /** Of what happened and the files of the branch. */
  hash?: string;
  /** What all of it changed, between the base and the head. */
  changed?: { files: number; linesAdded: number; linesRemoved: number };
}

/** What a report is made of, read event by event. */
export class ReportReader {
  readonly #history = newHistory();
  readonly #logs = new LogTails();
  #state: State | undefined;

  /** The next event, with references in place of large values; `told` is the same with as much as a report has room for. */
  add(recorded: Recorded, told: Recorded['event'] = recorded.event): void {
    if (this.#state) remember(this.#history, this.#state, { event: told, atMs: recorded.atMs });
    this.#state = foldRecorded(this.#state, recorded);
    this.#logs.add(recorded.event, this.#state.nodes.size);
  }

  /** Once; undefined where there was no event. */
  report(extra: ReportExtra): RunReport | undefined {
    return this.#state && reportOn(this.#state, this.#history, this.#logs, extra);
  }
}

export function buildReport(events: Iterable<Recorded>, extra: ReportExtra): RunReport {
  const reader = new ReportReader();
  for (const recorded of events) reader.add(recorded);
  const report = reader.report(extra);
  if (!report) throw new TypeError('a journal without run.created has no report');
  return report;
}

function reportOn(state: State, history: History, logs: LogTails, extra: ReportExtra): RunReport {
  const { diffs, shownState, changed, hash = null } = extra;
  const sources = { state, history, shownState };
  const tasks = completed(reportTasks(sources), state, diffs, logs);
  const { version, run, totals, ...rest } = reportAt(sources, tasks);
  const isolation = isolationLines(
    history.isolations,
    [...state.nodes.values()].some(({ attempt }) => attempt > 0),
  );
  const report: Omit<RunReport, 'next'> = {
    version,
    run: { ...run, hash },
    isolation,
    totals: {
      ...totals,
      ...(changed && {
        changedFiles: changed.files,
        linesAdded: changed.linesAdded,
        linesRemoved: changed.linesRemoved,
      }),
    },
    ...rest,
  };
  return { ...report, next: nextCommands(report) };
}

/** With results, patches and logs, and each claim of a runtime beside what was metered. */
function completed(
  tasks: readonly TaskReport[],
  state: State,
  diffs: ReadonlyMap<string, Patch>,
  logs: LogTails,
): TaskReport[] {
  const diffShares = shareOut(
    tasks.map(({ id }) => diffs.get(id)?.text.length ?? 0),
    REPORT_LIMITS.diffCharsInAll,
    REPORT_LIMITS.diffCharsPerTask,
  );
  const logShares = shareOut(
    tasks.map(({ id }) => logs.chars(id)),
    REPORT_LIMITS.logCharsInAll,
    REPORT_LIMITS.logCharsPerTask,
  );
  return tasks.map((task, index) => {
    const patch = diffs.get(task.id);
    const node = nodeOf(state, task.id);
    return {
      ...task,
      attempts: task.attempts.map((attempt) => ({ ...attempt, claim: claimOf(attempt) })),
      result: isGroup(node) ? groupResult(node) : null,
      diff: patch === undefined ? null : reportDiff(patch, diffShares[index]!),
      log: logs.report(task.id, logShares[index]!),
    };
  });
}

/** Whether the runtime says something else than what was metered. */
function claimOf({ claim, cost }: AttemptReport): AttemptReport['claim'] {
  if (!claim || cost.tokens === null) return claim;
  const differ = (a: number, b: number): boolean => Math.abs(a - b) > DIFFERS_BY * Math.max(a, b);
  const usdDiffers = claim.usd !== null && cost.usd !== null && differ(claim.usd, cost.usd);
  return { ...claim, differs: usdDiffers || differ(claim.tokens, cost.tokens) };
}
