/** Checks the scopes that the items of a for-each will have, where the workflow itself lists the items. */
import type { Json, Scope, Task } from '../../contract/workflow.ts';
import { ExpressionError } from '../../schedule/expression/failure.ts';
import { itemGlobsProblem } from '../../schedule/workflow/item-fields.ts';
import { itemScope } from '../../schedule/workflow/item-scope.ts';
import type { Problem } from '../source/problem.ts';

/** The first that cannot be had says enough. */
export function checkItems(name: string, task: Task): Problem[] {
  const items = task['for-each'];
  if (!Array.isArray(items)) return [];
  const path = ['tasks', name, 'scope'];
  const tooMany = itemGlobsProblem(task, items.length);
  if (tooMany !== undefined) return [{ path, atKey: true, message: `task "${name}": ${tooMany}` }];
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
