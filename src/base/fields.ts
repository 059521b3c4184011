/** A JSON object that nobody has checked yet: its fields may hold anything. */

export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** None where it is something else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}
