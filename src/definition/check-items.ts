/** Checks the scopes that the items of a for-each will have, where the workflow itself lists the items. */
import type { Json, Scope, Task } from '../contract/workflow.ts';
import { ExpressionError } from '../schedule/expression-failure.ts';
import { isTemplate, ITEM_FIELDS, itemScope } from '../schedule/item-scope.ts';
import type { Problem } from './problem.ts';

const FILLED_MAX = 20_000;

/** The first that cannot be had says enough. */
export function checkItems(name: string, task: Task): Problem[] {
  const items = task['for-each'];
  if (!Array.isArray(items)) return [];
  const path = ['tasks', name, 'scope'];
  const templates = ITEM_FIELDS.flatMap((field) => task.scope?.[field]?.filter(isTemplate) ?? []);
  if (templates.length * items.length > FILLED_MAX) {
    const message = `the scope of task "${name}" has ${templates.length} globs to fill in for ${items.length} items, and at most ${FILLED_MAX} in all are allowed; use fewer`;
    return [{ path, atKey: true, message }];
  }
  for (const [index, value] of items.entries()) {
    try {
      itemScope(task.scope!, value, index);
    } catch (error) {
      const message = `item ${index + 1} of task "${name}": ${(error as Error).message}`;
      if (error instanceof ExpressionError) return [{ path, atKey: true, message }];
      if (error instanceof SyntaxError) return []; // told of as an expression
      throw error;
    }
  }
  return [];
}

/** Undefined where it cannot be had. */
export function scopeOfItem(task: Task, value: Json, index: number): Scope | undefined {
  try {
    return itemScope(task.scope!, value, index);
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
