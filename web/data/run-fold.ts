/**
 * A run's state and history while its events are read, one after another, and what its views show of that. It asks
 * nobody for events and knows no clock.
 */
import type { Recorded } from '../../src/contract/event.ts';
import type { AgentEvent } from '../../src/contract/model.ts';
import type { QuestionReport, ReportAt } from '../../src/contract/report.ts';
import type { RunView, ShownRunState } from '../../src/contract/run.ts';
import type { Strip } from '../../src/contract/strip.ts';
import { reportAt } from '../../src/report/report-at.ts';
import { spellControls } from '../../src/report/text/plain.ts';
import { shownTitle } from '../../src/report/tasks.ts';
import { copyRun } from '../../src/schedule/copy.ts';
import { foldRecorded } from '../../src/schedule/fold/format-2.ts';
import { historyOf, newHistory, remember, type History } from '../../src/schedule/history/history.ts';
import type { Node, State } from '../../src/schedule/state.ts';
import { agentLine, hasAgentLine } from '../../src/schedule/views/agent-line.ts';
import { askedWithin, stripOf } from '../../src/schedule/views/strip.ts';
import { beforeEvent, noteTouched } from '../../src/schedule/views/touched.ts';
import { heldOf, runView, taskView } from '../../src/schedule/views/view.ts';
import { agentOf, agentScope } from '../../src/schedule/workflow/agent-of.ts';
import { effectiveLimits } from '../../src/schedule/workflow/scope-of.ts';
import type { AttemptAt, TaskAt, TaskFacts } from '../film/run-at.ts';

const LINE_CHARS_MAX = 300;

export class RunFold {
  state: State | undefined;
  history: History = newHistory();
  /** What the agent of each task last said or did. */
  #said = new Map<string, AgentEvent>();
  #tasks: ReadonlyMap<string, TaskAt> = new Map();
  /** Those that may have changed since `tasks` was asked for. */
  #touched = new Set<Node>();

  add(recorded: Recorded): void {
    const { event } = recorded;
    const before = this.state && beforeEvent(this.state, event);
    if (this.state) {
      if (event.type === 'question.answered') this.#touchAsked(event.id);
      remember(this.history, this.state, recorded);
    }
    this.state = foldRecorded(this.state, recorded);
    if (before) noteTouched(this.state, event, before, this.#touched);
    // In journals of old formats these two say themselves what is open again.
    if (recorded.format !== undefined && (event.type === 'run.resumed' || event.type === 'task.retried'))
      for (const node of this.state.nodes.values()) this.#touched.add(node);
    if (event.type === 'attempt.agent' && hasAgentLine(event.event)) this.#said.set(event.task, event.event);
  }

  /** Each by the same object for as long as nothing of it changes; in the order in which they are shown. */
  tasks(): ReadonlyMap<string, TaskAt> {
    const { nodes } = this.state!;
    const touched = this.#touched;
    if (this.#tasks.size === nodes.size && touched.size === 0) return this.#tasks;
    // What is spent is told of those around a task, too.
    for (const node of touched) if (node.parent) touched.add(node.parent);
    const questions = Map.groupBy(this.history.questions, ({ task }) => task);
    const made = (node: Node): TaskAt => this.#task(node, questions.get(node.id) ?? []);
    if (this.#tasks.size === nodes.size) {
      const tasks = new Map(this.#tasks);
      for (const node of touched) tasks.set(node.id, made(node));
      this.#tasks = tasks;
    } else {
      const isKnown = (node: Node): boolean => this.#tasks.has(node.id) && !touched.has(node);
      const sorted = [...nodes.values()].toSorted((a, b) => (a.order < b.order ? -1 : 1));
      this.#tasks = new Map(
        sorted.map((node) => [node.id, isKnown(node) ? this.#tasks.get(node.id)! : made(node)]),
      );
    }
    this.#touched = new Set();
    return this.#tasks;
  }

  /** Another one that stands where this one stands: either can read on, whatever the other reads. */
  copy(): RunFold {
    const copy = new RunFold();
    copy.#tasks = this.tasks();
    copy.#said = new Map(this.#said);
    const { state, history } = copyRun({ state: this.state!, history: this.history });
    copy.state = state;
    copy.history = history;
    return copy;
  }

  run(lastSeq: number): RunView {
    return { ...runView(this.state!), lastSeq };
  }

  strip(barsMax: number): Strip {
    return stripOf(this.state!, this.history, { barsMax });
  }

  report(shownState: ShownRunState): ReportAt {
    const report = reportAt({ state: this.state!, history: this.history, shownState });
    // What is kept goes on to change.
    return {
      ...report,
      questions: report.questions.map((each) => ({ ...each })),
      conflicts: [...report.conflicts],
    };
  }

  #touchAsked(id: string): void {
    const { nodes, questions } = this.state!;
    const node = nodes.get(questions.get(id)?.task ?? '');
    if (node) this.#touched.add(node);
  }

  #task(node: Node, questions: readonly QuestionReport[]): TaskAt {
    const state = this.state!;
    const before = this.#tasks.get(node.id);
    const asked = questions.map(({ askedAtMs, answeredAtMs }) => ({ fromMs: askedAtMs, toMs: answeredAtMs }));
    const said = node.state === 'running' ? this.#said.get(node.id) : undefined;
    const line = said && agentLine(said)?.trim().split('\n')[0]!.slice(0, LINE_CHARS_MAX);
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
    label: spellControls(label),
    kind,
    ...(parent && { parent: parent.id }),
    needs: [...node.needs, ...node.apis.map(({ publisher }) => publisher)].map((need) => need.id),
    title: spellControls(shownTitle(node)),
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
