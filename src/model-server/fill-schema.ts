/** A value that satisfies a JSON Schema well enough for an agent that insists on one. It means nothing. */
import type { Schema } from './asked.ts';

const DEPTH_MAX = 8;

export function fillSchema(schema: Schema | undefined, depth = 0): unknown {
  const type = Array.isArray(schema?.type) ? schema.type[0] : schema?.type;
  if (schema?.enum !== undefined && schema.enum.length > 0) return schema.enum[0];
  // Gemini writes types in capital letters.
  switch (type?.toLowerCase()) {
    case 'object':
      return depth < DEPTH_MAX ? fillRequired(schema!, {}, depth + 1) : {};
    case 'array':
      return [];
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return 1;
    case 'null':
      return null;
    default:
      return 'scripted';
  }
}

/** Adds to an object what its schema demands and it does not have. */
export function fillRequired(
  schema: Schema,
  value: Record<string, unknown>,
  depth = 0,
): Record<string, unknown> {
  const filled = { ...value };
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(filled, name)) filled[name] = fillSchema(schema.properties?.[name], depth);
  }
  return filled;
}
