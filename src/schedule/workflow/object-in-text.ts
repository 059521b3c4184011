/** Finds the JSON object that an agent was asked to end with, in what it gave: a map, or the end of a text. Pure. */
import type { Json } from '../../contract/workflow.ts';

/** Where the object stands at the end of a text it is no longer than this, and holds no more braces. */
const OBJECT_CHARS_MAX = 16_000;
const BRACES_MAX = 50;

/** The one that has this field. */
export function objectWith(field: string, output: Json): Record<string, Json> | undefined {
  if (typeof output !== 'string') {
    if (typeof output !== 'object' || output === null || Array.isArray(output)) return undefined;
    return Object.hasOwn(output, field) ? output : undefined;
  }
  const end = output.trimEnd().replace(/```$/, '').trimEnd().slice(-OBJECT_CHARS_MAX);
  let from = end.length;
  for (let braces = 0; braces < BRACES_MAX && from > 0; braces++) {
    from = end.lastIndexOf('{', from - 1);
    if (from < 0) return undefined;
    const found = objectWith(field, parsed(end.slice(from)));
    if (found) return found;
  }
  return undefined;
}

function parsed(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
