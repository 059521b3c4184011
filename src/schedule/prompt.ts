/** Puts values into what the workflow says: prompts, commands, environments, inputs. Pure. */
import type { Json } from '../contract/workflow.ts';
import { evaluate, parseTemplate, render, type ExpressionScope } from './expression.ts';
import { hasFailed, type Node, type State } from './state.ts';

interface Work {
  prompt: string;
  env?: Record<string, string>;
}

/** What an attempt is given: the prompt of an agent, or the command of a `run` task. */
export function renderWork(state: State, node: Node): Work {
  const { task } = node;
  const env: Record<string, string> = {};
  for (const [key, text] of Object.entries(task.env ?? {})) env[key] = renderText(state, node, text);
  const prompt = node.resolving
    ? resolvePrompt(node.resolving.conflict)
    : task.run !== undefined
      ? renderCommand(state, node, task.run, env)
      : renderText(state, node, task.prompt ?? '');
  return { prompt, ...(Object.keys(env).length > 0 && { env }) };
}

/**
 * A value never becomes part of a shell command: it goes into a variable, and the command names the variable.
 * So what an earlier agent wrote cannot run as code.
 */
function renderCommand(state: State, node: Node, command: string, env: Record<string, string>): string {
  const parts = parseTemplate(command);
  return parts
    .map((part, n) => {
      if ('text' in part) return part.text;
      const variable = `BOSUN_VALUE_${n}`;
      env[variable] = renderText(state, node, `\${{${part.expression}}}`);
      return `\${${variable}}`;
    })
    .join('');
}

export function renderText(state: State, node: Node, text: string): string {
  return text.includes('${{') ? render(text, scopeOf(state, node, text)) : text;
}

/** A value that is one whole expression keeps its type; a string with expressions in it stays a string. */
export function renderInputs(state: State, node: Node): Record<string, Json> {
  const nested = node.workflow.nested![node.task.uses!]!;
  const inputs: Record<string, Json> = {};
  for (const [key, input] of Object.entries(nested.inputs))
    if (input.default !== undefined) inputs[key] = input.default;
  for (const [key, value] of Object.entries(node.task.with ?? {})) {
    if (typeof value !== 'string') inputs[key] = value;
    else {
      const parts = parseTemplate(value);
      const isWhole = parts.length === 1 && parts[0]?.kind === 'expression';
      inputs[key] = isWhole ? evaluate(value, scopeOf(state, node, value)) : renderText(state, node, value);
    }
  }
  return inputs;
}

/** What an expression of this node may speak of. Only the tasks it names are looked at: there may be thousands. */
export function scopeOf(state: State, node: Node, text: string): ExpressionScope {
  const names = new Set((node.parent?.kind === 'for-each' ? node.parent : node).task.needs);
  for (const match of text.matchAll(/tasks(?:\.(\w+)|\[\s*['"]([^'"]+)['"]\s*\])/g))
    names.add(match[1] ?? match[2]!);
  const tasks: Record<string, ExpressionScope['tasks'][string]> = {};
  for (const name of names) {
    const other = node.siblings.get(name);
    if (other) tasks[name] = taskScope(other);
  }
  return {
    tasks,
    inputs: node.inputs,
    run: { id: state.id, name: state.workflow.name },
    failed: node.needs.some(hasFailed),
    ...(node.each && { each: node.each.value, index: node.each.index }),
  };
}

function taskScope(node: Node): ExpressionScope['tasks'][string] {
  const outputs =
    node.kind === 'for-each' ? node.children.map((child) => child.output ?? null) : [node.output ?? null];
  const output = node.kind === 'for-each' ? outputs : (node.output ?? null);
  return { state: node.state, output, outputs, changed: node.changedCount ?? 0 };
}

function resolvePrompt(conflict: { files: string[]; with: string[] }): string {
  return [
    'Two lines of work changed the same files, and git could not merge them.',
    `These files hold conflict markers (<<<<<<<, =======, >>>>>>>): ${conflict.files.join(', ')}.`,
    'Edit them so that both intentions are kept, and leave no marker behind. Change nothing else.',
  ].join('\n');
}
