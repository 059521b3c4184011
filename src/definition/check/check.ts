/** Checks what a schema cannot: that a workflow makes sense as a whole. It reads no file. */
import { TASKS_MAX, type Workflow } from '../../contract/workflow.ts';
import { agentNames, checkAgents } from './agents.ts';
import { checkEnv } from './env.ts';
import { checkExpressions, warnAboutItems, warnAboutQuotes } from './expressions.ts';
import { checkGraph } from './graph.ts';
import { checkNul } from './nul.ts';
import { checkScopes } from './scopes.ts';
import { checkTasks, warnAboutTasks } from './tasks.ts';
import { checkInputs } from '../inputs.ts';
import { checkOwnership } from './ownership.ts';
import type { Problem } from '../source/problem.ts';

export function checkWorkflow(workflow: Workflow): Problem[] {
  const count = Object.keys(workflow.tasks).length;
  if (count > TASKS_MAX) {
    const message = `the workflow has ${count} tasks; at most ${TASKS_MAX} are allowed, split it with "uses"`;
    return [{ path: ['tasks'], atKey: true, message }];
  }
  if (count === 0) {
    return [{ path: ['tasks'], atKey: true, message: 'the workflow has no tasks; add at least one' }];
  }
  const crowded = checkEnv(workflow);
  if (crowded.length > 0) return crowded; // to look at each of them would take long
  const graph = checkGraph(workflow.tasks);
  return [
    ...checkNul(workflow),
    ...checkInputs(workflow),
    ...checkTasks(workflow),
    ...checkAgents(workflow),
    ...checkScopes(workflow),
    ...graph.problems,
    ...checkOwnership(workflow, graph),
    ...checkExpressions(workflow, graph),
  ];
}

/** A run ends once, with the workflow that was started. */
function warnAboutHooks({ nested = {} }: Workflow): string[] {
  return Object.entries(nested)
    .filter(([, { hooks = [] }]) => hooks.some(({ on }) => [on].flat().includes('run-ended')))
    .map(
      ([uses]) =>
        `${uses} has hooks for "run-ended", which are not called when it is used by another workflow; put them there`,
    );
}

/** What is worth saying and not wrong. */
export function warnAbout(workflow: Workflow): string[] {
  const named = new Set(agentNames(workflow).map(({ name }) => name));
  const canExpand = Object.values(workflow.tasks).some((task) => task.expand);
  const unused = canExpand ? [] : Object.keys(workflow.agents).filter((name) => !named.has(name));
  return [
    ...unused.map((name) => `agent "${name}" is named by no task`),
    ...warnAboutTasks(workflow),
    ...warnAboutHooks(workflow),
    ...warnAboutQuotes(workflow),
    ...warnAboutItems(workflow),
  ];
}
