/**
 * Who owns which files, from the write scopes that tasks declare, and which tasks could be at the same file at the
 * same time. A task without a write scope owns nothing. Pure; globs that are no globs are told of elsewhere.
 */
import { normalizeGlob, parseGlob, type Glob } from '../../base/glob-syntax.ts';
import { covers, overlapOf } from '../../base/globs.ts';
import type { Agent, Scope, Task, Tasks, Workflow } from '../../contract/workflow.ts';
import { effectiveScope } from '../../schedule/workflow/scope-of.ts';
import { itemNames } from '../../schedule/views/task-names.ts';
import { isTemplate } from '../../schedule/workflow/glob-template.ts';
import { hasTemplate } from '../../schedule/workflow/item-fields.ts';
import { scopeOfItem } from './items.ts';
import { checkGraph, type Graph } from './graph.ts';
import { GlobIndex } from './glob-index.ts';
import type { Path, Problem } from '../source/problem.ts';

const OWNERS_MAX = 20_000;
/** A line has room for some. */
const UNBOUND_MAX = 100;
const OVERLAPS_MAX = 100;
const COMPARISONS_MAX = 500_000;

export interface Owner {
  pattern: string;
  /** As a run names it: `release/build` is the task "build" of the workflow that "release" uses. */
  task: string;
  /** Its name, or its runtime where it has none; `run` for a plain command. */
  agent: string;
  shared: boolean;
}

export type Unbound = Pick<Owner, 'task' | 'agent'>;

interface Overlap {
  a: string;
  b: string;
  patternA: string;
  patternB: string;
  /** A path that both own. */
  example: string;
  /** Where `b` gets its scope. */
  path: Path;
}

export interface Ownership {
  owners: Owner[];
  overlaps: Overlap[];
  /** Whether all scopes could be compared. */
  isComplete: boolean;
}

export function ownership(workflow: Workflow, graph: Graph = checkGraph(workflow.tasks)): Ownership {
  const owners: Owner[] = [];
  listOwners(workflow, '', owners);
  return { owners, ...findOverlaps(groupByScope(workflow), depthsOf(workflow.tasks), graph) };
}

/** Who may write every file, since no scope says which: they own none. The first of them. */
export function unboundOf(workflow: Workflow): Unbound[] {
  const found: Unbound[] = [];
  listUnbound(workflow, '', found);
  return found;
}

export function checkOwnership(workflow: Workflow, graph: Graph): Problem[] {
  if (graph.problems.length > 0) return []; // who comes before whom is not known
  const groups = groupByScope(workflow);
  if (groups.length === 0) return [];
  const { overlaps, isComplete } = findOverlaps(groups, depthsOf(workflow.tasks), graph);
  const problems = overlaps.map(({ a, b, patternA, patternB, example, path }): Problem => {
    const through = patternA === patternB ? `both by "${patternA}"` : `by "${patternA}" and "${patternB}"`;
    return {
      path,
      message: `tasks "${a}" and "${b}" can run at the same time and own the same file, such as ${example} (${through}); let one need the other, narrow the globs, or name the file under "shared" in both scopes`,
    };
  });
  if (!isComplete) {
    const message = `the write scopes of the tasks have too many different globs to compare (over ${COMPARISONS_MAX} pairs); begin globs with a directory, or use fewer`;
    problems.push({ path: ['tasks'], atKey: true, message });
  }
  return problems;
}

/** A task, or one within it, that has a scope. */
interface Member {
  /** The task of the workflow at hand: it says who comes before whom. */
  top: string;
  /** Its place among the tasks. */
  order: number;
  task: string;
  /** Of one with a scope of its own in a for-each: the others of it run at the same time. */
  item?: number | undefined;
  path: Path;
}

interface Owned {
  glob: Glob;
  shared: boolean;
}

/** All that have the same scope: it is compared once. */
interface Group {
  owned: Owned[];
  members: Member[];
}

interface Scoped {
  agent: string;
  /** The place of the item of a for-each whose own scope it is. */
  item?: number;
  /** What people call it. */
  task: string;
  scope: Scope;
  path: Path;
}

/** Those who do a task and own something, in the order of their work; item by item where each has its own scope. */
function scopedAgents(workflow: Workflow, name: string, task: Task): Scoped[] {
  const items = task['for-each'];
  if (!Array.isArray(items) || !hasTemplate(task)) return agentsOf(workflow, name, task).filter(isOwner);
  const names = itemNames(name, items);
  return items.flatMap((value, item) => {
    const scope = scopeOfItem(task, value, item);
    if (scope === undefined) return []; // told of elsewhere
    const found = agentsOf(workflow, name, { ...task, scope }).filter(isOwner);
    return found.map((scoped) => ({ ...scoped, item, task: names[item]! }));
  });
}

function isOwner({ scope: { write, shared = [] } }: Scoped): boolean {
  return write !== undefined && write.length + shared.length > 0;
}

