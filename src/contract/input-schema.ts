/**
 * What an operation takes, as JSON Schema: the types of its input follow from it, and what people and programs hand in
 * is held against it. It knows only the few kinds that inputs are made of, and loads nothing, since each command does.
 */

export interface InputSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
  /** A field, and those that have to be there with it. */
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  /** Of each of these only one may be given. */
  readonly either?: readonly (readonly [string, string])[];
}

export type Field = Text | Figure | Flag | List | Value;

interface Said {
  readonly description?: string;
  /** What it must be, in words, where its type does not say it. */
  readonly must?: string;
}
interface Text extends Said {
  readonly type: 'string';
  readonly maxLength: number;
  readonly enum?: readonly string[];
}
interface Figure extends Said {
  readonly type: 'integer' | 'number';
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}
interface Flag extends Said {
  readonly type: 'boolean';
}
interface List extends Said {
  readonly type: 'array';
  readonly items: Text;
  readonly maxItems: number;
}
/** Looked at from outside only: the operation itself checks what is in it. */
export interface Value<T = unknown> extends Said {
  readonly type: 'object';
  /** Never there: it carries the type. */
  readonly as?: T;
}

export type InputValue<Schema extends InputSchema> = Partially<Schema['properties'], RequiredOf<Schema>>;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;
type Partially<Fields, Required> = Flat<
  { -readonly [Name in keyof Fields as Name extends Required ? Name : never]: FieldValue<Fields[Name]> } & {
    -readonly [Name in keyof Fields as Name extends Required ? never : Name]?: FieldValue<Fields[Name]>;
  }
>;
type Flat<T> = { [Name in keyof T]: T[Name] };
type FieldValue<Of> = Of extends { readonly type: 'array' }
  ? readonly string[]
  : Of extends { readonly type: 'integer' | 'number' }
    ? number
    : Of extends { readonly type: 'boolean' }
      ? boolean
      : Of extends { readonly as?: infer T }
        ? T
        : Of extends { readonly enum: readonly (infer Choice)[] }
          ? Choice
          : string;

/** What is wrong with an input, so that each door can name the field as its users know it. */
export interface InputProblem {
  /** Absent where it is about the whole. */
  field?: string;
  /** What follows the name of the field, such as `must be a whole number`; `{task}` stands for another field. */
  what: string;
  /** What was given; absent where that says nothing. */
  got?: unknown;
}

/** The first problem; undefined where there is none. */
export function inputProblem(schema: InputSchema, input: unknown): InputProblem | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return { what: 'the input must be an object', got: input };
  const fields = Object.entries(input).filter(([, value]) => value !== undefined);
  for (const [field, value] of fields) {
    if (!Object.hasOwn(schema.properties, field)) {
      const known = Object.keys(schema.properties).join(', ') || 'none';
      return { field, what: `is not a field; there are: ${known}` };
    }
    const problem = fieldProblem(schema.properties[field]!, value);
    if (problem) return { field, ...problem };
  }
  const given = new Set(fields.flatMap(([field, value]) => (value === false ? [] : [field])));
  const missing = schema.required?.find((field) => !given.has(field));
  return missing === undefined ? dependencyProblem(schema, given) : { field: missing, what: 'is missing' };
}

const SHOWN_CHARS_MAX = 100;

/** In words for people; `called` is what they know a field as. */
export function tellProblem(
  { field, what, got }: InputProblem,
  called: (field: string) => string = (name) => name,
): string {
  const name = field === undefined ? '' : `${called(field.slice(0, SHOWN_CHARS_MAX))} `;
  const words = what.replaceAll(/\{(\w+)\}/g, (_, other: string) => called(other));
  return got === undefined ? `${name}${words}` : `${name}${words}, not ${shown(got)}`;
}

function shown(value: unknown): string {
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text;
}

function fieldProblem(field: Field, value: unknown): Omit<InputProblem, 'field'> | undefined {
  const wrong = { what: `must be ${field.must ?? wordsOf(field)}`, got: value };
  switch (field.type) {
    case 'string':
      if (typeof value !== 'string') return wrong;
      if (field.enum && !field.enum.includes(value)) return wrong;
      return textProblem(field, value);
    case 'integer':
    case 'number':
      return isFigure(field, value) ? undefined : wrong;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrong;
    case 'array':
      if (!Array.isArray(value)) return wrong;
      if (value.length > field.maxItems)
        return { what: `has too many entries: at most ${field.maxItems}, and there are ${value.length}` };
      for (const item of value) {
        const problem = fieldProblem(field.items, item);
        if (problem) return problem;
      }
      return undefined;
    default:
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : wrong;
  }
}

function textProblem({ maxLength }: Text, text: string): Omit<InputProblem, 'field'> | undefined {
  if (text.length <= maxLength) return undefined;
  return { what: `is too long: at most ${maxLength} characters, and this one has ${text.length}` };
}

function isFigure(field: Figure, value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  if (field.type === 'integer' && !Number.isSafeInteger(value)) return false;
  const { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = field;
  return value >= minimum && value > exclusiveMinimum && value <= maximum;
}

function wordsOf(field: Field): string {
  switch (field.type) {
    case 'string':
      return field.enum ? `one of ${field.enum.join(', ')}` : 'text';
    case 'integer':
    case 'number': {
      const figure = field.type === 'integer' ? 'a whole number' : 'a number';
      const above = field.exclusiveMinimum ?? (field.minimum === 1 ? 0 : undefined);
      const most = field.maximum === undefined ? '' : ` of at most ${field.maximum}`;
      return above === undefined
        ? `${figure}${most}`
        : `${figure} above ${above}${most && ` and${most.slice(3)}`}`;
    }
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list of texts';
    default:
      return 'an object';
  }
}

function dependencyProblem(
  { dependentRequired = {}, either = [] }: InputSchema,
  given: ReadonlySet<string>,
): InputProblem | undefined {
  for (const [field, needed] of Object.entries(dependentRequired)) {
    const missing = given.has(field) ? needed.find((each) => !given.has(each)) : undefined;
    if (missing !== undefined) return { field, what: `belongs to a ${missing}: name it with {${missing}}` };
  }
  const both = either.find((pair) => pair.every((field) => given.has(field)));
  return both && { what: `use {${both[0]}} or {${both[1]}}, not both` };
}
