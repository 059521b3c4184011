/** What a workflow may say and `bosun run` cannot do yet. It is refused, never passed over. */
import { BosunError } from '../../contract/errors.ts';
import type { Agent, Task, Workflow } from '../../contract/workflow.ts';
import { agentNames } from './agents.ts';
import { valueAt } from '../source/schema-problems.ts';

/** A field, by its path, and the values of it that are refused; all of them where nothing is said. */
type Row = [path: string, isRefused?: (value: unknown) => boolean];

/** Remove a row when the engine can do it. */
const REFUSED: { workflow: Row[]; agent: Row[]; task: Row[] } = {
  workflow: [],
  agent: [],
  task: [
    ['continuous.on', (value) => (value as string[]).includes('publication')],
    ['publishes', isFilled],
    ['needs', (value) => (value as string[]).some((need) => need.startsWith('api:'))],
  ],
};

const LINES_MAX = 20;

export function refuseUnsupported(workflow: Workflow): void {
  const found = unsupported(workflow);
  if (found.length === 0) return;
  const lines = found.slice(0, LINES_MAX).map((line) => `  ${line}`);
  if (found.length > LINES_MAX) lines.push(`  … and ${found.length - LINES_MAX} more`);
  throw new BosunError(
    'not-supported',
    [
      `workflow "${workflow.name}" is valid, but "bosun run" cannot do all of it yet:`,
      ...lines,
      'Remove these fields to run it.',
    ].join('\n'),
    { data: { found } },
  );
}

/** One line for each thing that is refused, such as `agent "architect": runtime: claude-code`. */
export function unsupported(workflow: Workflow, within = ''): string[] {
  const found = refusedOf(REFUSED.workflow, workflow).map((field) => `${within}workflow: ${field}`);
  // An agent that no task names does nothing, whatever it says.
  const named = new Set(agentNames(workflow).map(({ name }) => name));
  for (const [name, agent] of Object.entries(workflow.agents)) {
    if (named.has(name))
      found.push(...refusedOf(REFUSED.agent, agent).map((field) => `${within}agent "${name}": ${field}`));
  }
  for (const [name, task] of Object.entries(workflow.tasks)) {
    const fields = refusedOf(REFUSED.task, task);
    if (typeof task.agent === 'object')
      fields.push(...refusedOf(REFUSED.agent, task.agent).map((field) => `agent.${field}`));
    found.push(...fields.map((field) => `${within}task "${name}": ${field}`));
  }
  for (const [file, nested] of Object.entries(workflow.nested ?? {})) {
    found.push(...unsupported(nested, `${within}${file}: `));
  }
  return found;
}

function refusedOf(rows: readonly Row[], owner: Workflow | Agent | Task): string[] {
  return rows.flatMap(([path, isRefused = () => true]) => {
    const value = valueAt(owner, path.split('.'));
    if (value === undefined || !isRefused(value)) return [];
    if (path === 'needs')
      return [`needs: ${(value as string[]).filter((need) => need.startsWith('api:')).join(', ')}`];
    return [typeof value === 'string' ? `${path}: ${value}` : path];
  });
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
