/** All scopes that a workflow writes down, each with its place. Those of workflows that it uses are theirs. */
import type { Scope, Workflow } from '../../contract/workflow.ts';
import type { Path } from '../source/problem.ts';

export function scopesOf(workflow: Workflow): { scope: Scope; path: Path }[] {
  const found: { scope: Scope; path: Path }[] = [];
  const add = (scope: Scope | undefined, path: Path): void => {
    if (scope) found.push({ scope, path });
  };
  for (const [name, agent] of Object.entries(workflow.agents)) add(agent.scope, ['agents', name, 'scope']);
  for (const [name, task] of Object.entries(workflow.tasks)) {
    if (typeof task.agent === 'object') add(task.agent.scope, ['tasks', name, 'agent', 'scope']);
    add(task.scope, ['tasks', name, 'scope']);
  }
  return found;
}
