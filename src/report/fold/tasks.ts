/** The tasks of a run while its events are read: those of the workflow, and those that for-each, uses and expand add. */
import type { BudgetMark, EventOf } from '../../contract/event.ts';
import type { TaskReport } from '../../contract/report.ts';
import type { Json, Task, Tasks, Workflow } from '../../contract/workflow.ts';
import { itemNames, roundName, turnName } from '../../schedule/views/task-names.ts';
import { clip } from '../limits.ts';
import { LogTail } from '../text/log-tail.ts';

/** A task while events are read; `diff`, `log` and `cost` are filled in afterwards. */
export interface Folded {
  report: Omit<TaskReport, 'diff' | 'log' | 'cost'>;
  definition: Task;
  /** The workflow it is written in: names of agents and of nested workflows are looked up there. */
  workflow: Workflow;
  tail: LogTail;
  children: Folded[];
  /** What its attempts asked and have no answer to, by id; of a budget, which one. */
  asked: Map<string, BudgetMark | undefined>;
  expansion?: Tasks;
  /** An attempt that waits for a slot: it has not begun. */
  queued?: number;
  /** Lets those that need it go on: done, skipped by its own condition, or failed where that is accepted. */
  isMet: boolean;
}

/** Adds the tasks that a task stands for. */
export function expandTask(tasks: Map<string, Folded>, task: Folded, event: EventOf<'task.expanded'>): void {
  const { definition, workflow } = task;
  if (event.kind === 'for-each') {
    const { 'for-each': _, ...each } = definition;
    const items = event.items ?? [];
    const labels = itemNames(task.report.label, items);
    items.forEach((item, index) => {
      const id = `${task.report.id}.${index + 1}`;
      addTask(tasks, { id, label: labels[index]! }, each, workflow, task);
      const { report } = tasks.get(id)!;
      report.title = report.title.replace(/\$\{\{\s*each\s*\}\}/g, () => nameOf(item));
    });
  } else if (event.kind === 'uses') {
    const nested = workflow.nested?.[definition.uses ?? ''];
    if (nested) addTasks(tasks, nested.tasks, nested, task);
  } else if (event.kind === 'expand' && task.expansion) {
    addTasks(tasks, task.expansion, workflow, task);
  }
}

/** The next turn of a handoff. */
export function addTurn(tasks: Map<string, Folded>, task: Folded, event: EventOf<'task.handed'>): void {
  const { handoff: _, ...definition } = task.definition;
  const id = `${task.report.id}.${task.children.length + 1}`;
  const times = task.children.filter(({ report }) => report.agent === event.agent).length;
  const label = turnName(task.report.label, event.agent, times);
  const before = task.children.at(-1);
  addTask(tasks, { id, label }, { ...definition, agent: event.agent }, task.workflow, task);
  tasks.get(id)!.report.needs = before ? [before.report.id] : [];
}

export function addRound(tasks: Map<string, Folded>, task: Folded, event: EventOf<'task.round'>): void {
  const { continuous: _, ...definition } = task.definition;
  const index = task.children.length;
  const label = roundName(task.report.label, index, event.why);
  const id = `${task.report.id}.${index + 1}`;
  addTask(tasks, { id, label }, { ...definition, needs: [] }, task.workflow, task);
}

export function addTasks(
  tasks: Map<string, Folded>,
  added: Tasks,
  workflow: Workflow,
  parent: Folded | undefined,
): void {
  for (const [name, definition] of Object.entries(added)) {
    const names = parent
      ? { id: `${parent.report.id}/${name}`, label: `${parent.report.label}/${name}` }
      : { id: name, label: name };
    addTask(tasks, names, definition, workflow, parent);
  }
}

function addTask(
  tasks: Map<string, Folded>,
  { id, label }: Pick<TaskReport, 'id' | 'label'>,
  definition: Task,
  workflow: Workflow,
  parent: Folded | undefined,
): void {
  if (tasks.has(id)) return; // expanded again after a retry
  const task: Folded = {
    report: {
      id,
      label,
      parent: parent?.report.id ?? null,
      group: null,
      state: 'waiting',
      agent: agentOf(definition),
      title: titleOf(definition),
      needs: needsOf(id, definition, parent),
      attempts: [],
      startedAtMs: null,
      endedAtMs: null,
      reason: null,
      message: null,
      commit: null,
      access: [],
      denied: [],
      deniedLeftOut: 0,
      output: null,
    },
    definition,
    workflow,
    tail: new LogTail(),
    children: [],
    asked: new Map(),
    isMet: false,
  };
  tasks.set(id, task);
  parent?.children.push(task);
}

function nameOf(item: Json): string {
  return clip(typeof item === 'string' ? item : JSON.stringify(item), 100);
}

function agentOf({ agent, handoff }: Task): string | null {
  if (typeof agent === 'string') return agent;
  return agent?.runtime ?? handoff?.join(' → ') ?? null;
}

function titleOf(task: Task): string {
  const question = typeof task.approve === 'string' ? task.approve : task.approve?.question;
  const words = task.description ?? task.prompt ?? task.run ?? question ?? task.uses ?? '';
  return clip(words.trim().split('\n')[0]!, 200);
}

/** Needs name tasks of the same file: those of `a/b` are under `a/`. An item of a for-each starts with its group. */
function needsOf(id: string, { needs }: Task, parent: Folded | undefined): string[] {
  if (parent?.report.group === 'for-each') return [];
  const prefix = id.slice(0, id.lastIndexOf('/') + 1);
  return needs.filter((need) => !need.startsWith('api:')).map((need) => prefix + need);
}