/** All who do a task. */
function agentsOf(workflow: Workflow, name: string, task: Task): Scoped[] {
  const found: Scoped[] = [];
  const at = ['tasks', name];
  const add = (agent: Agent | undefined, called: string, path: Path): void => {
    const scope = effectiveScope(task, agent);
    const isOwn = task.scope?.write !== undefined || task.scope?.shared !== undefined;
    found.push({ agent: called, task: name, scope, path: isOwn ? [...at, 'scope'] : path });
  };
  const byName = (agent: string): Agent | undefined =>
    Object.hasOwn(workflow.agents, agent) ? workflow.agents[agent] : undefined;
  if (typeof task.agent === 'string') add(byName(task.agent), task.agent, [...at, 'agent']);
  else if (task.agent) add(task.agent, task.agent.runtime, [...at, 'agent', 'scope']);
  else if (task.run !== undefined) add(undefined, 'run', [...at, 'scope']);
  for (const [n, agent] of (task.handoff ?? []).entries()) add(byName(agent), agent, [...at, 'handoff', n]);
  // Candidates of one race may own the same: one of them is merged.
  for (const [n, agent] of (Array.isArray(task.race) ? task.race : []).entries())
    add(byName(agent), agent, [...at, 'race', n]);
  return found;
}

function nestedOf(workflow: Workflow, task: Task): Workflow | undefined {
  if (task.uses === undefined || !Object.hasOwn(workflow.nested ?? {}, task.uses)) return undefined;
  return workflow.nested?.[task.uses];
}

function listOwners(workflow: Workflow, within: string, owners: Owner[]): void {
  for (const [name, task] of Object.entries(workflow.tasks)) {
    if (owners.length >= OWNERS_MAX) return;
    for (const { agent, scope, task: called } of scopedAgents(workflow, name, task)) {
      for (const { glob, shared } of ownedBy(scope))
        owners.push({ pattern: glob.text, task: `${within}${called}`, agent, shared });
    }
    const nested = nestedOf(workflow, task);
    if (nested) listOwners(nested, `${within}${name}/`, owners);
  }
}

function listUnbound(workflow: Workflow, within: string, found: Unbound[]): void {
  for (const [name, task] of Object.entries(workflow.tasks)) {
    if (found.length >= UNBOUND_MAX) return;
    const isCollected = (task.workspace ?? workflow.workspace) !== 'none';
    for (const { agent, scope } of isCollected ? agentsOf(workflow, name, task) : [])
      if (scope.write === undefined) found.push({ task: `${within}${name}`, agent });
    const nested = nestedOf(workflow, task);
    if (nested) listUnbound(nested, `${within}${name}/`, found);
  }
}

function ownedBy({ write = [], shared = [] }: Scope): Owned[] {
  const parsed = (globs: readonly string[], isShared: boolean): Owned[] =>
    globs
      .filter((glob) => !isTemplate(glob) && 'glob' in normalizeGlob(glob))
      .map((glob) => ({ glob: parseGlob(glob), shared: isShared }));
  return [...parsed(write, false), ...parsed(shared, true)];
}

/** What a used workflow owns counts for the task that uses it; of tasks in it with the same scope, the first. */
function groupByScope(workflow: Workflow, known = new Map<Workflow, Group[]>()): Group[] {
  const before = known.get(workflow);
  if (before) return before;
  const groups = new Map<string, Group>();
  const put = (key: string, owned: () => Owned[], member: Member): void => {
    const group = groups.get(key);
    if (!group) groups.set(key, { owned: owned(), members: [member] });
    else if (!isSame(group.members.at(-1)!, member)) group.members.push(member);
  };
  for (const [order, [name, task]] of Object.entries(workflow.tasks).entries()) {
    for (const { scope, path, item, task: called } of scopedAgents(workflow, name, task))
      put(keyOf(scope), () => ownedBy(scope), { top: name, order, task: called, item, path });
    const nested = nestedOf(workflow, task);
    for (const { owned, members } of nested ? groupByScope(nested, known) : []) {
      const key = JSON.stringify([
        owned.filter(({ shared }) => !shared).map(({ glob }) => glob.text),
        owned.filter(({ shared }) => shared).map(({ glob }) => glob.text),
      ]);
      const path = ['tasks', name, 'uses'];
      put(key, () => owned, { top: name, order, task: `${name}/${members[0]!.task}`, path });
    }
  }
  const all = [...groups.values()];
  known.set(workflow, all);
  return all;
}

function isSame(a: Member, b: Member): boolean {
  return a.top === b.top && a.item === b.item;
}

function keyOf({ write = [], shared = [] }: Scope): string {
  return JSON.stringify([write, shared]);
}

