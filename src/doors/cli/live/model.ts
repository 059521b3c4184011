/** What a live view shows of a run: a fold over its events. Pure: it draws nothing and reads no clock. */
import { hostOf } from '../../../contract/services.ts';
import type { EventOf, Recorded } from '../../../contract/event.ts';
import type { Spending } from '../../../contract/model.ts';
import {
  shownCounts,
  type QuestionView,
  type ShownRunState,
  type RunView,
  type TaskState,
} from '../../../contract/run.ts';
import { describeDenied } from '../../../report/words.ts';
import { agentLine } from '../../../schedule/views/agent-line.ts';
import { foldRecorded } from '../../../schedule/fold/format-2.ts';
import { isGroup, isTaskWithin, nodeOf, type Node, type State } from '../../../schedule/state.ts';
import { heldOf, questionView, runView, taskView } from '../../../schedule/views/view.ts';
import { tellHooked } from '../../../report/lines/hook-lines.ts';
import { signOf, workLine, type ShownBy, type TaskSign } from './task-sign.ts';

const LINE_CHARS_MAX = 500;

export interface LiveRow {
  id: string;
  /** What people call it. */
  label: string;
  depth: number;
  state: TaskState;
  agent: string;
  attempt: number;
  /** How long it has been at work; undefined where it has not begun. */
  elapsedMs: number | undefined;
  /** The last thing it printed, or why it is where it is. */
  line: string;
  /** How it looks: what is held looks held. */
  sign: TaskSign;
  /** Undefined where no model was used. */
  spending: Spending | undefined;
}

interface LiveHead extends Pick<RunView, 'spending' | 'limits' | 'paused'> {
  id: string;
  state: ShownRunState;
  sinceMs: number;
  counts: State['counts'];
}

export type ShownQuestion = QuestionView & { label: string };

/** Which question got which answer. */
export interface GivenAnswer extends Pick<EventOf<'question.answered'>, 'answer' | 'by'> {
  /** What people call the task that asked. */
  label: string;
  text: string;
  atMs: number;
}

export interface LiveRows {
  rows: LiveRow[];
  /** Tasks that are not among the rows. */
  left: Partial<Record<TaskState, number>>;
  leftCount: number;
}

/** What needs a person, or is at work, comes before what waits, and that before what is over. */
const RANKS: Record<TaskState, number> = {
  asking: 0,
  running: 1,
  merging: 1,
  failed: 2,
  delayed: 3,
  cancelled: 4,
  ready: 5,
  expanded: 6,
  waiting: 7,
  done: 8,
  skipped: 9,
};

export class LiveModel {
  readonly #lines = new Map<string, string>();
  /** When the run began, or was last resumed: no group is at work since longer. */
  #resumedAtMs = 0;
  #state: State | undefined;
  #lastAnswer: GivenAnswer | undefined;

