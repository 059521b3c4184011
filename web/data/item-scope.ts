/**
 * The scope of one item of a for-each, to be shown: in place of schedule/workflow/item-scope.ts, which decides what it is
 * and brings the language of expressions with it. What is more than the path of a value stays as it is written.
 */
import type { Json, Scope } from '../../src/contract/workflow.ts';
import { ITEM_FIELDS } from '../../src/schedule/workflow/item-fields.ts';
import { escapeWildcards, itemValueProblem } from '../../src/schedule/workflow/item-value.ts';

export function itemScope(scope: Scope, each: Json, index: number): Scope {
  const filled = { ...scope };
  for (const field of ITEM_FIELDS) {
    const globs = scope[field];
    if (globs) filled[field] = globs.map((glob) => fill(glob, { each, index }));
  }
  return filled;
}

function fill(glob: string, values: Record<string, Json>): string {
  return glob.replaceAll(/\$\{\{\s*([A-Za-z_][\w.]{0,200}?)\s*\}\}/g, (written, path: string) => {
    const value = path.split('.').reduce<Json | undefined>(member, values);
    if (typeof value !== 'string' && typeof value !== 'number') return written;
    return itemValueProblem(String(value)) === undefined ? escapeWildcards(String(value)) : written;
  });
}

function member(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
