/** Chooses what the graph of a run shows: every task, groups folded, or bundles of like tasks. Knows no coordinates. */
import type { RunReport, TaskReport } from '../../contract/report.ts';
import type { TaskState } from '../../contract/run.ts';
import { formatDuration } from '../../base/units.ts';
import { count, countStates, attemptsMs } from '../words.ts';

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

const BOXES_MAX = 200;
const ITEMS_MAX = 8;

export function chooseBoxes(report: RunReport): Boxes {
  const children = Map.groupBy(report.tasks, ({ parent }) => parent);
  const top = children.get(null) ?? [];
  if (report.tasks.length <= BOXES_MAX)
    return { boxes: top.map((task) => boxOf(task, children)), note: null };
  const folded = top.map((task) => foldedBox(task, children));
  const size = count(report.tasks.length, 'task');
  if (folded.length <= BOXES_MAX)
    return { boxes: folded, note: `${size}: those within another are folded into it.` };
  const alike = bundleBy(folded, likenessOf(folded));
  const note = `${size}: those with the same needs and the same followers share a box.`;
  if (alike.length <= BOXES_MAX) return { boxes: alike, note };
  const layers = bundleBy(folded, layerOf(folded));
  if (layers.length <= BOXES_MAX) {
    return { boxes: layers, note: `${size}: those that are equally far from the start share a box.` };
  }
  return {
    boxes: layers.slice(0, BOXES_MAX),
    note: `${size}, too many to draw: the first ${BOXES_MAX} layers are shown. The list below has more.`,
  };
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

function likenessOf(boxes: Box[]): (box: Box) => string {
  const followers = followersOf(boxes);
  return ({ id, needs }) => JSON.stringify([needs, (followers.get(id) ?? []).map((box) => box.id)]);
}

function followersOf(boxes: Box[]): Map<string, Box[]> {
  const followers = new Map<string, Box[]>();
  for (const box of boxes) {
    for (const need of box.needs) {
      const known = followers.get(need);
      if (known) known.push(box);
      else followers.set(need, [box]);
    }
  }
  return followers;
}

/** How far a box is from the start. By rounds, not by recursion: a chain may be ten thousand long. */
function layerOf(boxes: Box[]): (box: Box) => string {
  const layers = new Map<string, number>();
  const followers = followersOf(boxes);
  const open = new Map(boxes.map(({ id, needs }) => [id, needs.length]));
  let round = boxes.filter(({ needs }) => needs.length === 0);
  for (let layer = 0; round.length > 0; layer += 1) {
    const next: Box[] = [];
    for (const { id } of round) {
      layers.set(id, layer);
      for (const follower of followers.get(id) ?? []) {
        const left = open.get(follower.id)! - 1;
        open.set(follower.id, left);
        if (left === 0) next.push(follower);
      }
    }
    round = next;
  }
  return ({ id }) => String(layers.get(id) ?? -1);
}

/** One box for all of the same kind, named after the first. */
function bundleBy(boxes: Box[], kindOf: (box: Box) => string): Box[] {
  const kinds = Map.groupBy(boxes, kindOf);
  const standsFor = new Map<string, string>();
  for (const alike of kinds.values()) for (const { id } of alike) standsFor.set(id, alike[0]!.id);
  return [...kinds.values()].map((alike) => {
    const first = alike[0]!;
    const needs = new Set(alike.flatMap((box) => box.needs.map((need) => standsFor.get(need) ?? need)));
    needs.delete(first.id);
    if (alike.length === 1) return { ...first, needs: [...needs] };
    const states = alike.map(({ state }) => state);
    return bundle(first.id, `${first.label} + ${alike.length - 1}`, states, [...needs]);
  });
}

function bundle(id: string, label: string, states: TaskState[], needs: string[]): Box {
  const byState: RunReport['totals']['byState'] = {};
  for (const state of states) byState[state] = (byState[state] ?? 0) + 1;
  const counts = countStates(byState);
  const detail = counts.map(({ state, count }) => `${count} ${state}`).join(', ');
  return { id, label, state: counts[0]!.state, detail, needs, inside: [], task: id };
}
