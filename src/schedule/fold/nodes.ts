/** Makes the nodes of a run from tasks: at its start, and when for-each, uses, expand, handoff, race or rounds add some. */
import type { EventOf } from '../../contract/event.ts';
import type { Json, Task, Workflow } from '../../contract/workflow.ts';
import { API_NEED } from '../../contract/workflow-words.ts';
import { ExpressionError } from '../expression/failure.ts';
import { turnTask } from '../workflow/handoff.ts';
import { candidateTask, judgeTask } from '../workflow/race.ts';
import { hasTemplate } from '../workflow/item-fields.ts';
import { itemScope } from '../workflow/item-scope.ts';
import type { Interface, Node, State } from '../state.ts';
import { itemNames, roundName, turnName } from '../views/task-names.ts';

export function addTasks(
  state: State,
  tasks: Record<string, Task>,
  workflow: Workflow,
  inputs: Record<string, Json>,
  parent: Node | undefined,
): Node[] {
  const siblings = parent ? new Map<string, Node>() : state.top;
  const interfaces = new Map<string, Interface>();
  const added = Object.entries(tasks).map(([name, task], position) => {
    const place = parent ? freePlace(state, parent, name) : name;
    const node = makeNode({
      id: parent ? `${parent.id}/${place}` : name,
      label: parent ? `${parent.label}/${place}` : name,
      name,
      task,
      workflow,
      inputs,
      parent,
      siblings,
      interfaces,
      order: orderOf(parent, position + (parent?.children.length ?? 0)),
    });
    siblings.set(name, node);
    return node;
  });
  for (const publisher of added)
    for (const name of publisher.task.publishes ?? [])
      interfaces.set(name, { name, publisher, waiters: [], versions: [] });
  for (const node of added) {
    for (const need of node.task.needs) {
      if (need.startsWith(API_NEED)) {
        needInterface(node, need.slice(API_NEED.length));
        continue;
      }
      const needed = siblings.get(need);
      if (!needed) throw new Error(`task ${node.id} needs ${need}, which is not there`);
      node.needs.push(needed);
      needed.dependents.push(node);
    }
    node.unmet = node.needs.length + node.apis.length;
  }
  return register(state, added, parent);
}

/** A planner or a parent that is asked again may call a task like one that failed, which keeps its name. */
export function freePlace(state: State, { id }: Node, name: string): string {
  let place = name;
  for (let n = 2; state.nodes.has(`${id}/${place}`); n++) place = `${name}-${n}`;
  return place;
}

function needInterface(node: Node, name: string): void {
  const needed = node.interfaces.get(name);
  if (!needed) throw new Error(`task ${node.id} needs ${name}, which nobody publishes`);
  node.apis.push(needed);
  needed.waiters.push(node);
}

/** The items of a for-each: the same task, once for each value. They start at once: their needs were met. */
export function addItems(state: State, group: Node, items: Json[]): Node[] {
  const labels = itemNames(group.label, items);
  const added = items.map((value, index) =>
    makeNode({
      ...within(group, index),
      label: labels[index]!,
      ...itemTask(group.task, value, index),
      each: { value, index },
    }),
  );
  return register(state, added, group);
}

/** The next turn of a handoff: it goes on from the one before. */
export function addTurn(state: State, group: Node, { at, agent, rejected }: EventOf<'task.handed'>): Node {
  const index = group.children.length;
  const before = group.children.at(-1);
  const times = group.children.filter(({ turn }) => turn!.agent === agent).length;
  const node = makeNode({
    ...within(group, index),
    label: turnName(group.label, agent, times),
    task: turnTask(group, at),
    turn: { at, agent, ...(rejected && { rejected }) },
  });
  if (before) node.needs.push(before);
  register(state, [node], group);
  return node;
}

/** The candidates of a race: the same task, once for each. They start at once, from what the race starts from. */
export function addCandidates(state: State, group: Node, names: string[]): Node[] {
  const added = names.map((candidate, index) =>
    makeNode({
      ...within(group, index),
      label: turnName(group.label, candidate, 0),
      task: candidateTask(group, index),
      candidate,
    }),
  );
  return register(state, added, group);
}