function findOverlaps(
  groups: readonly Group[],
  depths: ReadonlyMap<string, number>,
  graph: Graph,
): Pick<Ownership, 'overlaps' | 'isComplete'> {
  const overlaps: Overlap[] = [];
  const pairs = new Pairs(groups, depths, graph);
  const index = new GlobIndex<{ group: Group; owned: Owned }>();
  let comparisonsLeft = COMPARISONS_MAX;
  for (const group of groups) {
    const settled = new Set<Group>();
    const own = group.owned.find((one) => !isShared(group, one, one));
    const [first, second] = (own && pairs.concurrentWithin(group)) ?? [];
    if (own && first && second)
      overlaps.push(overlap(first, second, own, own, overlapOf(own.glob, own.glob)!));
    for (const one of group.owned) {
      for (const { group: other, owned } of index.near(one.glob)) {
        if (settled.has(other)) continue;
        if (--comparisonsLeft < 0) return { overlaps, isComplete: false };
        const example = overlapOf(owned.glob, one.glob);
        if (example === undefined) continue;
        if (isShared(other, owned, one) && isShared(group, owned, one)) continue;
        settled.add(other);
        const [a, b] = pairs.concurrent(other, group) ?? [];
        if (a && b) overlaps.push(overlap(a, b, owned, one, example));
        if (overlaps.length >= OVERLAPS_MAX) return { overlaps, isComplete: true };
      }
    }
    for (const owned of group.owned) index.add(owned.glob, { group, owned });
  }
  return { overlaps, isComplete: true };
}

/** As written: the later task is the one that is pointed at. */
function overlap(a: Member, b: Member, ownedA: Owned, ownedB: Owned, example: string): Overlap {
  if (a.order > b.order) return overlap(b, a, ownedB, ownedA, example);
  const [patternA, patternB] = [ownedA.glob.text, ownedB.glob.text];
  return { a: a.task, b: b.task, patternA, patternB, example, path: b.path };
}

/** What both globs match lies in each of them, so that it is enough if one is shared as a whole. */
function isShared({ owned }: Group, one: Owned, other: Owned): boolean {
  return owned.some(({ glob, shared }) => shared && (covers(glob, one.glob) || covers(glob, other.glob)));
}

/** Finds two tasks, one of each group, neither of which comes before the other. */
class Pairs {
  readonly #depths: ReadonlyMap<string, number>;
  readonly #graph: Graph;
  readonly #sorted = new Map<Group, Member[]>();
  readonly #isChain = new Map<Group, boolean>();

  constructor(groups: readonly Group[], depths: ReadonlyMap<string, number>, graph: Graph) {
    this.#depths = depths;
    this.#graph = graph;
    for (const group of groups) {
      const sorted = this.#byDepth(group.members);
      this.#sorted.set(group, sorted);
      this.#isChain.set(group, this.#unordered(sorted) === undefined);
    }
  }

  concurrentWithin(group: Group): [Member, Member] | undefined {
    return this.#unordered(this.#sorted.get(group)!);
  }

  concurrent(a: Group, b: Group): [Member, Member] | undefined {
    const [ofA, ofB] = [this.#sorted.get(a)!, this.#sorted.get(b)!];
    if (this.#isChain.get(a) && this.#isChain.get(b)) {
      const found = this.#unordered(this.#byDepth([...ofA, ...ofB]));
      return found && (ofB.includes(found[0]) ? [found[1], found[0]] : found);
    }
    for (const one of ofA) {
      for (const other of ofB) if (!this.#areOrdered(one, other)) return [one, other];
    }
    return undefined;
  }

  /** By depth, a row of tasks that all come one after another has each right after one it waits for. */
  #unordered(sorted: readonly Member[]): [Member, Member] | undefined {
    const n = sorted.findIndex((member, at) => at > 0 && !this.#areOrdered(sorted[at - 1]!, member));
    return n === -1 ? undefined : [sorted[n - 1]!, sorted[n]!];
  }

  #byDepth(members: readonly Member[]): Member[] {
    return members.toSorted((a, b) => this.#depths.get(a.top)! - this.#depths.get(b.top)!);
  }

  #areOrdered(one: Member, other: Member): boolean {
    const [a, b] = [one.top, other.top];
    if (a === b) return one.item === other.item;
    return this.#graph.isUpstream(b, a) !== false || this.#graph.isUpstream(a, b) !== false;
  }
}

/** How many tasks lie before each, at the longest; a publication does not count, since its task goes on. */
function depthsOf(tasks: Tasks): Map<string, number> {
  const depths = new Map(Object.keys(tasks).map((name) => [name, 0]));
  const dependents = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const [name, { needs }] of Object.entries(tasks)) {
    const known = [...new Set(needs)].filter((need) => depths.has(need));
    open.set(name, known.length);
    for (const need of known) {
      const list = dependents.get(need);
      if (list) list.push(name);
      else dependents.set(need, [name]);
    }
  }
  const ready = [...depths.keys()].filter((name) => open.get(name) === 0);
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    for (const next of dependents.get(name) ?? []) {
      depths.set(next, Math.max(depths.get(next)!, depths.get(name)! + 1));
      open.set(next, open.get(next)! - 1);
      if (open.get(next) === 0) ready.push(next);
    }
  }
  return depths;
}
