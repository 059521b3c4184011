/** What zod found wrong, said so that a person knows what to write instead. */
import { z } from 'zod';
import { didYouMean } from '../../base/suggest.ts';
import { runtimeHint } from '../check/runtime-hint.ts';
import { CONTROL_CHARACTERS, describe, SUGGESTIONS_MAX, type Path, type Problem } from './problem.ts';

type Issue = z.core.$ZodIssue;

const FIELDS_LISTED_MAX = 12;

/** What CI systems and compose files call a field, and its name here. */
const SYNONYMS = {
  after: 'needs',
  depends_on: 'needs',
  'depends-on': 'needs',
  dependson: 'needs',
  dependencies: 'needs',
  cmd: 'run',
  command: 'run',
  script: 'run',
  shell: 'run',
  steps: 'tasks',
  jobs: 'tasks',
  when: 'if',
  matrix: 'for-each',
  with_items: 'for-each',
  environment: 'env',
  instructions: 'prompt',
  system: 'prompt',
  max_turns: 'turns',
  maxconcurrentagents: 'agents',
  agenttimeoutms: 'timeout',
  workspacebasedir: 'workspaces',
  claudemodel: 'model',
};

/** One problem or more for each issue that checking `data` against `schema` gave. */
export function schemaProblems(issues: readonly Issue[], data: unknown, schema: z.ZodType): Problem[] {
  const left = { suggestions: SUGGESTIONS_MAX };
  return issues.flatMap((issue) => explain(issue, [], data, schema, left));
}

/** How many more names may be compared with all others. */
interface Left {
  suggestions: number;
}

function explain(issue: Issue, prefix: Path, data: unknown, schema: z.ZodType, left: Left): Problem[] {
  const path: Path = [...prefix, ...(issue.path as (string | number)[])];
  const value = valueAt(data, path);
  const it = describe(path);
  const one = (message: string): Problem[] => [{ path, message }];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: [...path, key],
        atKey: true,
        message: `unknown field "${key}" in ${it}${left.suggestions-- > 0 ? hint(key, fieldsAt(schema, path)) : '; remove it'}`,
      }));
    case 'invalid_type':
      // A message of the schema's own knows better than the type what to write.
      if (isGiven(value) && !issue.message.startsWith('Invalid input')) {
        return one(`${it} ${issue.message}, but is ${show(value)}`);
      }
      return one(wrongType(it, path, issue.expected, value));
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      const nearest = path.at(-1) === 'runtime' ? runtimeHint : didYouMean;
      const near = typeof value === 'string' && left.suggestions-- > 0 ? nearest(value, allowed) : '';
      const expected = allowed.length === 1 ? `"${allowed[0]}"` : `one of ${allowed.join(', ')}`;
      return one(
        value === undefined ? missing(path) : `${it} must be ${expected}, but is ${show(value)}${near}`,
      );
    }
    case 'too_small':
      if (issue.origin === 'string') return one(`${it} is empty text; write something or remove it`);
      if (issue.origin === 'array') return one(`${it} is an empty list; add something or remove it`);
      return one(
        `${it} must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}, but is ${show(value)}`,
      );
    case 'too_big':
      if (issue.origin === 'string')
        return one(`${it} is longer than ${issue.maximum} characters; shorten it`);
      return one(`${it} must be at most ${issue.maximum}, but is ${show(value)}`);
    case 'invalid_key': {
      const inner = issue.issues[0];
      const what =
        inner?.code === 'too_big' ? `is longer than ${inner.maximum} characters` : (inner?.message ?? '');
      return [{ path, atKey: true, message: `the name of ${it} ${what}` }];
    }
    case 'invalid_union': {
      const fitting = issue.errors.filter((branch) => !isOtherKind(branch));
      if (fitting.length === 1)
        return fitting[0]!.flatMap((inner) => explain(inner, path, data, schema, left));
      if (value === undefined) return one(missing(path));
      return one(`${it} ${issue.message}, but is ${show(value)}`);
    }
    default:
      return one(`${it} ${issue.message}, but is ${show(value)}`);
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A branch of a union that is about another kind of value altogether. */
function isOtherKind(branch: readonly Issue[]): boolean {
  const [first] = branch;
  return first?.path.length === 0 && (first.code === 'invalid_type' || first.code === 'invalid_value');
}

const KINDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of fields (name: value)',
  record: 'a map (name: value)',
};

function wrongType(it: string, path: Path, expected: string, value: unknown): string {
  const kind = KINDS[expected] ?? expected;
  if (value === undefined) return missing(path);
  if (path.length === 0) {
    return value === null
      ? 'the file is empty; a workflow has at least "name" and "tasks"'
      : `a workflow is a map with "name" and "tasks", but this is ${show(value)}`;
  }
  if (value === null) {
    if (path.length === 2 && path[0] === 'tasks') {
      return `${it} is empty; give it "run: <command>", or "agent" and "prompt"`;
    }
    return `${it} is empty; write ${kind} after the ":", or remove it`;
  }
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  if (expected === 'string' && isPlain) {
    return `${it} must be text, but is ${show(value)}; put it in quotes: "${value}"`;
  }
  if (expected === 'array' && typeof value === 'string' && value.length < 40) {
    return `${it} must be a list, but is ${show(value)}; put it in brackets: [${value}]`;
  }
  return `${it} must be ${kind}, but is ${show(value)}`;
}

function missing(path: Path): string {
  const field = String(path.at(-1));
  if (path.length > 1) return `${describe(path.slice(0, -1))} has no "${field}"; add it`;
  if (field === 'name') return 'the workflow has no "name"; add one, such as "name: calculator"';
  return `the workflow has no "${field}"; add it`;
}

function hint(key: string, fields: readonly string[]): string {
  const near = didYouMean(key, fields, SYNONYMS);
  if (near) return near;
  if (key.startsWith('x-') && fields.includes('defaults'))
    return '; put what tasks or agents have in common under "defaults"';
  if (fields.length === 0 || fields.length > FIELDS_LISTED_MAX) return '; remove it';
  return `; the fields are ${fields.join(', ')}`;
}

/** A value as it appears in a message. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    const line = value.split('\n', 1)[0]!.slice(0, 60);
    return `"${line.replaceAll(CONTROL_CHARACTERS, ' ')}${line.length < value.length ? '…' : ''}"`;
  }
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (value === null || value === undefined) return 'empty';
  return typeof value === 'boolean' ? `the boolean ${value}` : `the number ${value as number}`;
}

export function valueAt(data: unknown, path: Path): unknown {
  let value = data;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

/** The fields that the schema has at a path. */
function fieldsAt(schema: z.ZodType, path: Path): string[] {
  let options: z.core.$ZodType[] = [schema];
  for (const part of [...path, undefined]) {
    const objects = options.flatMap(unwrap);
    if (part === undefined)
      return objects.flatMap((o) => (o instanceof z.ZodObject ? Object.keys(o.shape) : []));
    options = objects.flatMap((o): z.core.$ZodType[] => {
      if (o instanceof z.ZodObject) return part in o.shape ? [o.shape[part] as z.core.$ZodType] : [];
      if (o instanceof z.ZodRecord) return [o.valueType];
      return o instanceof z.ZodArray ? [o.element] : [];
    });
  }
  return [];
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(unwrap);
  return [schema];
}
