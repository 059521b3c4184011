/** The boxes of a run's graph and where they stand. It knows no states: a moment of the film is the same boxes, painted anew. */
import { BOXES_MAX, foldTasks } from '../../../../src/report/graph/folds.ts';
import { layOut } from '../../../../src/report/graph/layout.ts';
import type { TaskAt, TaskFacts } from '../../../film/run-at.ts';

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface GraphBox extends Rectangle {
  id: string;
  label: string;
  /** `frame`: what is within it is drawn inside, and only its head can be pressed. */
  kind: 'task' | 'pips' | 'frame';
  /** The tasks that it stands for: one, unless it is a fold. */
  members: readonly string[];
  /** The tasks that are its pips. */
  pips: readonly string[];
  group: TaskFacts['kind'];
}

export interface GraphLine {
  from: GraphBox;
  to: GraphBox;
  /** Down the graph; the first leaves `from`, which may be drawn lower than its place is high. */
  stops: readonly { enterY: number; exitY: number; x: number }[];
  bounds: Rectangle;
}

export interface GraphModel {
  width: number;
  height: number;
  boxes: readonly GraphBox[];
  lines: readonly GraphLine[];
  byId: ReadonlyMap<string, GraphBox>;
  /** What is not shown as it is. */
  note: string | null;
}

const TASK_WIDTH = 152;
/** Without what the task does just now, and with it. */
export const LOW = 50;
export const HIGH = 80;
const GROUP_WIDTH = 234;
export const PIPS_A_ROW = 8;
export const PIPS_MAX = 16;
const HEAD = 44;
const PIP_ROW = 21;
const SIDE = 14;
/** Groups whose tasks follow one another or are alike; all others have a graph of their own. */
const PIPPED: ReadonlySet<TaskFacts['kind']> = new Set(['for-each', 'handoff', 'race', 'continuous']);

type Children = ReadonlyMap<string | null, readonly TaskFacts[]>;

/** The same model for as long as there are the same tasks. */
export function modelMaker(): (tasks: readonly TaskAt[], isWhole: boolean) => GraphModel {
  let known: { facts: readonly TaskFacts[]; isWhole: boolean; model: GraphModel } | undefined;
  return (tasks, isWhole) => {
    const facts = tasks.map((task) => task.facts);
    if (known && known.isWhole === isWhole && areSame(known.facts, facts)) return known.model;
    known = { facts, isWhole, model: modelOf(facts, isWhole) };
    return known.model;
  };
}

/** `isWhole`: no folds, however many tasks there are. */
function modelOf(facts: readonly TaskFacts[], isWhole = false): GraphModel {
  const children = Map.groupBy(facts, ({ parent }) => parent ?? null);
  const top = children.get(null) ?? [];
  if (facts.length <= BOXES_MAX || isWhole) {
    const level = levelOf(top.map((task) => planOf(task, children)));
    return finish(level, null);
  }
  const foldable = facts.map(({ id, label, parent = null, needs }) => ({ id, label, parent, needs }));
  const { folds, note, isCut } = foldTasks(foldable);
  const byId = new Map(top.map((task) => [task.id, task]));
  const plans = folds.map(({ id, label, needs, members }): Plan => {
    const task = byId.get(id)!;
    const within = (children.get(id) ?? []).map((child) => child.id);
    const pips = members.length > 1 ? members : within;
    const box = { id, label, members, pips, group: task.kind };
    if (pips.length === 0) return { ...box, kind: 'task', needs, ...sizeOf(task) };
    return { ...box, kind: 'pips', needs, ...pipsSize(pips.length) };
  });
  return finish(levelOf(plans), isCut ? `${note} The list of tasks has all of them.` : note);
}

/** A box before it has a place; `inner` is what is drawn in a frame. */
interface Plan extends Omit<GraphBox, 'x' | 'y'> {
  needs: readonly string[];
  inner?: Level;
}

interface Level {
  width: number;
  height: number;
  boxes: GraphBox[];
  lines: Omit<GraphLine, 'bounds'>[];
}