  /** All events of the run, in their order; what agents printed may be left out. */
  see(events: readonly Recorded[]): void {
    for (const recorded of events) {
      const { event, atMs } = recorded;
      if (event.type === 'run.created' || event.type === 'run.resumed' || event.type === 'task.retried')
        this.#resumedAtMs = atMs;
      if (event.type === 'question.answered') this.#keepAnswer(event, atMs);
      if (this.#state || event.type === 'run.created') this.#state = foldRecorded(this.#state, recorded);
      if (event.type === 'attempt.output' && event.text !== undefined) this.#keepLine(event.task, event.text);
      if (event.type === 'attempt.agent') this.#keepLine(event.task, agentLine(event.event) ?? '');
      if (event.type === 'attempt.denied') this.#keepLine(event.task, `denied: ${describeDenied(event)}`);
      if (event.type === 'attempt.hooked') this.#keepLine(event.task, tellHooked(event));
      if (event.type === 'service.announced')
        this.#keepLine(event.task, `serves http://${hostOf(event.name)}`);
      if (event.type === 'attempt.started' || event.type === 'task.finished') this.#lines.delete(event.task);
    }
  }

  /** Undefined until the run is there. */
  get run(): LiveHead | undefined {
    const state = this.#state;
    if (!state) return undefined;
    const view = runView(state);
    const { spending, limits } = view;
    const { id } = state;
    const money = { ...(spending && { spending }), ...(limits && { limits }) };
    const sinceMs = state.createdAtMs + state.idleMs;
    const { paused } = view;
    const shown = paused ? ('paused' as const) : state.state;
    return { id, state: shown, sinceMs, counts: shownCounts(view), ...money, ...(paused && { paused }) };
  }

  get taskCount(): number {
    return this.#state?.nodes.size ?? 0;
  }

  /** Of the task that is looked at, or of one within it; else the one that was asked first. */
  questionFor(task?: string): ShownQuestion | undefined {
    const open = [...(this.#state?.questions.values() ?? [])];
    const found =
      open.find(
        (question) => task !== undefined && isTaskWithin(nodeOf(this.#state!, question.task), task),
      ) ?? open[0];
    return found && { ...questionView(this.#state!, found), label: this.#labelOf(found.task) };
  }

  /** Whether nobody has answered it yet. */
  isAsked(question: string): boolean {
    return this.#state?.questions.has(question) === true;
  }

  get questionCount(): number {
    return this.#state?.questions.size ?? 0;
  }

  /** The last answer that the run took, whoever gave it. */
  get lastAnswer(): GivenAnswer | undefined {
    return this.#lastAnswer;
  }

  /** Tasks whose agents take messages now, with what people call them. */
  get hearers(): { id: string; label: string }[] {
    const nodes = [...(this.#state?.nodes.values() ?? [])].filter(({ state }) => state === 'running');
    return nodes.flatMap((node) =>
      taskView(node).steerable === false ? [] : [{ id: node.id, label: node.label }],
    );
  }

  /** Whether the task has a pause of its own; the run where none is named. */
  isPaused(task?: string): boolean {
    const of = task === undefined ? this.#state : this.#state?.nodes.get(task);
    return of?.paused !== undefined;
  }

  /** The provider that has to be waited for longest. */
  wait(nowMs: number): { provider: string; leftMs: number; why: string } | undefined {
    const [first] = this.#waits().toSorted((a, b) => b.untilMs - a.untilMs);
    if (!first || first.untilMs <= nowMs) return undefined;
    return { provider: first.provider, leftMs: first.untilMs - nowMs, why: first.why };
  }

  /** At most `limit` tasks: as they are written, those that matter most where there are more. */
  rows(limit: number, nowMs: number): LiveRows {
    const nodes = [...(this.#state?.nodes.values() ?? [])].filter((node) => !isFolded(node));
    const chosen = nodes.length <= limit ? nodes : mostUrgent(nodes, limit);
    const shown = new Set(chosen);
    chosen.sort((a, b) => (a.order < b.order ? -1 : 1));
    const left: LiveRows['left'] = {};
    // What stands for others is not counted at the top either.
    const others = nodes.filter((node) => !shown.has(node) && !node.isUncounted);
    for (const { state } of others) left[state] = (left[state] ?? 0) + 1;
    return {
      rows: chosen.map((node) => this.#row(node, shown, nowMs)),
      left,
      leftCount: others.length,
    };
  }

  /** One of them, wherever it is. */
  row(id: string, nowMs: number): LiveRow | undefined {
    const node = this.#state?.nodes.get(id);
    return node && this.#row(node, new Set(), nowMs);
  }

  #row(node: Node, shown: ReadonlySet<Node>, nowMs: number): LiveRow {
    let depth = 0;
    for (let at = node.parent; at && shown.has(at); at = at.parent) depth++;
    const view = taskView(node, undefined, heldOf(this.#state!, node));
    const { id, state, attempt, agent = '', message, spending } = view;
    const { paused } = this.#state!;
    const sign = signOf(view, { waits: this.#waits(), ...(paused && { paused }) }, nowMs);
    return {
      id,
      label: node.label,
      depth,
      state: sign.word === 'asking' ? 'asking' : state,
      agent,
      attempt,
      elapsedMs: this.#elapsedMs(node, nowMs),
      line: sign.line ?? message ?? (workLine(view.progress, this.#lines.get(id)) || foldedLine(node)),
      sign,
      spending,
    };
  }

  #waits(): ShownBy['waits'] {
    return [...(this.#state?.waits ?? [])].map(([provider, wait]) => ({ provider, ...wait }));
  }

  /** As the report has it: what its attempts took, else how long it is open. */
  #elapsedMs(node: Node, nowMs: number): number | undefined {
    const { startedAtMs, endedAtMs, workedMs, attemptAtMs } = node;
    if (startedAtMs === undefined) return undefined;
    if (attemptAtMs === undefined && workedMs !== undefined) return workedMs;
    const begunMs = attemptAtMs ?? startedAtMs;
    const untilMs = node.held?.by === 'pause' ? node.held.sinceMs : nowMs;
    const elapsedMs =
      endedAtMs === undefined ? untilMs - Math.max(begunMs, this.#resumedAtMs) : endedAtMs - begunMs;
    return (workedMs ?? 0) + Math.max(0, elapsedMs);
  }

  /** Its question is gone once the event is folded. */
  #keepAnswer({ id, answer, by }: EventOf<'question.answered'>, atMs: number): void {
    const question = this.#state?.questions.get(id);
    if (question)
      this.#lastAnswer = { label: this.#labelOf(question.task), text: question.text, answer, by, atMs };
  }

  #labelOf(task: string): string {
    return this.#state?.nodes.get(task)?.label ?? task;
  }

  #keepLine(task: string, text: string): void {
    const lines = text.slice(-LINE_CHARS_MAX * 2).trimEnd();
    const last = lines.slice(lines.lastIndexOf('\n') + 1);
    if (last.trim() !== '') this.#lines.set(task, last.slice(0, LINE_CHARS_MAX));
  }
}

/** Within a group that has ended well: the group itself says enough. */
function isFolded(node: Node): boolean {
  for (let at = node.parent; at; at = at.parent) if (at.state === 'done') return true;
  return false;
}

function foldedLine(node: Node): string {
  const { state, children } = node;
  if (state !== 'done' || children.length === 0) return '';
  if (isGroup(node)) return `all ${children.length} done`;
  const done = children.filter((child) => child.state === 'done').length;
  return `${done} of ${children.length} ${children.length === 1 ? 'child' : 'children'} done`;
}

function mostUrgent(nodes: readonly Node[], limit: number): Node[] {
  const byRank: Node[][] = Array.from({ length: 10 }, () => []);
  for (const node of nodes) byRank[RANKS[node.state]]!.push(node);
  // Of what is over, the latest says most.
  byRank[RANKS.done]!.sort((a, b) => (b.endedAtMs ?? 0) - (a.endedAtMs ?? 0));
  return byRank.flat().slice(0, limit);
}
