/** What an expression speaks of and what it can cost, read from its tree. It evaluates nothing. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { compilePattern, PatternError } from '../../base/pattern.ts';
import { BUDGET_VARIABLE, LOOPS } from './budget.ts';
import { ExpressionError, quoted } from './failure.ts';

const LOOPS_WITHIN_LOOPS_MAX = 3;

/** What an expression speaks of, as far as it can be known without running it. */
export interface References {
  /** Tasks by name; `every` where the name is computed. */
  tasks: ReadonlySet<string>;
  every: boolean;
  /** Interfaces by name; none for a name that is computed. */
  apis: ReadonlySet<string>;
  inputs: ReadonlySet<string>;
  /** Whether it names `each` or `index`. */
  each: boolean;
  /** Whether it calls `always()` or `failed()`. */
  always: boolean;
}

/** Throws where the expression could take too long. */
export function refer(ast: ASTNode, expression: string): References {
  const found = {
    tasks: new Set<string>(),
    every: false,
    apis: new Set<string>(),
    inputs: new Set<string>(),
    each: false,
    always: false,
  };
  const visit = (node: ASTNode, loops: number, hidden: ReadonlySet<string>): void => {
    const path =
      node.op === '.' || node.op === '.?' || node.op === '[]' || node.op === '[?]' ? node.args : undefined;
    if (path?.[0].op === 'id' && !hidden.has(path[0].args)) {
      const key = typeof path[1] === 'string' ? path[1] : path[1].op === 'value' ? path[1].args : undefined;
      if (path[0].args === 'tasks' || path[0].args === 'inputs' || path[0].args === 'apis') {
        if (typeof key === 'string') return void found[path[0].args].add(key);
      }
    }
    if (node.op === 'id' && !hidden.has(node.args)) {
      if (node.args === 'tasks') found.every = true;
      if (node.args === 'each' || node.args === 'index') found.each = true;
    }
    if (node.op === 'call' && node.args[0].endsWith('_'))
      throw new ExpressionError(`${quoted(expression)}: there is no function ${node.args[0]}`);
    if (node.op === 'id' && node.args === BUDGET_VARIABLE)
      throw new ExpressionError(`${quoted(expression)}: there is no ${BUDGET_VARIABLE}`);
    if (node.op === 'call' && (node.args[0] === 'always' || node.args[0] === 'failed')) found.always = true;
    if (node.op === 'rcall') {
      if (node.args[0].endsWith('_'))
        throw new ExpressionError(`${quoted(expression)}: there is no function ${node.args[0]}`);
      const [name, receiver, args] = node.args;
      if (name === 'matches') checkPattern(args[0], expression);
      if (LOOPS.has(name) && args.length > 1 && args[0]?.op === 'id') {
        if (loops >= LOOPS_WITHIN_LOOPS_MAX) {
          throw new ExpressionError(
            `${quoted(expression)} has more than ${LOOPS_WITHIN_LOOPS_MAX} loops (all, exists, map, filter) within each other; simplify it`,
          );
        }
        const inner = new Set([...hidden, args[0].args]);
        visit(receiver, loops, hidden);
        for (const arg of args.slice(1)) visit(arg, loops + 1, inner);
        return;
      }
    }
    for (const child of children(node)) visit(child, loops, hidden);
  };
  visit(ast, 0, new Set());
  return found;
}

function children(node: ASTNode): ASTNode[] {
  const found: ASTNode[] = [];
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) for (const inner of value) collect(inner);
    else if (typeof value === 'object' && value !== null && 'op' in value) found.push(value as ASTNode);
  };
  collect(node.args);
  return found;
}

/** A pattern must be known beforehand, so that a wrong one is told before the run. */
function checkPattern(pattern: ASTNode | undefined, expression: string): void {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
    throw new ExpressionError(`${quoted(expression)}: the pattern of matches() must be written out as text`);
  }
  try {
    compilePattern(pattern.args);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new ExpressionError(`${quoted(expression)}: the pattern of matches() ${error.message}`);
  }
}