/** Who judges the candidates of a race that have succeeded. */
export function addJudge(state: State, group: Node): Node {
  const times = group.children.filter(({ candidate = 'judge' }) => candidate === 'judge').length;
  const node = makeNode({
    ...within(group, group.children.length),
    label: turnName(group.label, 'judge', times),
    task: judgeTask(group),
    isJudge: true,
  });
  register(state, [node], group);
  return node;
}

/** What a task within shares with the one that it belongs to, and its place there. */
function within(
  group: Node,
  index: number,
): Pick<
  Node,
  'id' | 'name' | 'workflow' | 'inputs' | 'parent' | 'siblings' | 'interfaces' | 'order' | 'each'
> {
  return {
    id: `${group.id}.${index + 1}`,
    name: group.name,
    workflow: group.workflow,
    inputs: group.inputs,
    parent: group,
    siblings: group.siblings,
    interfaces: group.interfaces,
    order: orderOf(group, index),
    ...(group.each && { each: group.each }),
  };
}

/** The next round of a continuous task: it starts from all that is merged. */
export function addRound(state: State, group: Node, { why }: EventOf<'task.round'>): Node {
  const index = group.children.length;
  const { continuous: _, finalize, needs: __, if: ___, budget: ____, ...task } = group.task;
  const node = makeNode({
    ...within(group, index),
    label: roundName(group.label, index, why),
    task: {
      ...task,
      needs: [],
      // A round that fails is followed by another; what fails is the whole.
      'on-failure': 'continue',
      ...(why === 'final' && finalize !== undefined && { prompt: finalize }),
    },
    round: why,
  });
  node.onTop = true;
  register(state, [node], group);
  return node;
}

/** Where its scope cannot be filled in, the item owns nothing, and fails before it starts. */
function itemTask(task: Task, value: Json, index: number): Pick<Node, 'task' | 'scopeProblem'> {
  if (!hasTemplate(task)) return { task };
  try {
    return { task: { ...task, scope: itemScope(task.scope!, value, index) } };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return {
      task: { ...task, scope: { ...task.scope, write: [], shared: [] } },
      scopeProblem: error.message,
    };
  }
}

/** `parent` is the task around them whose end waits for theirs. */
export function register(state: State, added: Node[], parent: Node | undefined): Node[] {
  for (const node of added) {
    state.nodes.set(node.id, node);
    if (node.kind === 'continuous') state.continuous.push(node);
    state.counts.waiting = (state.counts.waiting ?? 0) + 1;
  }
  state.open += added.length;
  if (parent) {
    parent.children.push(...added);
    parent.open += added.length;
  }
  return added;
}

export function makeNode(
  fields: Pick<
    Node,
    | 'id'
    | 'label'
    | 'name'
    | 'task'
    | 'scopeProblem'
    | 'workflow'
    | 'inputs'
    | 'parent'
    | 'siblings'
    | 'interfaces'
    | 'order'
    | 'each'
    | 'turn'
    | 'round'
    | 'candidate'
    | 'isJudge'
    | 'sums'
    | 'isChild'
    | 'origin'
  >,
): Node {
  return {
    ...fields,
    kind: kindOf(fields.task, fields.each !== undefined),
    state: 'waiting',
    needs: [],
    dependents: [],
    apis: [],
    unmet: 0,
    children: [],
    open: 0,
    attempt: 0,
    failures: 0,
    rounds: 0,
    results: [],
    restsOn: [],
    publications: 0,
    granted: [],
    requests: 0,
    questions: 0,
    steers: [],
    steered: 0,
    sent: 0,
    inbox: new Map(),
  };
}

function kindOf(task: Task, isItem: boolean): Node['kind'] {
  if (task['for-each'] !== undefined && !isItem) return 'for-each';
  if (task.uses !== undefined) return 'uses';
  if (task.handoff !== undefined) return 'handoff';
  if (task.race !== undefined) return 'race';
  if (task.continuous !== undefined) return 'continuous';
  if (task.approve !== undefined) return 'approve';
  return 'work';
}

export function orderOf(parent: Node | undefined, position: number): string {
  return `${parent?.order ?? ''}${position.toString(36).padStart(4, '0')}`;
}
