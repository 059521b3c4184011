/** Fills in the scope of one item of a for-each. A value only names files: it never widens a glob. Pure. */
import { normalizeGlob } from '../../base/glob-syntax.ts';
import type { Json, Scope } from '../../contract/workflow.ts';
import { evaluate, parseTemplate } from '../expression/expression.ts';
import { openAllowance } from '../expression/budget.ts';
import { ExpressionError } from '../expression/failure.ts';
import { isTemplate } from './glob-template.ts';
import { ITEM_FIELDS } from './item-fields.ts';
import { escapeWildcards, itemValueProblem } from './item-value.ts';

/** What an expression in a glob may cost: it names a file, and there may be thousands of items. */
const FILL_STEPS_MAX = 1000;

/** Throws an ExpressionError, with a message for people, where a value does not name files of the repository. */
export function itemScope(scope: Scope, each: Json, index: number): Scope {
  const filled = { ...scope };
  for (const field of ITEM_FIELDS) {
    const globs = scope[field];
    if (globs?.some(isTemplate))
      filled[field] = globs.map((glob) => (isTemplate(glob) ? fill(glob, field, each, index) : glob));
  }
  return filled;
}

function fill(glob: string, field: string, each: Json, index: number): string {
  const fail = (problem: string): never => {
    throw new ExpressionError(`"${glob}" in "scope.${field}" ${problem}`);
  };
  const text = parseTemplate(glob)
    .map((part) => {
      if (part.kind === 'text') return part.text;
      const scope = {
        tasks: {},
        inputs: {},
        run: { id: '', name: '' },
        failed: false,
        each,
        index,
        allowance: openAllowance(FILL_STEPS_MAX),
      };
      const value = evaluate(part.expression, scope);
      const text = typeof value === 'number' ? String(value) : value;
      const problem = typeof text === 'string' ? itemValueProblem(text) : 'is neither text nor a number';
      if (typeof text !== 'string' || problem !== undefined)
        return fail(`cannot be filled in: ${JSON.stringify(value).slice(0, 100)} ${problem}`);
      return escapeWildcards(text);
    })
    .join('');
  const normalized = normalizeGlob(text);
  return 'problem' in normalized ? fail(`is "${text}", which ${normalized.problem}`) : normalized.glob;
}

/** Inside of braces or a class, what is filled in could be read as several names. */
export function templateProblem(glob: string): string | undefined {
  const isPlain = parseTemplate(glob).every((part) => part.kind !== 'text' || !/[[\]{}\\]/.test(part.text));
  return isPlain ? undefined : 'has an expression beside "[ ]", "{ }" or "\\"; write several globs instead';
}
