/** A workflow's inputs: their declarations, and the values they are given. */
import { BosunError } from '../contract/errors.ts';
import type { Input, Json, Workflow } from '../contract/workflow.ts';
import { didYouMean } from '../base/suggest.ts';
import { SUGGESTIONS_MAX, type Path, type Problem } from './source/problem.ts';
import { show } from './source/schema-problems.ts';

const KINDS = { string: 'text', number: 'a number', boolean: 'true or false' } as const;

/** Declarations that contradict themselves. */
export function checkInputs(workflow: Workflow): Problem[] {
  return Object.entries(workflow.inputs).flatMap(([name, input]) => {
    const path = ['inputs', name];
    const problems: Problem[] = [];
    for (const [n, option] of (input.options ?? []).entries()) {
      if (typeof option === input.type) continue;
      const message = `option ${show(option)} of input "${name}" must be ${KINDS[input.type]}, as its type says`;
      problems.push({ path: [...path, 'options', n], message });
    }
    if (input.default !== undefined && problems.length === 0) {
      const wrong = misfit(input, input.default);
      if (wrong)
        problems.push({ path: [...path, 'default'], message: `the default of input "${name}" ${wrong}` });
    }
    return problems;
  });
}

/** What `with` gives to a workflow that is used. Expressions have no type before the run. */
export function checkWith(
  given: Record<string, Json>,
  path: Path,
  nested: Workflow,
  file: string,
): Problem[] {
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(given)) {
    const input = Object.hasOwn(nested.inputs, name) ? nested.inputs[name] : undefined;
    if (!input) {
      const close = problems.length < SUGGESTIONS_MAX ? didYouMean(name, Object.keys(nested.inputs)) : '';
      const near = close || '; remove it';
      problems.push({
        path: [...path, 'with', name],
        atKey: true,
        message: `${file} has no input "${name}"${near}`,
      });
    } else if (!(typeof value === 'string' && value.includes('${{'))) {
      const wrong = misfit(input, value);
      if (wrong)
        problems.push({ path: [...path, 'with', name], message: `input "${name}" of ${file} ${wrong}` });
    }
  }
  for (const [name, input] of Object.entries(nested.inputs)) {
    if (!input.required || input.default !== undefined || Object.hasOwn(given, name)) continue;
    problems.push({
      path: [...path, 'uses'],
      message: `${file} requires the input "${name}"; add it to "with"`,
    });
  }
  return problems;
}

/** The value of every input: what was given, typed; else its default; else null. */
export function resolveInputs(workflow: Workflow, given: Record<string, Json>): Record<string, Json> {
  const problems: string[] = [];
  const values: Record<string, Json> = {};
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(workflow.inputs, name)) continue;
    const names = Object.keys(workflow.inputs);
    const known = names.length === 0 ? '; it has none' : `; it has: ${names.join(', ')}`;
    problems.push(`workflow "${workflow.name}" has no input "${name}"${didYouMean(name, names) || known}`);
  }
  for (const [name, input] of Object.entries(workflow.inputs)) {
    const text = Object.hasOwn(given, name) ? given[name] : undefined;
    if (text === undefined) {
      if (input.required && input.default === undefined) {
        const about = input.description === undefined ? '' : ` (${input.description})`;
        problems.push(`input "${name}"${about} is required; add --input ${name}=<${input.type}>`);
      }
      values[name] = input.default ?? null;
      continue;
    }
    const value = typed(input, text);
    const wrong = misfit(input, value);
    if (wrong) problems.push(`input "${name}" ${wrong}`);
    values[name] = value;
  }
  if (problems.length > 0) throw new BosunError('usage', problems.join('\n'), { data: { problems } });
  return values;
}

function typed(input: Input, value: Json): Json {
  if (typeof value !== 'string') return value;
  if (input.type === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  if (input.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function misfit(input: Input, value: Json): string | undefined {
  if (typeof value !== input.type) return `must be ${KINDS[input.type]}, but is ${show(value)}`;
  if (!input.options || input.options.some((option) => option === value)) return undefined;
  const near = typeof value === 'string' ? didYouMean(value, input.options.map(String)) : '';
  return `must be one of ${input.options.join(', ')}, but is ${show(value)}${near}`;
}
