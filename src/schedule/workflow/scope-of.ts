/** What holds for a task: its own scope and limits, and those of its agent where it says nothing. Pure. */
import type { Agent, Limits, Scope, Task } from '../../contract/workflow.ts';

/** Field by field: what the task says replaces what the agent says. */
export function effectiveScope(task: Pick<Task, 'scope'>, agent: Pick<Agent, 'scope'> | undefined): Scope {
  return replaced(agent?.scope, task.scope);
}

export function effectiveLimits(
  task: Pick<Task, 'limits'>,
  agent: Pick<Agent, 'limits'> | undefined,
): Limits {
  return replaced(agent?.limits, task.limits);
}

/** With what its agents were granted in the course of the run. */
export function withGranted(scope: Scope, granted: readonly string[]): Scope {
  return scope.write === undefined ? scope : { ...scope, write: [...scope.write, ...granted] };
}

function replaced<T extends object>(agents: T | undefined, own: T | undefined): T {
  if (!own || !agents) return own ?? agents ?? ({} as T);
  // A builder may have left a field undefined: that is nothing said.
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  return { ...agents, ...(Object.fromEntries(given) as Partial<T>) };
}
