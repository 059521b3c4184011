/**
 * Holds what an expression can cost, by counting and not by the clock, so that it ends the same way whenever it is
 * evaluated: loops count the parts that they evaluate, what looks through texts and lists counts how large they are,
 * and `matches` has an engine of linear time. It evaluates nothing.
 */
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { serialize } from '@marcbachmann/cel-js/serialize';
import { compilePattern, PatternError, type Pattern } from '../../base/pattern.ts';
import { ExpressionError } from './failure.ts';
import { unreadParts } from './values.ts';

export const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
/** To evaluate a part of an expression is a step, some 100 ns. */
const STEPS_MAX = 100_000;
/** Of all expressions that a decision about one task evaluates. */
const STEPS_TOGETHER_MAX = 700_000;
/** What it takes to read an expression and to begin with it. */
const EXPRESSION_STEPS = 200;
/** What takes as long as a step. */
const CHARS_PER_STEP = 200;
const ITEMS_PER_STEP = 4;
const PATTERN_PER_STEP = 1000;
/** Local times are computed with tables of zones. */
const ZONE_STEPS = 1000;

/** What one evaluation may still cost; expressions see it under a name that nobody else can use. */
export interface ExpressionBudget {
  stepsLeft: number;
  allowance: Allowance;
  patterns: Map<string, Pattern>;
}

export const BUDGET_VARIABLE = 'budget_';
const BUDGET: ASTNode = { op: 'id', args: BUDGET_VARIABLE } as ASTNode;
const tooLong = new ExpressionError('');

/** What several expressions may still cost together. */
export interface Allowance {
  stepsLeft: number;
}

export function openAllowance(stepsLeft = STEPS_TOGETHER_MAX): Allowance {
  return { stepsLeft };
}

export function openBudget(allowance: Allowance = openAllowance()): ExpressionBudget {
  allowance.stepsLeft -= EXPRESSION_STEPS;
  return { stepsLeft: STEPS_MAX, allowance, patterns: new Map() };
}

/** Whether it ended since it took too many steps. */
export function isOverBudget(budget: ExpressionBudget): boolean {
  return budget.stepsLeft < 0 || budget.allowance.stepsLeft < 0;
}

export function registerBudget(environment: Environment): void {
  environment
    .registerVariable(BUDGET_VARIABLE, 'dyn')
    .registerFunction('step_(dyn, int): bool', (budget: ExpressionBudget, parts: bigint) =>
      take(budget, Number(parts)),
    )
    .registerFunction(
      'loop_(dyn, dyn, int): dyn',
      (budget: ExpressionBudget, value: unknown, parts: bigint) => {
        take(budget, itemsOf(value) * Number(parts));
        return value;
      },
    )
    .registerFunction('weigh_(dyn, dyn): dyn', (budget: ExpressionBudget, value: unknown) => {
      take(budget, isOverBudget(budget) ? 0 : shallowSteps(value));
      return value;
    })
    .registerFunction('weighText_(dyn, dyn): dyn', (budget: ExpressionBudget, value: unknown) => {
      take(budget, isOverBudget(budget) || Array.isArray(value) ? 0 : shallowSteps(value));
      return value;
    })
    .registerFunction('weighAll_(dyn, dyn): dyn', (budget: ExpressionBudget, value: unknown) => {
      take(budget, isOverBudget(budget) ? 0 : deepSteps(value, budget.stepsLeft));
      return value;
    })
    .registerFunction(
      'string.matches_(dyn, string): bool',
      (text: string, budget: ExpressionBudget, pattern: string) => {
        try {
          const compiled = budget.patterns.get(pattern) ?? compiledOnce(budget, pattern);
          take(budget, Math.ceil((text.length * compiled.size) / PATTERN_PER_STEP));
          return compiled.test(text);
        } catch (error) {
          throw error instanceof PatternError
            ? new ExpressionError(`the pattern "${pattern}" ${error.message}`)
            : error;
        }
      },
    );
}

/** A loop may go on after this with its next item, so that what is over must cost nothing. */
function take(budget: ExpressionBudget, steps: number): true {
  budget.stepsLeft -= steps;
  budget.allowance.stepsLeft -= steps;
  if (isOverBudget(budget)) throw tooLong;
  return true;
}

/** To compile takes longer than to test: some 10 ms for 600 characters. */
function compiledOnce(budget: ExpressionBudget, pattern: string): Pattern {
  take(budget, 10 * pattern.length);
  const compiled = compilePattern(pattern);
  take(budget, 10 * compiled.size);
  budget.patterns.set(pattern, compiled);
  return compiled;
}