function planOf(task: TaskFacts, children: Children): Plan {
  const own = children.get(task.id) ?? [];
  const { id, label, kind: group, needs } = task;
  const box = { id, label, group, needs, members: [id] };
  if (own.length === 0) return { ...box, kind: 'task', pips: [], ...sizeOf(task) };
  const ids = new Set(own.map((child) => child.id));
  const isGraph = own.some((child) => children.has(child.id) || child.needs.some((need) => ids.has(need)));
  if (PIPPED.has(group) || !isGraph)
    return { ...box, kind: 'pips', pips: own.map((child) => child.id), ...pipsSize(own.length) };
  const inner = levelOf(own.map((child) => planOf(child, children)));
  const width = Math.max(GROUP_WIDTH, inner.width + 2 * SIDE);
  return { ...box, kind: 'frame', pips: [], inner, width, height: HEAD + inner.height + SIDE };
}

/** Our layout goes from left to right; the page goes down. */
function levelOf(plans: readonly Plan[]): Level {
  const turned = plans.map(({ id, width, height, needs }) => ({
    id,
    width: height,
    height: width,
    needs: [...needs],
  }));
  const layout = layOut(turned);
  const boxes: GraphBox[] = [];
  const lines: Level['lines'] = [];
  const byId = new Map<string, GraphBox>();
  for (const { inner, needs: _, ...plan } of plans) {
    const { x: y, y: x } = layout.at.get(plan.id)!;
    const box: GraphBox = { ...plan, x, y };
    byId.set(plan.id, box);
    boxes.push(box);
    if (!inner) continue;
    const [dx, dy] = [x + (plan.width - inner.width) / 2, y + HEAD];
    for (const within of inner.boxes) {
      within.x += dx;
      within.y += dy;
      boxes.push(within);
    }
    for (const { from, to, stops } of inner.lines) {
      const moved = stops.map((stop) => ({
        enterY: stop.enterY + dy,
        exitY: stop.exitY + dy,
        x: stop.x + dx,
      }));
      lines.push({ from, to, stops: moved });
    }
  }
  for (const { from, to, stops } of layout.lines) {
    const down = stops.map(({ enterX, exitX, y }) => ({ enterY: enterX, exitY: exitX, x: y }));
    lines.push({ from: byId.get(from)!, to: byId.get(to)!, stops: down });
  }
  return { width: layout.height, height: layout.width, boxes, lines };
}

function finish({ width, height, boxes, lines }: Level, note: string | null): GraphModel {
  return {
    width,
    height,
    boxes,
    lines: lines.map((line) => ({ ...line, bounds: boundsOf(line) })),
    byId: new Map(boxes.map((box) => [box.id, box])),
    note,
  };
}

function boundsOf({ from, stops }: Omit<GraphLine, 'bounds'>): Rectangle {
  let [left, right] = [Infinity, -Infinity];
  for (const { x } of stops) [left, right] = [Math.min(left, x), Math.max(right, x)];
  return { x: left, width: right - left, y: from.y, height: stops.at(-1)!.enterY - from.y };
}

/** As high as it may become: a box that grew would move all others. */
function sizeOf({ kind }: TaskFacts): { width: number; height: number } {
  return { width: TASK_WIDTH, height: kind === 'approve' ? LOW : HIGH };
}

function pipsSize(count: number): { width: number; height: number } {
  const rows = count > PIPS_MAX ? 1 : Math.ceil(count / PIPS_A_ROW);
  return { width: GROUP_WIDTH, height: LOW + 3 + rows * PIP_ROW };
}

function areSame(some: readonly TaskFacts[], others: readonly TaskFacts[]): boolean {
  return (
    some.length === others.length &&
    some.every((one, n) => {
      const other = others[n]!;
      if (one === other) return true;
      return (
        one.id === other.id &&
        one.label === other.label &&
        one.parent === other.parent &&
        one.kind === other.kind &&
        one.needs.length === other.needs.length &&
        one.needs.every((need, at) => need === other.needs[at])
      );
    })
  );
}
