/**
 * A run's state and history while its events are read, one after another, and what its views show of that. It asks
 * nobody for events and knows no clock.
 */
import type { Recorded } from '../../src/contract/event.ts';
import type { RunReport } from '../../src/contract/report.ts';
import type { RunView, ShownRunState } from '../../src/contract/run.ts';
import type { Strip } from '../../src/contract/strip.ts';
import { LogTails } from '../../src/report/log-tails.ts';
import { reportOn } from '../../src/report/build.ts';
import { shownTitle } from '../../src/report/tasks.ts';
import { foldRecorded } from '../../src/schedule/fold/format-2.ts';
import { historyOf, newHistory, remember, type History } from '../../src/schedule/history/history.ts';
import type { Node, State } from '../../src/schedule/state.ts';
import { agentLine } from '../../src/schedule/views/agent-line.ts';
import { askedWithin, stripOf } from '../../src/schedule/views/strip.ts';
import { heldOf, runView, taskView } from '../../src/schedule/views/view.ts';
import { agentOf, agentScope } from '../../src/schedule/workflow/agent-of.ts';
import { effectiveLimits } from '../../src/schedule/workflow/scope-of.ts';
import type { AttemptAt, TaskAt, TaskFacts } from '../film/run-at.ts';

const LINE_CHARS_MAX = 300;
const NO_LOGS = new LogTails();

export class RunFold {
  state: State | undefined;
  history: History = newHistory();
  /** What the agent of each task last said or did. */
  lastLines = new Map<string, string>();

  add(recorded: Recorded): void {
    if (this.state) remember(this.history, this.state, recorded);
    this.state = foldRecorded(this.state, recorded);
    const { event } = recorded;
    if (event.type !== 'attempt.agent') return;
    const line = agentLine(event.event);
    if (line !== undefined)
      this.lastLines.set(event.task, line.trim().split('\n')[0]!.slice(0, LINE_CHARS_MAX));
  }

  /** Those before it may be told by the same objects where nothing changed. */
  tasks(before: ReadonlyMap<string, TaskAt>): Map<string, TaskAt> {
    const state = this.state!;
    const questions = Map.groupBy(this.history.questions, ({ task }) => task);
    const asked = (id: string): AttemptAt['asked'] =>
      (questions.get(id) ?? []).map(({ askedAtMs, answeredAtMs }) => ({
        fromMs: askedAtMs,
        toMs: answeredAtMs,
      }));
    const nodes = [...state.nodes.values()].toSorted((a, b) => (a.order < b.order ? -1 : 1));
    return new Map(nodes.map((node) => [node.id, this.#task(node, asked(node.id), before.get(node.id))]));
  }

  run(lastSeq: number): RunView {
    return { ...runView(this.state!), lastSeq };
  }

  strip(barsMax: number): Strip {
    return stripOf(this.state!, this.history, { barsMax });
  }

  /** Without patches and without logs, which are asked for by themselves. */
  report(shownState: ShownRunState): RunReport {
    const report = reportOn(this.state!, this.history, NO_LOGS, { diffs: new Map(), shownState });
    // What is kept goes on to change.
    return {
      ...report,
      questions: report.questions.map((each) => ({ ...each })),
      conflicts: [...report.conflicts],
    };
  }

  #task(node: Node, asked: AttemptAt['asked'], before: TaskAt | undefined): TaskAt {
    const state = this.state!;
    const line = node.state === 'running' ? this.lastLines.get(node.id) : undefined;
    const view = taskView(node, line, heldOf(state, node));
    const attempts = historyOf(this.history, node.id).attempts.map((attempt): AttemptAt => {
      const { n, purpose, outcome, startedAtMs, endedAtMs } = attempt;
      return { n, purpose, outcome, startedAtMs, endedAtMs, asked: askedWithin(asked, attempt) };
    });
    if (before && isSame(before.view, view) && isSame(before.attempts, attempts)) return before;
    return { view, attempts, facts: before?.facts ?? factsOf(node) };
  }
}

function factsOf(node: Node): TaskFacts {
  const { id, label, kind, parent } = node;
  const found = agentOf(node, 'work');
  const { model, runtime } = found?.agent ?? {};
  return {
    id,
    label,
    kind,
    ...(parent && { parent: parent.id }),
    needs: [...node.needs, ...node.apis.map(({ publisher }) => publisher)].map((need) => need.id),
    title: shownTitle(node),
    ...(found && { agent: found.name }),
    ...(runtime !== undefined && { runtime }),
    ...(model !== undefined && { model }),
    scope: agentScope(node, 'work'),
    limits: effectiveLimits(node.task, found?.agent),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
