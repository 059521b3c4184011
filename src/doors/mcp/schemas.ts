/** The schemas of a tool as the protocol has them: made of fields of the table of operations, which also checks them. */
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isFields } from '../../base/fields.ts';
import { inputProblem, tellProblem, type Field, type InputSchema } from '../../contract/input-schema.ts';

type JsonSchema = Record<string, unknown>;

const INPUTS = new WeakMap<object, JsonSchema>();
const OUTPUTS = new WeakMap<object, JsonSchema>();

/** What is handed in is held against the table, and what is wrong with it is told in its words. */
export function inputSchemaOf(schema: InputSchema): StandardSchemaWithJSON<Record<string, unknown>> {
  const json = once(INPUTS, schema, jsonSchemaOf);
  return {
    '~standard': {
      version: 1,
      vendor: 'bosun',
      validate(value) {
        const problem = inputProblem(schema, value);
        return problem
          ? { issues: [{ message: tellProblem(problem) }] }
          : { value: value as Record<string, unknown> };
      },
      jsonSchema: { input: () => json, output: () => json },
    },
  };
}

/** Which fields exclude each other is said in words: many models are given no more than the plain keywords. */
function jsonSchemaOf({ properties, required = [] }: InputSchema): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, fieldSchema(field)]),
    ),
    ...(required.length > 0 && { required: [...required] }),
    additionalProperties: false,
  };
}

function fieldSchema(field: Field): JsonSchema {
  const { must: _, ...rest } = { ...field } as Field & { as?: unknown };
  delete rest.as;
  return rest.type === 'array' ? { ...rest, items: fieldSchema(rest.items) } : { ...rest };
}

/** What a tool gives: some clients know no fields of several types, so that these are written as alternatives. */
export function outputSchemaOf(schema: z.ZodObject): StandardSchemaWithJSON<Record<string, unknown>> {
  const json = once(OUTPUTS, schema, outputJsonOf);
  const { validate } = schema['~standard'];
  return {
    '~standard': {
      version: 1,
      vendor: 'bosun',
      validate,
      jsonSchema: { input: () => json, output: () => json },
    },
  };
}

function outputJsonOf(schema: z.ZodObject): JsonSchema {
  const { $schema: _, ...json } = withOneType(z.toJSONSchema(schema)) as JsonSchema;
  return json;
}

/** A server is made for each request over HTTP: what all of them say is made once. */
function once<T extends object>(
  made: WeakMap<object, JsonSchema>,
  of: T,
  make: (of: T) => JsonSchema,
): JsonSchema {
  const json = made.get(of) ?? make(of);
  made.set(of, json);
  return json;
}

function withOneType(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOneType);
  if (!isFields(value)) return value;
  const fields = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withOneType(each)]));
  const { type, ...rest } = fields;
  return Array.isArray(type) ? { ...rest, anyOf: type.map((each: unknown) => ({ type: each })) } : fields;
}
