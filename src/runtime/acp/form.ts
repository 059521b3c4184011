/**
 * A form that an agent wants filled in: each field becomes a question to a person, one after the other, and the answers
 * go back as the form's values. Never hangs, since each question has a time-out; what nobody fills in is declined.
 */
import {
  CreateElicitationRequest,
  type CreateElicitationResponse,
  type ElicitationPropertySchema,
} from '@agentclientprotocol/sdk';
import type { Choice } from '../../contract/question.ts';
import { askPerson, type PersonSaid } from '../agent/ask-person.ts';
import type { Job } from '../runtime.ts';

/** An agent that wants more than this to be filled in gets nothing. */
const FIELDS_MAX = 20;
/** How often a person is asked for a value that fits. */
const TRIES_MAX = 3;

type Asker = Pick<Job, 'ask' | 'emit'>;
type Value = string | number | boolean | string[];

export async function fillIn(
  job: Asker,
  request: CreateElicitationRequest,
): Promise<CreateElicitationResponse> {
  if (!CreateElicitationRequest.isForm(request)) return { action: 'decline' };
  const { message, requestedSchema } = request;
  const fields = fieldsOf(requestedSchema.properties ?? {}, requestedSchema.required ?? []);
  if (fields.length === 0 || fields.length > FIELDS_MAX) return { action: 'decline' };
  const id = toolCallOf(request) ?? 'form';
  const content: Record<string, Value> = {};
  for (const field of fields) {
    const { description, title } = field.schema;
    const words = description ?? (fields.length === 1 ? undefined : title);
    const text = [...new Set([message, words].filter(Boolean))].join('\n');
    const values = await valueOf(job, field, { id, text });
    if (values === undefined && (field.isRequired || Object.keys(content).length === 0))
      return { action: 'decline' };
    Object.assign(content, values);
  }
  return { action: 'accept', content };
}

/** As far as fields matter here: with any of these keys or none. */
type Schema = Extract<ElicitationPropertySchema, { [key: string]: unknown }> & {
  title?: string;
  description?: string;
  enum?: string[];
  oneOf?: Option[];
  items?: { enum?: string[]; anyOf?: Option[] };
  minLength?: number | null;
  maxLength?: number | null;
  minimum?: number | null;
  maximum?: number | null;
};
interface Option {
  const: string;
  title?: string;
  description?: string | null;
}

interface Field {
  name: string;
  schema: Schema;
  isRequired: boolean;
  /** What can be chosen, with the value that each stands for. */
  options: (Choice & { value: string | boolean })[];
  /** The field beside it that takes words in place of a choice. */
  other?: string;
}

function fieldsOf(properties: Record<string, ElicitationPropertySchema>, required: string[]): Field[] {
  const fields: Field[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const schema = property as Schema;
    const field = { name, schema, isRequired: required.includes(name), options: optionsOf(schema) };
    const before = fields.at(-1);
    const isOther =
      schema.type === 'string' && field.options.length === 0 && !field.isRequired && before !== undefined;
    // As Claude's forms have it: question_0, question_0_custom.
    if (isOther && before.options.length > 0 && name.startsWith(before.name)) before.other = name;
    else fields.push(field);
  }
  return fields;
}

function optionsOf({ type, enum: plain, oneOf, items }: Schema): Field['options'] {
  if (type === 'boolean')
    return [
      { label: 'yes', value: true },
      { label: 'no', value: false },
    ];
  const titled = oneOf ?? items?.anyOf;
  if (titled)
    return titled.map(({ const: value, title, description }) => {
      return { label: title ?? value, value, ...(description && { about: description }) };
    });
  return (plain ?? items?.enum ?? []).map((value) => ({ label: value, value }));
}

/** Undefined where nobody gives one that fits. */
async function valueOf(
  job: Asker,
  field: Field,
  asked: { id: string; text: string },
): Promise<Record<string, Value> | undefined> {
  const { name, schema, options, other } = field;
  let problem = '';
  for (let n = 0; n < TRIES_MAX; n++) {
    const said = await askPerson(job, {
      ...asked,
      text: `${asked.text}${problem && `\n${problem}`}`,
      ...(options.length > 0 && { choices: options }),
      several: schema.type === 'array',
      freeText: options.length === 0 || other !== undefined,
    });
    if (said.answer === null) return undefined;
    if (said.picked.length > 0) return { [name]: chosenOf(field, said), ...noteOf(field, said) };
    if (other !== undefined) return { [other]: said.answer };
    const read = readText(schema, said.answer);
    if (!('problem' in read)) return { [name]: read.value };
    problem = read.problem;
  }
  return undefined;
}

function chosenOf({ schema, options }: Field, { picked }: PersonSaid): Value {
  const values = picked.map((n) => options[n]!.value);
  return schema.type === 'array' ? (values as string[]) : values[0]!;
}

/** What a person adds to a choice goes where their own words would go. */
function noteOf({ other }: Field, { note }: PersonSaid): Record<string, Value> {
  return other === undefined || note === undefined ? {} : { [other]: note };
}

function readText(schema: Schema, text: string): { value: Value } | { problem: string } {
  const { type } = schema;
  const [minLength, maxLength] = [schema.minLength ?? 0, schema.maxLength ?? Infinity];
  const [minimum, maximum] = [schema.minimum ?? -Infinity, schema.maximum ?? Infinity];
  if (type !== 'number' && type !== 'integer') {
    if (text.length >= minLength && text.length <= maxLength) return { value: text };
    return { problem: `It must have ${minLength} to ${maxLength} characters.` };
  }
  const value = Number(text);
  if (!Number.isFinite(value) || (type === 'integer' && !Number.isInteger(value)))
    return { problem: `It must be a ${type === 'integer' ? 'whole ' : ''}number.` };
  if (value < minimum || value > maximum) return { problem: `It must be from ${minimum} to ${maximum}.` };
  return { value };
}

function toolCallOf(request: object): string | undefined {
  return (request as { toolCallId?: string | null }).toolCallId ?? undefined;
}
