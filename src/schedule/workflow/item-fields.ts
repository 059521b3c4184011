/** Which fields of a scope are filled in for each item of a for-each, and how many globs that may be. Pure. */
import type { Task } from '../../contract/workflow.ts';
import { isTemplate } from './glob-template.ts';

/** The fields that may speak of `each` and `index`. What reaches beyond the repository is for people to write out. */
export const ITEM_FIELDS = ['write', 'shared', 'hide'] as const;
const ITEM_GLOBS_MAX = 20_000;

export function hasTemplate({ scope = {} }: Pick<Task, 'scope'>): boolean {
  return ITEM_FIELDS.some((field) => scope[field]?.some(isTemplate));
}

/** They are all filled in at once, when the task becomes its items. */
export function itemGlobsProblem({ scope = {} }: Pick<Task, 'scope'>, items: number): string | undefined {
  const count = ITEM_FIELDS.reduce((sum, field) => sum + (scope[field]?.filter(isTemplate).length ?? 0), 0);
  if (count * items <= ITEM_GLOBS_MAX) return undefined;
  return `its scope has ${count} globs to fill in for ${items} items, and at most ${ITEM_GLOBS_MAX} in all are allowed; use fewer`;
}
