/** Makes what is left of a definition with wrong fields checkable, so that all its problems are told at once. */
import { WorkflowFile, type Workflow } from '../../contract/workflow.ts';
import type { Path, Problem } from './problem.ts';
import { valueAt } from './schema-problems.ts';

interface Salvaged {
  workflow: Workflow;
  /** Whether a problem is about something that is known to be wrong already. */
  isKnown(problem: Problem): boolean;
}

const ENTITIES = ['tasks', 'agents', 'inputs'];
const STAND_INS: Record<string, unknown> = { tasks: { run: 'true' }, agents: {}, inputs: {} };

/** Undefined where too much is wrong to say more. */
export function salvage(data: unknown, problems: readonly Problem[]): Salvaged | undefined {
  let copy: unknown;
  try {
    copy = structuredClone(data);
  } catch {
    return undefined; // a builder was given something that is no data
  }
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) return undefined;
  const whole = copy as Record<string, unknown>;
  for (const { path } of problems) {
    // Without its needs, all that is said about a task and its dependents would be wrong.
    if (path[0] === 'tasks' && (path.length === 1 || path[2] === 'needs')) return undefined;
    remove(whole, path);
  }
  const name = valueAt(whole, ['name']);
  const parsed = WorkflowFile.safeParse(typeof name === 'string' ? whole : { ...whole, name: 'unnamed' });
  if (!parsed.success) return undefined;
  const known = new Set(problems.map((problem) => owner(problem.path)));
  return { workflow: parsed.data, isKnown: (problem) => known.has(owner(problem.path)) };
}

function owner(path: Path): string {
  return path.slice(0, ENTITIES.includes(String(path[0])) ? 2 : 1).join('\n');
}

function remove(whole: Record<string, unknown>, path: Path): void {
  const [first, second, third] = path.map(String);
  if (first === undefined) return;
  if (second === undefined || !ENTITIES.includes(first)) {
    delete whole[first];
    return;
  }
  const entities = whole[first] as Record<string, unknown> | undefined;
  if (typeof entities !== 'object') return;
  if (third === undefined) entities[second] = STAND_INS[first];
  else delete (entities[second] as Record<string, unknown> | undefined)?.[third];
}
