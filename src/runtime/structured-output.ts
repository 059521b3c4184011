/** Checks what a task gave against the JSON Schema that its workflow asks for. */
import { z } from 'zod';
import type { Json } from '../contract/workflow.ts';

const PROBLEMS_MAX = 5;

/** What is wrong with an output, or undefined. */
export function outputProblem(schema: Record<string, Json>, output: Json): string | undefined {
  const result = z.fromJSONSchema(schema).safeParse(output);
  if (result.success) return undefined;
  return result.error.issues
    .slice(0, PROBLEMS_MAX)
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''}${issue.message}`)
    .join('; ');
}
