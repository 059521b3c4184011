/** What a tool of this door is: words for the model, fields of the table of operations, and what it makes of them. */
import type { z } from 'zod';
import type { Actor } from '../../contract/actor.ts';
import type { Field, InputSchema } from '../../contract/input-schema.ts';
import { OPERATIONS, type InputOf, type OperationName } from '../../contract/operations.ts';
import type { PersonForm } from './person-form.ts';
import { perform, type AnswerTo, type AskedFrom } from '../../operations/perform.ts';

export interface Tool {
  name: string;
  title: string;
  about: string;
  /** The operations that it asks for. */
  asks: readonly OperationName[];
  input: InputSchema;
  output: z.ZodObject;
  /** It changes nothing; else whether that can be undone. */
  kind: 'looks' | 'acts' | 'lands';
  /** What comes of it goes on after the answer. */
  startsRun?: true;
  act(input: never, asking: ToolContext): Promise<object>;
}

/** Who asks, where, until when, and whom to tell meanwhile. */
export interface ToolContext {
  cwd: string;
  by: Actor;
  signal: AbortSignal;
  /** Absent where the client does not want to hear of it. */
  progress: ((done: number, total: number, message: string) => void) | undefined;
  /** Asks the person in front of the client; undefined where the client cannot. */
  person: AskPerson | undefined;
  /** Why nobody here may decide about limits of all runs. */
  whyNotShared?: string;
}

/** Throws what makes the client ask, where it has not answered yet; null where the person does not want to answer. */
export type AskPerson = (key: string, form: PersonForm) => Record<string, unknown> | null;

/** A field of the table, with words for the model. */
export function fieldOf<Name extends OperationName>(
  name: Name,
  field: keyof (typeof OPERATIONS)[Name]['input']['properties'] & string,
  description: string,
): Field {
  const { properties }: InputSchema = OPERATIONS[name].input;
  return { ...properties[field]!, description };
}

type Rest<Name extends OperationName> = Omit<AskedFrom<Name>, 'cwd' | 'by' | 'signal'>;

/** Performs an operation for whoever asked. */
export function askAs<Name extends OperationName>(
  { cwd, by, signal }: Pick<ToolContext, 'cwd' | 'by' | 'signal'>,
  name: Name,
  input: InputOf<Name>,
  ...[rest]: {} extends Rest<Name>
    ? [(Rest<Name> & { signal?: AbortSignal })?]
    : [Rest<Name> & { signal?: AbortSignal }]
): Promise<AnswerTo<Name>> {
  return perform(name, input, { signal, ...rest, cwd, by } as unknown as AskedFrom<Name>);
}
