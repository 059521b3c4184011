/**
 * Expressions: CEL, alone or in the `${{ }}` parts of a text. Pure: they see the scope they are given and
 * nothing else, and all that they can cost is bounded when they are read.
 */
import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import type { Json } from '../../contract/workflow.ts';
import { ExpressionError, explain, quoted, type ExpressionScope } from './failure.ts';
import {
  BUDGET_VARIABLE,
  isOverBudget,
  openBudget,
  registerBudget,
  withBudget,
  type ExpressionBudget,
} from './budget.ts';
import { refer, type References } from './references.ts';
import { splitTemplate, type TemplatePart } from './template.ts';
import { celMap, fromCel, kindOf, toCel, type Lazy } from './values.ts';

export { ExpressionError, type ExpressionScope, type References };

const EXPRESSION_CHARS_MAX = 10_000;
const RENDERED_CHARS_MAX = 4 * 1024 * 1024;
const CACHE_MAX = 20_000;

const WRITTEN = { maxAstNodes: 2000, maxDepth: 50 };
/** What is counted in an expression makes it larger. */
const COUNTED = { maxAstNodes: 10_000, maxDepth: 200 };

/** `failed()` is a constant of its environment: the library hands functions no scope. */
const environments = { true: environment(true, COUNTED), false: environment(false, COUNTED) };
/** For what people write, which is bounded first. */
const strict = environment(false, WRITTEN);

interface Parsed {
  references: References;
  /** As it is written, to be checked. */
  plain: ParseResult;
  evaluate: Record<'true' | 'false', ParseResult>;
}
const cache = new Map<string, Parsed>();

/** The parts of a text, each expression in it checked. */
export function parseTemplate(text: string): TemplatePart[] {
  const parts = split(text);
  for (const part of parts) if (part.kind === 'expression') parse(part.expression);
  return parts;
}

/** A text with its expressions replaced: text as it is, nothing as "", lists and maps as JSON; `fit` may shorten each. */
export function render(
  text: string,
  scope: ExpressionScope,
  fit: (value: string, expression: string) => string = (value) => value,
): string {
  if (!text.includes('${{')) return text;
  let result = '';
  for (const part of split(text)) {
    if (part.kind === 'text') result += part.text;
    else {
      const value = run(part.expression, scope);
      const shown = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
      result += fit(shown, part.expression.trim());
    }
    if (result.length > RENDERED_CHARS_MAX) {
      throw new ExpressionError(
        `the text is longer than ${RENDERED_CHARS_MAX} characters once it is filled in`,
      );
    }
  }
  return result;
}

/** The value of one expression, with or without `${{ }}` around it. */
export function evaluate(text: string, scope: ExpressionScope): Json {
  return run(unwrap(text), scope);
}

export function evaluateCondition(text: string, scope: ExpressionScope): boolean {
  const value = evaluate(text, scope);
  if (typeof value === 'boolean') return value;
  throw new ExpressionError(
    `${quoted(unwrap(text))} must be true or false, but is ${kindOf(value)}; compare it with something, as in x == 'yes'`,
  );
}

export function usesAlways(text: string): boolean {
  return parse(unwrap(text)).references.always;
}

/** Whether a condition is about the single item of a for-each. */
export function mentionsEach(text: string): boolean {
  return parse(unwrap(text)).references.each;
}

/** What an expression, without `${{ }}`, speaks of. */
export function references(expression: string): References {
  return parse(expression).references;
}

/** What is wrong with an expression, as far as types tell without running it; and its type. */
export function checkExpression(expression: string): { type: string } | { problem: string } {
  try {
    const checked = parse(expression).plain.check();
    return checked.valid ? { type: checked.type ?? 'dyn' } : { problem: explain(checked.error, expression) };
  } catch (error) {
    if (error instanceof ExpressionError) return { problem: error.message };
    throw error;
  }
}

/** The one expression of a text such as that of `if`, without its `${{ }}`. */
export function unwrap(text: string): string {
  if (!text.includes('${{')) return text.trim();
  const [first, ...others] = split(text.trim());
  if (first?.kind === 'expression' && others.length === 0) return first.expression;
  throw new ExpressionError(
    `${quoted(text)} mixes text and expressions; write it as one expression: \${{ … }} around all of it`,
  );
}

function split(text: string): TemplatePart[] {
  try {
    return splitTemplate(text);
  } catch (error) {
    throw new ExpressionError((error as Error).message);
  }
}

