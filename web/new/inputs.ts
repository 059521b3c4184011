/** What is typed into the fields of a workflow's inputs → the values of a run, or what is wrong with them. Pure. */
import type { Input, Workflow } from '../../src/contract/workflow.ts';

export type Typed = Record<string, string | boolean>;

/** What the fields show at first; what was typed before stays where a field of that name is there again. */
export function typedAtFirst({ inputs }: Workflow, before: Typed): Typed {
  const entries = Object.entries(inputs).map(([name, input]): [string, string | boolean] => {
    const kept = Object.hasOwn(before, name) ? before[name] : undefined;
    if (input.type === 'boolean') return [name, typeof kept === 'boolean' ? kept : input.default === true];
    const isFitting =
      typeof kept === 'string' && (!input.options || input.options.map(String).includes(kept));
    return [name, isFitting ? kept : String(input.default ?? '')];
  });
  return Object.fromEntries(entries);
}

export interface Read {
  values: Record<string, string | number | boolean>;
  /** By the name of the input. */
  problems: Record<string, string>;
}

/** Those that say what would count anyway are left out. */
export function readInputs({ inputs }: Workflow, typed: Typed): Read {
  const read: Read = { values: {}, problems: {} };
  for (const [name, input] of Object.entries(inputs)) {
    const value = typed[name];
    const problem = problemOf(input, value);
    if (problem !== undefined) read.problems[name] = problem;
    else if (value !== undefined && value !== '' && !isDefault(input, value))
      Object.defineProperty(read.values, name, { value: valueOf(input, value), enumerable: true });
  }
  return read;
}

/** `input "target" must be …` of the server, by the name of the input; what is about none of them is left. */
export function problemsAtInputs(
  message: string,
  { inputs }: Workflow,
): { problems: Record<string, string>; rest: string } {
  const problems: Record<string, string> = {};
  const rest = message.split('\n').filter((line) => {
    const [, name, text] = /^(?:usage: )?input "([^"]+)" (.+)$/.exec(line) ?? [];
    if (name === undefined || text === undefined || !Object.hasOwn(inputs, name)) return true;
    problems[name] = text;
    return false;
  });
  return { problems, rest: rest.join('\n') };
}

function problemOf(input: Input, value: string | boolean | undefined): string | undefined {
  if (typeof value === 'boolean') return undefined;
  const text = value ?? '';
  if (text.trim() === '')
    return input.required && input.default === undefined ? 'This is required.' : undefined;
  if (input.type === 'number' && !Number.isFinite(Number(text))) return 'This must be a number.';
  return undefined;
}

function isDefault({ default: fallback }: Input, value: string | boolean): boolean {
  return typeof value === 'boolean' ? value === (fallback ?? false) : String(fallback ?? '') === value;
}

function valueOf({ type }: Input, value: string | boolean): string | number | boolean {
  return type === 'number' ? Number(value) : value;
}
