/** Makes the report of a run from its state and its history. Pure: it reads no clock, no file and no git. */
import type { Recorded } from '../contract/event.ts';
import type { RunReport, TaskReport, RunTotals } from '../contract/report.ts';
import type { ShownRunState } from '../contract/run.ts';
import { foldRecorded } from '../schedule/fold/format-2.ts';
import { newHistory, remember, type History } from '../schedule/history/history.ts';
import { waitReports } from '../schedule/history/waits.ts';
import { sumCosts } from '../schedule/money/cost.ts';
import type { State } from '../schedule/state.ts';
import { branchOf } from '../schedule/views/view.ts';
import { budgetReports } from './budgets.ts';
import { isolationLines } from './isolation.ts';
import { LogTails } from './log-tails.ts';
import { nextCommands } from './next.ts';
import type { Patch } from './patch/patch-reader.ts';
import { reportTasks } from './tasks.ts';
import { committedIn } from './words.ts';

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

/** The same of a state and a history that somebody keeps anyway. */
export function reportOn(state: State, history: History, logs: LogTails, extra: ReportExtra): RunReport {
  const { diffs, shownState, changed } = extra;
  const tasks = reportTasks({ state, history, logs, diffs, shownState });
  const because = (state.state === 'cancelled' && state.because) || null;
  const report: Omit<RunReport, 'next'> = {
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
      hash: extra.hash ?? null,
      dirty: state.dirty,
      inputs: state.inputs,
    },
    isolation: isolationLines(
      history.isolations,
      [...state.nodes.values()].some(({ attempt }) => attempt > 0),
    ),
    totals: {
      ...sumUp(tasks),
      ...(changed && {
        changedFiles: changed.files,
        linesAdded: changed.linesAdded,
        linesRemoved: changed.linesRemoved,
      }),
    },
    tasks,
    conflicts: history.conflicts,
    questions: history.questions,
    messages: history.messages.messages,
    messagesLeftOut: history.messages.leftOut,
    budgets: budgetReports(state, history),
    waits: waitReports(history.waits, state.lastAtMs),
  };
  return { ...report, next: nextCommands(report) };
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
