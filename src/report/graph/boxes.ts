/** Chooses what the graph of a run shows: every task, groups folded, or bundles of like tasks. Knows no coordinates. */
import type { RunReport, TaskReport } from '../../contract/report.ts';
import type { TaskState } from '../../contract/run.ts';
import { formatDuration } from '../../base/units.ts';
import { count, countStates, attemptsMs } from '../words.ts';
import { BOXES_MAX, foldTasks } from './folds.ts';

export interface Box {
  id: string;
  label: string;
  state: TaskState;
  detail: string;
  needs: string[];
  /** What is drawn inside; empty for a plain box. */
  inside: Box[];
  /** The task that a click leads to. */
  task: string | null;
}

export interface Boxes {
  boxes: Box[];
  /** What is not shown as it is, for people. */
  note: string | null;
}

const ITEMS_MAX = 8;

export function chooseBoxes(report: RunReport): Boxes {
  const children = Map.groupBy(report.tasks, ({ parent }) => parent);
  const top = children.get(null) ?? [];
  if (report.tasks.length <= BOXES_MAX)
    return { boxes: top.map((task) => boxOf(task, children)), note: null };
  const { folds, note, isCut } = foldTasks(report.tasks);
  const byId = new Map(report.tasks.map((task) => [task.id, task]));
  const boxes = folds.map(({ id, label, needs, members }) => {
    const tasks = members.map((member) => byId.get(member)!);
    if (tasks.length === 1) return { ...foldedBox(tasks[0]!, children), needs };
    const states = tasks.map(({ state }) => state);
    return bundle(id, label, states, needs);
  });
  return { boxes, note: isCut ? `${note} The list below has more.` : note };
}

type Children = Map<string | null, TaskReport[]>;

function boxOf(task: TaskReport, children: Children): Box {
  const own = children.get(task.id) ?? [];
  if (own.length === 0) return plainBox(task);
  const inside =
    task.group === 'for-each' ? itemBoxes(own, children) : own.map((child) => boxOf(child, children));
  return {
    ...plainBox(task),
    detail: `${task.group} · ${count(own.length, 'task')} · ${task.state}`,
    inside,
  };
}

/** The items of a for-each are alike: the first few stand for all, those that failed before others. */
function itemBoxes(items: TaskReport[], children: Children): Box[] {
  if (items.length <= ITEMS_MAX) return items.map((item) => boxOf(item, children));
  const failed = items.filter(({ state }) => state === 'failed');
  const shown = new Set([...new Set([...failed, ...items])].slice(0, ITEMS_MAX - 1));
  const rest = items.filter((item) => !shown.has(item));
  const boxes = items.filter((item) => shown.has(item)).map((item) => boxOf(item, children));
  return [
    ...boxes,
    bundle(
      rest[0]!.id,
      `${rest.length} more`,
      rest.map(({ state }) => state),
      [],
    ),
  ];
}

function plainBox(task: TaskReport): Box {
  const ms = attemptsMs(task);
  const tries = task.attempts.length > 1 ? ` · attempt ${task.attempts.length}` : '';
  const detail = `${task.state}${ms === null ? '' : ` · ${formatDuration(ms)}`}${tries}`;
  return {
    id: task.id,
    label: task.label,
    state: task.state,
    detail,
    needs: task.needs,
    inside: [],
    task: task.id,
  };
}

function foldedBox(task: TaskReport, children: Children): Box {
  const own = children.get(task.id) ?? [];
  if (own.length === 0) return plainBox(task);
  return { ...plainBox(task), detail: `${task.state} · ${count(own.length, 'task')}` };
}

function bundle(id: string, label: string, states: TaskState[], needs: string[]): Box {
  const byState: RunReport['totals']['byState'] = {};
  for (const state of states) byState[state] = (byState[state] ?? 0) + 1;
  const counts = countStates(byState);
  const detail = counts.map(({ state, count }) => `${count} ${state}`).join(', ');
  return { id, label, state: counts[0]!.state, detail, needs, inside: [], task: id };
}
