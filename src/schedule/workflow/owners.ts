/** Finds the tasks of a run that own a path, from the write scopes of their agents. Pure. */
import { parseGlob, type Glob } from '../../base/glob-syntax.ts';
import { overlapOf } from '../../base/globs.ts';
import type { Agent, Task, Workflow } from '../../contract/workflow.ts';
import { isTemplate, templateBound } from './glob-template.ts';
import { effectiveScope } from './scope-of.ts';
import { isGroup, type Node, type State } from '../state.ts';

type Scope = NonNullable<Agent['scope']>;

/** Of all tasks but the one that asks; the items of one for-each, and the candidates of one race, own nothing against each other. */
export function ownersOf(state: State, asking: Node, globs: readonly Glob[]): Node[] {
  const known = new Map<Scope, boolean>();
  const owns = (scope: Scope): boolean => {
    let found = known.get(scope);
    if (found === undefined) known.set(scope, (found = ownsAny(scope, globs)));
    return found;
  };
  return [...state.nodes.values()].filter((node) => {
    // What stands for others owns nothing itself: they do.
    if (node === asking || isGroup(node)) return false;
    if (areAlike(asking, node)) return false;
    return scopesOf(node.workflow, node.task).some(owns);
  });
}

/** Items of one for-each, or candidates of one race, which own the same. */
function areAlike(one: Node, other: Node): boolean {
  if (one.parent !== other.parent) return false;
  if (one.candidate !== undefined || other.candidate !== undefined) return true;
  return one.each !== undefined && other.each !== undefined;
}

function ownsAny({ write, shared = [] }: Scope, globs: readonly Glob[]): boolean {
  if (write === undefined) return false;
  return [...write, ...shared].some((text) => {
    const owned = parseGlob(isTemplate(text) ? templateBound(text) : text);
    return globs.some((glob) => overlapOf(owned, glob) !== undefined);
  });
}

/** Of the task's agents, or of the tasks that it will become. */
function scopesOf(workflow: Workflow, task: Task): Scope[] {
  if (task.uses !== undefined) {
    const nested = workflow.nested?.[task.uses];
    return nested ? Object.values(nested.tasks).flatMap((inner) => scopesOf(nested, inner)) : [];
  }
  const raced = Array.isArray(task.race) ? task.race : [];
  const agents = [task.agent, ...(task.handoff ?? []), ...raced].map((agent) =>
    typeof agent === 'string' ? workflow.agents[agent] : agent,
  );
  return agents.map((agent) => effectiveScope(task, agent));
}
