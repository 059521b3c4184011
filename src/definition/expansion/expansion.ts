/** Tasks that a task wrote while the run was going on: checked as if they stood in the file. Pure. */
import { z } from 'zod';
import { EXPANSION_TASKS_MAX, Tasks, type Json, type Workflow } from '../../contract/workflow.ts';
import { checkWorkflow } from '../check/check.ts';
import { checkWith } from '../inputs.ts';
import { checkBounds, NO_BOUNDS, withinBounds, type Planner } from './bounds.ts';
import { formatPath, type Problem } from '../source/problem.ts';
import { schemaProblems, show } from '../source/schema-problems.ts';

const PROBLEMS_SHOWN_MAX = 10;
/** Of all tasks together: each is looked at whenever a task ends. */
const NEEDS_MAX = 20_000;

/** Planners within planners: beyond this, one writes nothing but the next. */
const DEPTH_MAX = 5;

/**
 * The output is `{ tasks: … }`, or the tasks alone: a map, or a list in which each has a `name`. They get no more than
 * the workflow gave to the agents that they name, or to the planner. `within` is what the planner itself is called.
 */
export function checkExpansion(
  output: Json,
  workflow: Workflow,
  planner: Planner = NO_BOUNDS,
  within = '',
): { tasks: Tasks } | { problem: string } {
  const depth = within.split('/').length;
  if (depth > DEPTH_MAX)
    return { problem: `${within} is ${depth} levels deep; tasks that write tasks may be ${DEPTH_MAX} deep` };
  const named = byName(hasTasks(output) ? output.tasks : output);
  if (typeof named === 'string') return { problem: named };
  const count = Object.keys(named).length;
  if (count > EXPANSION_TASKS_MAX)
    return { problem: `the output has ${count} tasks; at most ${EXPANSION_TASKS_MAX} are allowed` };
  if (count === 0) return { tasks: {} };
  const parsed = Tasks.safeParse(named);
  if (!parsed.success) {
    const data = { tasks: named };
    const issues = parsed.error.issues.map((issue) => ({ ...issue, path: ['tasks', ...issue.path] }));
    return { problem: told(schemaProblems(issues, data, TasksOwner)) };
  }
  const needs = Object.values(parsed.data).reduce((sum, task) => sum + task.needs.length, 0);
  if (needs > NEEDS_MAX)
    return { problem: `the tasks have ${needs} needs in all; at most ${NEEDS_MAX} are allowed` };
  const expanded: Workflow = { ...workflow, tasks: parsed.data };
  const problems = checkWorkflow(expanded);
  for (const [name, task] of Object.entries(parsed.data)) {
    if (task.uses === undefined) continue;
    const nested = workflow.nested?.[task.uses];
    if (nested) problems.push(...checkWith(task.with ?? {}, ['tasks', name], nested, task.uses));
    else {
      const message = `task "${name}" uses "${task.uses}", which the workflow itself does not use; only its files can be used`;
      problems.push({ path: ['tasks', name, 'uses'], message });
    }
  }
  // Scopes that make no sense are told of first.
  if (problems.length === 0)
    for (const [name, task] of Object.entries(parsed.data))
      problems.push(...checkBounds(name, task, workflow, planner));
  if (problems.length > 0) return { problem: told(problems) };
  const tasks = Object.entries(parsed.data).map(([name, task]) => [
    name,
    withinBounds(task, workflow, planner),
  ]);
  return { tasks: Object.fromEntries(tasks) as Tasks };
}

const TasksOwner = z.object({ tasks: Tasks });

function hasTasks(output: Json): output is { tasks: Json } {
  return (
    typeof output === 'object' && output !== null && !Array.isArray(output) && Object.hasOwn(output, 'tasks')
  );
}

function byName(tasks: Json): Record<string, Json> | string {
  if (Array.isArray(tasks)) {
    const named: Record<string, Json> = {};
    for (const [n, item] of tasks.entries()) {
      const isMap = typeof item === 'object' && item !== null && !Array.isArray(item);
      const name = isMap ? item['name'] : undefined;
      if (!isMap || typeof name !== 'string')
        return `item ${n + 1} of the output is not a task with a "name"`;
      if (Object.hasOwn(named, name)) return `the output has two tasks named "${name}"`;
      const { name: _, ...task } = item;
      named[name] = withoutNulls(task);
    }
    return named;
  }
  if (typeof tasks === 'object' && tasks !== null)
    return Object.fromEntries(Object.entries(tasks).map(([name, task]) => [name, withoutNulls(task)]));
  return `the output must be tasks (a map, or a list in which each has a "name"), but is ${show(tasks)}`;
}

/** A strict schema has every field: null says nothing. */
function withoutNulls(task: Json): Json {
  if (typeof task !== 'object' || task === null || Array.isArray(task)) return task;
  const given = Object.entries(task).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([key, value]) => [key, key === 'scope' ? withoutNulls(value) : value]),
  );
}

function told(problems: readonly Problem[]): string {
  const lines = problems
    .slice(0, PROBLEMS_SHOWN_MAX)
    .map(({ path, message }) => `${formatPath(path)}: ${message}`);
  if (problems.length > lines.length) lines.push(`… and ${problems.length - lines.length} more`);
  return lines.join('\n');
}