function environment(failed: boolean, limits: { maxAstNodes: number; maxDepth: number }): Environment {
  const result = new Environment({
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits,
  })
    .registerVariable('tasks', 'map')
    .registerVariable('apis', 'map')
    .registerVariable('inputs', 'map')
    .registerVariable('each', 'dyn')
    .registerVariable('index', 'int')
    .registerVariable('run', 'map')
    .registerFunction('always(): bool', () => true)
    .registerFunction('failed(): bool', () => failed);
  registerBudget(result);
  const mixed = {
    '+': (a: number, b: number) => a + b,
    '-': (a: number, b: number) => a - b,
    '*': (a: number, b: number) => a * b,
    '/': (a: number, b: number) => a / b,
  };
  for (const [operator, compute] of Object.entries(mixed)) {
    const handler = (a: number | bigint, b: number | bigint): number => compute(Number(a), Number(b));
    result
      .registerOperator(`int ${operator} double`, handler)
      .registerOperator(`double ${operator} int`, handler);
  }
  return result;
}

function parse(expression: string): Parsed {
  const known = cache.get(expression);
  if (known) return known;
  if (expression.length > EXPRESSION_CHARS_MAX) {
    throw new ExpressionError(
      `${quoted(expression)} is longer than ${EXPRESSION_CHARS_MAX} characters; split the work into tasks`,
    );
  }
  let parsed: Parsed;
  try {
    const plain = strict.parse(expression);
    const references = refer(plain.ast, expression);
    const counted = withBudget(plain.ast);
    const usual = environments.false.parse(counted);
    const after = references.always ? environments.true.parse(counted) : usual;
    parsed = { references, plain, evaluate: { true: after, false: usual } };
  } catch (error) {
    if (error instanceof ExpressionError) throw error;
    throw new ExpressionError(explain(error, expression), { cause: error });
  }
  if (cache.size >= CACHE_MAX) cache.delete(cache.keys().next().value!);
  cache.set(expression, parsed);
  return parsed;
}

function run(expression: string, scope: ExpressionScope): Json {
  const parsed = parse(expression);
  const budget = openBudget(scope.allowance);
  if (isOverBudget(budget)) throw tooManySteps(expression, budget);
  // A loop may meet an error with each of its items, and drop it: where it arose is of no use to anybody.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const values = context(parsed.references, scope);
    const value: unknown = parsed.evaluate[`${scope.failed ?? false}`]({
      ...values,
      [BUDGET_VARIABLE]: budget,
    });
    if (isOverBudget(budget)) throw tooManySteps(expression, budget); // "||" takes an error for an answer
    return fromCel(value, (values) => (budget.allowance.stepsLeft -= values));
  } catch (error) {
    if (isOverBudget(budget)) throw tooManySteps(expression, budget);
    if (error instanceof ExpressionError) throw error;
    throw new ExpressionError(explain(error, expression, scope), { cause: error });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function tooManySteps(expression: string, { stepsLeft }: ExpressionBudget): ExpressionError {
  if (stepsLeft >= 0)
    return new ExpressionError(
      `the expressions of the task together take too many steps, at ${quoted(expression)}; use fewer or simpler ones`,
    );
  return new ExpressionError(`${quoted(expression)} takes too many steps on these values; simplify it`);
}

function isGiven(field: [string, Lazy | undefined]): field is [string, Lazy] {
  return field[1] !== undefined;
}

function context(references: References, scope: ExpressionScope): Record<string, unknown> {
  const tasks: [string, unknown][] = [];
  for (const name of references.every ? Object.keys(scope.tasks) : references.tasks) {
    const task = Object.hasOwn(scope.tasks, name) ? scope.tasks[name] : undefined;
    if (task === undefined) continue;
    tasks.push([name, toCel(Object.fromEntries(Object.entries(task).filter(isGiven)))]);
  }
  const apis = Object.entries(scope.apis ?? {}).map(([name, api]): [string, unknown] => [
    name,
    toCel(Object.fromEntries(Object.entries(api).filter(isGiven))),
  ]);
  const values: Record<string, unknown> = {
    tasks: celMap(tasks),
    apis: celMap(apis),
    inputs: toCel(scope.inputs),
    run: toCel(scope.run),
  };
  if (scope.each !== undefined) values['each'] = toCel(scope.each);
  if (scope.index !== undefined) values['index'] = BigInt(scope.index);
  return values;
}
