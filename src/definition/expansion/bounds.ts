/**
 * Keeps tasks that a planner wrote to what the workflow gave: the scope of the agent that each names, or else the
 * planner's own, and limits and budgets no higher than the planner's. Pure.
 */
import { parseGlob } from '../../base/glob-syntax.ts';
import { covers } from '../../base/globs.ts';
import { namesSettings } from '../../base/settings-path.ts';
import { parseDurationMs, parseSizeBytes } from '../../base/units.ts';
import { BUDGET_UNITS } from '../../contract/budget-units.ts';
import type { Agent, Budget, Limits, Scope, Task, Workflow } from '../../contract/workflow.ts';
import { effectiveLimits, effectiveScope } from '../../schedule/workflow/scope-of.ts';
import { isTemplate, templateBound } from '../../schedule/workflow/glob-template.ts';
import { describe, type Path, type Problem } from '../source/problem.ts';

/** What holds for the planner itself. */
export interface Planner {
  scope: Scope;
  limits: Limits;
  budget?: Budget | undefined;
  /** Of what it may change, the globs that people wrote. */
  globsOfPeople: readonly string[];
}

export const NO_BOUNDS: Planner = { scope: {}, limits: {}, globsOfPeople: [] };

/** What only the workflow may give. */
const REACHING = ['read', 'network', 'grant'] as const;

/** Who wrote the task must not thereby reach or change what the workflow did not give. */
export function checkBounds(name: string, task: Task, workflow: Workflow, planner: Planner): Problem[] {
  return [...checkReach(name, task), ...checkWrites(name, task, workflow, planner)];
}

/** The task with all that it says nothing of, as much as it may have. */
export function withinBounds(task: Task, workflow: Workflow, planner: Planner): Task {
  const named = namedAgent(task, workflow);
  const agent = typeof task.agent === 'object' ? task.agent : named;
  const hide = new Set([planner.scope, agent?.scope, task.scope].flatMap((scope) => scope?.hide ?? []));
  const write = named ? undefined : (effectiveScope(task, agent).write ?? planner.scope.write);
  const scope: Scope = { ...task.scope, ...(write && { write }), ...(hide.size > 0 && { hide: [...hide] }) };
  const limits = lowest(effectiveLimits(task, agent), planner.limits);
  const { timeout, ...rest } = task;
  const isShort = timeout !== undefined && parseDurationMs(timeout) <= (limits.minutes ?? Infinity) * 60_000;
  return {
    ...rest,
    ...(isShort && { timeout }),
    ...(Object.keys(scope).length > 0 && { scope }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(typeof task.agent === 'object' && planner.budget && { agent: paidBy(task.agent, planner.budget) }),
  };
}

function checkReach(name: string, task: Task): Problem[] {
  const { agent, scope = {}, workspace } = task;
  const inline = typeof agent === 'object' ? agent : undefined;
  const space = workspace === 'none' ? {} : (workspace ?? {});
  const asked = [
    ...REACHING.filter((field) => scope[field] !== undefined).map((field) => ['scope', field]),
    ...REACHING.filter((field) => inline?.scope?.[field] !== undefined).map((field) => [
      'agent',
      'scope',
      field,
    ]),
    ...(['copy', 'network'] as const)
      .filter((field) => space[field] !== undefined)
      .map((field) => ['workspace', field]),
    // A fence shows the program that an agent is.
    ...(Array.isArray(inline?.command) && inline.command[0]!.includes('/') ? [['agent', 'command']] : []),
  ];
  return asked.map((field) => {
    const path = ['tasks', name, ...field];
    const message = `${describe(path)} is for the workflow to give, not for a task that another one wrote; remove it, or name an agent of the workflow that has it`;
    return { path, message };
  });
}

function checkWrites(name: string, task: Task, workflow: Workflow, planner: Planner): Problem[] {
  const named = namedAgent(task, workflow);
  const { write: most, shared = [] } = (named ?? planner).scope ?? {};
  const whose = typeof task.agent === 'string' ? `its agent "${task.agent}"` : 'the task that wrote it';
  const allowed = most && [...most, ...shared].map(parseGlob);
  const ofPeople = named ? [...(most ?? []), ...shared] : planner.globsOfPeople;
  const settings = ofPeople.filter(namesSettings).map(parseGlob);
  const check = (scope: Scope | undefined, path: Path): Problem[] =>
    (['write', 'shared'] as const).flatMap((field) =>
      (scope?.[field] ?? []).flatMap((glob, n): Problem[] => {
        const bound = parseGlob(isTemplate(glob) ? templateBound(glob) : glob);
        const problem = (): string | undefined => {
          if (namesSettings(bound.text) && !settings.some((each) => covers(each, bound)))
            return `"${glob}" is for bosun's own settings, and only a scope that a person wrote in the workflow may name these; leave it out`;
          if (allowed === undefined) return undefined;
          if (isTemplate(glob))
            return `"${glob}" depends on a value, and what a task that another one wrote may change must be known; write it out`;
          if (allowed.some((each) => covers(each, bound))) return undefined;
          return `"${glob}" is more than ${whose} may change (${most!.join(', ') || 'nothing'}); write less, or name an agent of the workflow that may`;
        };
        const message = problem();
        return message === undefined ? [] : [{ path: [...path, field, n], message }];
      }),
    );
  const inline = typeof task.agent === 'object' ? task.agent.scope : undefined;
  return [
    ...check(task.scope, ['tasks', name, 'scope']),
    ...check(inline, ['tasks', name, 'agent', 'scope']),
  ];
}

function namedAgent({ agent }: Task, { agents }: Workflow): Agent | undefined {
  return typeof agent === 'string' && Object.hasOwn(agents, agent) ? agents[agent] : undefined;
}

/** Field by field, the lower of both. */
function lowest(own: Limits, most: Limits): Limits {
  const merged = { ...own } as Record<string, number | string | undefined>;
  for (const [field, bound] of Object.entries(most)) {
    const value = merged[field];
    if (bound !== undefined && (value === undefined || amountOf(bound) < amountOf(value)))
      merged[field] = bound;
  }
  return merged;
}

function amountOf(value: number | string): number {
  return typeof value === 'number' ? value : parseSizeBytes(value);
}

/** How a budget is held is the planner's author's to say: a plan only lowers amounts. */
function paidBy(agent: Agent, most: Budget): Agent {
  const budget: Budget = { ...most };
  for (const unit of BUDGET_UNITS) {
    const amounts = [agent.budget?.[unit], most[unit]].filter((amount) => amount !== undefined);
    if (amounts.length > 0) budget[unit] = Math.min(...amounts);
  }
  return { ...agent, budget };
}
