/**
 * Holds what an expression can cost, by counting and not by the clock, so that it ends the same way whenever it is
 * evaluated: loops get a counter, and `matches` an engine of linear time. It evaluates nothing.
 */
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { serialize } from '@marcbachmann/cel-js/serialize';
import { compilePattern, PatternError, type Pattern } from '../base/pattern.ts';
import { ExpressionError, quoted } from './expression-failure.ts';
import { unreadParts } from './expression-values.ts';

export const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
const STEPS_MAX = 30_000;
/** Steps times the characters of the longest text that each of them may look through. */
const STEP_CHARS_MAX = 500_000_000;
const CHARS_MAX = 16 * 1024 * 1024;

/** Instructions times characters of a pattern that take as long as a step. */
const PATTERN_STEP = 1000;

let stepsLeft = 0;
/** Of one evaluation. */
const patterns = new Map<string, Pattern>();
const tooLong = new ExpressionError('');

export function registerBudget(environment: Environment): void {
  environment
    .registerFunction('step_(): bool', () => take(1))
    .registerFunction('string.matches_(string): bool', (text: string, pattern: string) => {
      try {
        const compiled = patterns.get(pattern) ?? compiledOnce(pattern);
        take(Math.ceil((text.length * compiled.size) / PATTERN_STEP));
        return compiled.test(text);
      } catch (error) {
        throw error instanceof PatternError
          ? new ExpressionError(`the pattern "${pattern}" ${error.message}`)
          : error;
      }
    });
}

function take(steps: number): true {
  if ((stepsLeft -= steps) >= 0) return true;
  throw tooLong;
}

/** To compile takes longer than to test: some 10 ms for 600 characters. */
function compiledOnce(pattern: string): Pattern {
  take(pattern.length);
  const compiled = compilePattern(pattern);
  take(compiled.size);
  patterns.set(pattern, compiled);
  return compiled;
}

/** The expression with a counter in each loop; as it is where it has neither loops nor patterns. */
export function withBudget(environment: Environment, ast: ASTNode, expression: string): string {
  const step = environment.parse('step_()').ast;
  const no = environment.parse('false').ast;
  let isChanged = false;
  const made = (op: ASTNode['op'], args: unknown): ASTNode => ({ op, args }) as ASTNode;
  const change = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== 'object' || value === null || !('op' in value)) return value;
    const node = value as ASTNode;
    const args = change(node.args) as ASTNode['args'];
    if (node.op !== 'rcall') return made(node.op, args);
    const [name, receiver, given] = args as [string, ASTNode, ASTNode[]];
    if (name === 'matches') {
      isChanged = true;
      return made('rcall', ['matches_', receiver, given]);
    }
    if (!LOOPS.has(name) || given.length < 2 || given[0]!.op !== 'id') return made(node.op, args);
    isChanged = true;
    const [variable, first, ...rest] = given as [ASTNode, ASTNode, ...ASTNode[]];
    const counted =
      name === 'map' && rest.length === 0
        ? [variable, step, first]
        : [variable, made('?:', [step, first, no]), ...rest];
    return made('rcall', [name, receiver, counted]);
  };
  const changed = change(ast) as ASTNode;
  return isChanged ? serialize(changed) : expression;
}

/** To be called before each evaluation. `sums`: how often the expression adds things up. */
export function openBudget(values: unknown, sums: number, expression: string): void {
  const longest = longestText(values);
  if (longest * (sums + 1) > CHARS_MAX)
    throw new ExpressionError(`${quoted(expression)} would make a text of more than ${CHARS_MAX} characters`);
  patterns.clear();
  stepsLeft = Math.min(STEPS_MAX, Math.floor(STEP_CHARS_MAX / (longest + 1)));
}

/** Whether it ended since it took too many steps. */
export function isOverBudget(): boolean {
  return stepsLeft < 0;
}

const known = new WeakMap<object, number>();

function longestText(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  const before = known.get(value);
  if (before !== undefined) return before;
  let longest = 0;
  const unread = unreadParts(value);
  if (unread) {
    for (const key of Object.keys(value)) {
      const chars = unread.get(key)?.charsMax ?? longestText((value as Record<string, unknown>)[key]);
      longest = Math.max(longest, chars);
    }
  } else for (const inner of Object.values(value)) longest = Math.max(longest, longestText(inner));
  known.set(value, longest);
  return longest;
}
