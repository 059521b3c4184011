/** What an expression may see, and what is said when it fails. It evaluates nothing. */
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Json } from '../../contract/workflow.ts';
import { didYouMean } from '../../base/suggest.ts';
import { kindOf, Later, type Lazy } from './values.ts';
import type { Allowance } from './budget.ts';

export interface ExpressionScope {
  /** What each task gave, by its name. Only the tasks that the expression names are looked up. */
  tasks: Record<string, Readonly<Record<string, Lazy | undefined>>>;
  /** What was published, by the name of the interface: those that the task needs. */
  apis?: Record<string, Readonly<Record<string, Lazy | undefined>>>;
  inputs: Readonly<Record<string, Json>>;
  /** The item and its place, in a task of `for-each`. */
  each?: Json;
  index?: number;
  run: { id: string; name: string };
  /** What `failed()` answers: whether something this task needs has failed. */
  failed?: boolean;
  /** What all expressions that are evaluated together may still cost. */
  allowance?: Allowance;
}

export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

/** How far names are followed in messages. */
const NAME_CHARS_MAX = 200;
const VARIABLES = ['tasks', 'apis', 'inputs', 'each', 'index', 'run'];

interface CelProblem {
  code?: string;
  summary?: string;
  message: string;
  node?: ASTNode;
}

/** What went wrong, in which expression, and what to do; the scope tells what there would have been. */
export function explain(error: unknown, expression: string, scope?: ExpressionScope): string {
  const problem = error as CelProblem;
  const what = problem.summary ?? problem.message;
  const start = quoted(expression);
  switch (problem.code) {
    case 'no_such_key':
      return `${start}: ${missingKey(problem.node, what, scope)}`;
    case 'unknown_variable': {
      const name = /: (.*)$/.exec(what)?.[1] ?? '';
      const dashed = dashedName(expression, name);
      if (dashed)
        return `${start}: "-" means minus here; write ${dashed.owner}['${dashed.name}'] for a name with "-" in it`;
      if (VARIABLES.includes(name))
        return `${start}: there is no "${name}" here; it exists in a task with for-each`;
      return `${start}: unknown name "${name}"${didYouMean(name, VARIABLES) || `; there are ${VARIABLES.join(', ')}`}`;
    }
    case 'no_such_overload': {
      const hint = /string|null/.test(what) ? '; convert one side with string(…), int(…) or double(…)' : '';
      return `${start}: ${what.replaceAll(/dyn<(\w+)>/g, '$1').replace('no such overload:', 'cannot compute')}${hint}`;
    }
    case 'no_matching_overload':
      return `${start}: ${what.replace('found no matching overload for', 'there is no function')}`;
    case 'index_out_of_bounds':
      return `${start}: ${what.replace('No such key: ', '')}`;
    default:
      if (what.startsWith('Exceeded max')) return `${start} is too large or too deep; simplify it`;
      return `${start}: ${what.replace('Unexpected token: EOF', 'the expression ends too early')}`;
  }
}

/** The whole name of which `part` stands behind a dash, as in `tasks.a-part`. */
function dashedName(expression: string, part: string): { owner: string; name: string } | undefined {
  const at = expression.indexOf(`-${part}`);
  if (at === -1) return undefined;
  const [name] = /[\w-]*$/.exec(expression.slice(Math.max(0, at - NAME_CHARS_MAX), at)) ?? [''];
  const before = expression.slice(Math.max(0, at - name.length - NAME_CHARS_MAX), at - name.length);
  if (name === '' || !before.endsWith('.')) return undefined;
  const [rest] = /^[\w-]*/.exec(expression.slice(at, at + part.length + NAME_CHARS_MAX))!;
  return { owner: /[\w.]*$/.exec(before.slice(0, -1))![0], name: name + rest };
}

/** Says what there is instead, where the way to the missing key can be followed. */
function missingKey(node: ASTNode | undefined, what: string, scope: ExpressionScope | undefined): string {
  const key = what.replace('No such key: ', '');
  const path = node && (node.op === '.' || node.op === '[]') ? follow(node.args[0], scope) : undefined;
  if (!path) return `there is no "${key}"; test for it with has(…)`;
  const { name, value } = path;
  if (value === undefined || value === null || typeof value !== 'object') {
    return `${name} has no "${key}", because it is ${kindOf(value)}`;
  }
  const keys = Array.isArray(value)
    ? []
    : Object.keys(value).filter((k) => (value as Record<string, unknown>)[k] !== undefined);
  if (keys.length === 0)
    return `${name} has no "${key}", because it is ${Array.isArray(value) ? 'a list' : 'empty'}`;
  const shown = keys.slice(0, 10).join(', ') + (keys.length > 10 ? ', …' : '');
  return `${name} has no "${key}"${didYouMean(key, keys) || `; it has: ${shown}`}`;
}

function follow(
  node: ASTNode,
  scope: ExpressionScope | undefined,
): { name: string; value: unknown } | undefined {
  if (node.op === 'id') {
    if (!scope || !VARIABLES.includes(node.args)) return undefined;
    return { name: node.args, value: (scope as unknown as Record<string, unknown>)[node.args] };
  }
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const key =
    typeof node.args[1] === 'string'
      ? node.args[1]
      : node.args[1].op === 'value'
        ? node.args[1].args
        : undefined;
  const from = follow(node.args[0], scope);
  if (!from || (typeof key !== 'string' && typeof key !== 'bigint')) return undefined;
  if (typeof from.value !== 'object' || from.value === null) return undefined;
  const name =
    typeof key === 'bigint'
      ? `${from.name}[${key}]`
      : /^\w+$/.test(key)
        ? `${from.name}.${key}`
        : `${from.name}['${key}']`;
  const fields = from.value as Record<string, unknown>;
  const value = Object.hasOwn(fields, String(key)) ? fields[String(key)] : undefined;
  return { name, value: value instanceof Later ? value.read() : value };
}

export function quoted(expression: string): string {
  return `expression "${expression.length > 120 ? `${expression.slice(0, 119)}…` : expression}"`;
}
