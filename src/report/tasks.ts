/** The tasks of a report: where each stands, from the state, and what happened to it, from the history. */
import type { AttemptReport, Cost, TaskReport } from '../contract/report.ts';
import type { ShownRunState } from '../contract/run.ts';
import type { Json, Task } from '../contract/workflow.ts';
import { historyOf, type History } from '../schedule/history/history.ts';
import { HISTORY_LIMITS as KEPT } from '../schedule/history/limits.ts';
import { cutAndCount } from '../base/cut-text.ts';
import { sumCosts } from '../schedule/money/cost.ts';
import { isPast, withAllWithin, type Node, type State } from '../schedule/state.ts';
import { taskView } from '../schedule/views/view.ts';
import { withItem } from '../schedule/workflow/with-item.ts';
import { REPORT_LIMITS, shareOut } from './limits.ts';

const TITLE_CHARS_MAX = 200;
const ITEM_CHARS_MAX = 100;

export interface TaskSources {
  state: State;
  history: History;
  shownState: ShownRunState;
}

/** As they are written, those of a task right after it; without their patches, logs and results, and with claims of runtimes as they were made. */
export function reportTasks(sources: TaskSources): TaskReport[] {
  const { state, history } = sources;
  const nodes = [...state.top.values()].flatMap((node) => [...withAllWithin(node)]);
  const fileShares = shareOut(
    nodes.map(({ id }) =>
      historyOf(history, id).attempts.reduce((sum, { changed }) => sum + changed.length, 0),
    ),
    REPORT_LIMITS.changedFilesInAll,
    KEPT.changedFilesPerAttempt,
  );
  return nodes.map((node, index) => ({
    ...reportTask(sources, node, fileShares[index]!),
    cost: costOf(history, node),
    diff: null,
    log: { lines: [], linesLeftOut: 0, droppedBytes: 0 },
  }));
}

function reportTask(
  { state, history, shownState }: TaskSources,
  node: Node,
  filesMax: number,
): Omit<TaskReport, 'cost' | 'diff' | 'log'> {
  const { attempts, access, denied, deniedLeftOut, services, output } = historyOf(history, node.id);
  return {
    id: node.id,
    label: node.label,
    parent: node.parent?.id ?? null,
    group: groupOf(node),
    state: standing(node, shownState),
    agent: agentOf(node.task),
    title: shownTitle(node),
    needs: [...node.needs, ...node.apis.map(({ publisher }) => publisher)].map(({ id }) => id),
    attempts: reportAttempts(attempts, filesMax),
    startedAtMs: node.startedAtMs ?? null,
    endedAtMs: node.state === 'skipped' ? null : (node.endedAtMs ?? null),
    reason: node.outcome?.kind === 'failed' ? node.outcome.reason : null,
    message: messageOf(state, node, shownState),
    picked: node.picked?.candidate ?? null,
    ...(node.isReplaced && { isReplaced: true as const }),
    ...((node.isChild === true || isPast(node)) && { isPast: true as const }),
    commit: node.branchCommit ?? null,
    access,
    denied,
    deniedLeftOut,
    ...(services.length > 0 && { services }),
    output,
    result: null,
  };
}

function groupOf({ kind, isUncounted, own }: Node): TaskReport['group'] {
  if (isUncounted && kind !== 'work' && kind !== 'approve') return kind;
  return own ? 'expand' : null;
}

/** What no engine drives does not run. */
function standing({ state }: Node, shownState: ShownRunState): TaskReport['state'] {
  return isCutOff(state, shownState) ? 'ready' : state;
}

function isCutOff(state: Node['state'], shownState: ShownRunState): boolean {
  return shownState === 'interrupted' && (state === 'running' || state === 'merging');
}

function messageOf({ questions }: State, node: Node, shownState: ShownRunState): string | null {
  if (isCutOff(node.state, shownState)) return `interrupted while ${node.state}`;
  const asked = node.state === 'asking' ? questions.get(node.id)?.text : undefined;
  const message = asked ?? taskView(node).message;
  return message === undefined ? null : cutAndCount(message, KEPT.messageChars);
}

/** The last attempts keep their lists of files; the count stays with all. */
function reportAttempts(attempts: readonly AttemptReport[], filesMax: number): AttemptReport[] {
  let left = filesMax;
  return attempts
    .toReversed()
    .map((attempt) => {
      const changed = attempt.changed.slice(0, left);
      left -= changed.length;
      return { ...attempt, changed };
    })
    .toReversed();
}

function costOf(history: History, { id, children, summaries = [] }: Node): Cost {
  const own = historyOf(history, id).attempts.map(({ cost }) => cost);
  return sumCosts([...own, ...[...children, ...summaries].map((within) => costOf(history, within))]);
}

function agentOf({ agent, handoff, race }: Task): string | null {
  if (typeof agent === 'string') return agent;
  if (Array.isArray(race)) return race.join(', ');
  return agent?.runtime ?? handoff?.join(' → ') ?? null;
}

/** The first line of what it is to do. */
export function shownTitle(node: Node): string {
  const { task } = node;
  const question = typeof task.approve === 'string' ? task.approve : task.approve?.question;
  const words = task.description ?? task.prompt ?? task.run ?? question ?? task.uses ?? '';
  return withItem(cutAndCount(words.trim().split('\n')[0]!, TITLE_CHARS_MAX), node, nameOf);
}

function nameOf(item: Json): string {
  return cutAndCount(typeof item === 'string' ? item : JSON.stringify(item), ITEM_CHARS_MAX);
}
