/** From what was typed to an operation: which input that is, where, and who asks. What is wrong with it is told by flag. */
import { userInfo } from 'node:os';
import type { Actor } from '../../contract/actor.ts';
import { BosunError } from '../../contract/errors.ts';
import { inputProblem, tellProblem, type Field, type InputSchema } from '../../contract/input-schema.ts';
import { OPERATIONS, type InputOf, type OperationName } from '../../contract/operations.ts';
import { perform, type AnswerTo, type AskedFrom } from '../../operations/perform.ts';
import type { Typed } from './command.ts';
import { apartActor } from '../apart.ts';

/** `also` is what a command makes of words that are not one field each; it goes before what was typed. */
export function inputOf<Name extends OperationName>(
  name: Name,
  typed: Typed,
  also: Partial<InputOf<Name>> = {},
): InputOf<Name> {
  const schema: InputSchema = OPERATIONS[name].input;
  const input: Record<string, unknown> = {
    ...argumentsOf(typed, schema),
    ...optionsOf(typed, schema),
    ...also,
  };
  const problem = inputProblem(schema, input);
  if (!problem) return input as InputOf<Name>;
  const { field = '' } = problem;
  // As it was typed: a number that was read is not what people know.
  const got = typeof problem.got === 'number' ? (typed.options[field] ?? problem.got) : problem.got;
  throw new BosunError(
    'usage',
    tellProblem({ ...problem, got }, (each) => calledIn(typed, each)),
  );
}

type Rest<Name extends OperationName> = Omit<AskedFrom<Name>, 'cwd' | 'by'>;

/** Performs the operation here, for whoever typed. */
export function ask<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  ...[rest]: {} extends Rest<Name> ? [Rest<Name>?] : [Rest<Name>]
): Promise<AnswerTo<Name>> {
  return perform(name, input, { ...rest, ...aroundHere() });
}

/** Where, and who asks. */
export function aroundHere(): { cwd: string; by: Actor } {
  return { cwd: process.cwd(), by: whoTypes() };
}

/** By the login; there is none for a user whom the system does not know. */
function whoTypes(): Actor {
  if (apartActor) return apartActor;
  try {
    return { kind: 'person', name: userInfo().username };
  } catch {
    return { kind: 'person', name: `user-${process.getuid?.() ?? 'unknown'}` };
  }
}

function argumentsOf({ command, args }: Typed, { properties }: InputSchema): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const [n, { name, many }] of (command.arguments ?? []).entries()) {
    const field = properties[name];
    if (field === undefined) continue;
    if (many && field.type === 'array') input[name] = args.slice(n);
    else if (args[n] !== undefined) input[name] = args[n];
  }
  return input;
}

function optionsOf({ options }: Typed, { properties }: InputSchema): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) => {
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return field === undefined || value === undefined ? [] : [[name, read(field, value)]];
    }),
  );
}

/** What does not look like a number stays as it is, and is refused. */
function read({ type }: Field, value: string | string[] | boolean): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'integer') return /^\d+$/.test(value) ? Number(value) : value;
  if (type !== 'number') return value;
  return /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : value;
}

/** `--usd-per-day`, or an argument's own name. */
function calledIn({ command }: Typed, field: string): string {
  const flag = `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const isOption = command.options?.some(({ flags }) => flags.split(/[ ,]+/).includes(flag));
  return isOption ? flag : field;
}