/** Functions that look through all of a text; of a list they only know how long it is. */
const LOOKING_THROUGH = new Set(
  'size contains startsWith endsWith lowerAscii upperAscii trim indexOf lastIndexOf substring split'.split(
    ' ',
  ),
);
const CONVERTING = new Set('size string bytes int uint double bool timestamp duration'.split(' '));
/** Those that look into all that is in it. */
const LOOKING_INTO = new Set(['join', 'json', 'hex', 'string', 'base64']);
const COMPARING = new Set<string>(['==', '!=', '<', '<=', '>', '>=']);

/** The expression with what it costs counted in it. */
export function withBudget(ast: ASTNode): string {
  const made = (op: ASTNode['op'], args: unknown): ASTNode => ({ op, args }) as ASTNode;
  const isLiteral = ({ op }: ASTNode): boolean => op === 'value';
  const weighed = (name: string, node: ASTNode): ASTNode =>
    isLiteral(node) ? node : made('call', [name, [BUDGET, node]]);
  const step = (parts: number): ASTNode => made('call', ['step_', [BUDGET, made('value', BigInt(parts))]]);

  const change = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== 'object' || value === null || !('op' in value)) return value;
    const node = value as ASTNode;
    const args = change(node.args) as ASTNode['args'];
    if (node.op === 'rcall') return changedCall(args as [string, ASTNode, ASTNode[]], node);
    if (node.op === 'call') {
      const [name, given] = args as [string, ASTNode[]];
      return made('call', [
        name,
        CONVERTING.has(name) ? given.map((arg) => weighed('weighText_', arg)) : given,
      ]);
    }
    if (!Array.isArray(args) || args.length !== 2) return made(node.op, args);
    const [left, right] = args as [ASTNode, ASTNode];
    if (node.op === '+') return made('+', [weighed('weigh_', left), weighed('weigh_', right)]);
    if (node.op === 'in') return made('in', [left, weighed('weighAll_', right)]);
    if (COMPARING.has(node.op) && !isLiteral(left) && !isLiteral(right))
      return made(node.op, [weighed('weighAll_', left), right]);
    return made(node.op, args);
  };

  const changedCall = ([name, receiver, given]: [string, ASTNode, ASTNode[]], node: ASTNode): ASTNode => {
    if (name === 'matches') return made('rcall', ['matches_', receiver, [BUDGET, ...given]]);
    if (LOOKING_THROUGH.has(name)) {
      const looked = made('rcall', [name, weighed('weighText_', receiver), given]);
      return name === 'split' ? weighed('weigh_', looked) : looked; // it may make a text of every character
    }
    if (LOOKING_INTO.has(name)) return made('rcall', [name, weighed('weighAll_', receiver), given]);
    if (name.startsWith('get') && given.length > 0) {
      const counted = made('?:', [step(ZONE_STEPS), given[0], given[0]]);
      return made('rcall', [name, receiver, [counted, ...given.slice(1)]]);
    }
    if (!LOOPS.has(name) || given.length < 2 || given[0]!.op !== 'id')
      return made('rcall', [name, receiver, given]);
    // All at once, and outside of the loop: within it some loops take an error for one item's, and go on.
    const parts = made('value', BigInt(partsOf((node.args as [string, ASTNode, ASTNode[]])[2])));
    return made('rcall', [name, made('call', ['loop_', [BUDGET, receiver, parts]]), given]);
  };

  return serialize(change(ast) as ASTNode);
}

/** How many parts are evaluated at most when this is evaluated once. */
function partsOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, inner) => sum + partsOf(inner), 0);
  if (typeof value !== 'object' || value === null || !('op' in value)) return 0;
  return 1 + partsOf((value as ASTNode).args);
}

function itemsOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? keysOf(value).length : 0;
}

/** See `celMap`. */
function keysOf(value: object): string[] {
  return value instanceof Map ? [...(value as Map<string, unknown>).keys()] : Object.keys(value);
}

function shallowSteps(value: unknown): number {
  if (typeof value === 'string') return Math.ceil(value.length / CHARS_PER_STEP);
  if (Array.isArray(value) || ArrayBuffer.isView(value))
    return Math.ceil((value as unknown[]).length / ITEMS_PER_STEP);
  return typeof value === 'object' && value !== null ? keysOf(value).length : 0;
}

/** What was never read counts as large as it may be. Beyond `max` nothing is counted. */
function deepSteps(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return shallowSteps(value);
  if (ArrayBuffer.isView(value)) return Math.ceil(value.byteLength / CHARS_PER_STEP);
  const length = shallowSteps(value);
  if (length > max) return length;
  const unread = unreadParts(value);
  let steps = 1;
  for (const key of keysOf(value)) {
    const later = unread?.get(key);
    steps += later
      ? Math.ceil(later.charsMax / CHARS_PER_STEP)
      : deepSteps(
          value instanceof Map ? value.get(key) : (value as Record<string, unknown>)[key],
          max - steps,
        );
    if (steps > max) break;
  }
  return Math.max(steps, length);
}
