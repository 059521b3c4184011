/**
 * Checks what a task gave against the JSON Schema that its workflow asks for. Both may come from agents, and a schema
 * can take for ever (patterns, choices within choices, references to itself): so it is done in a thread that is ended.
 */
import { z } from 'zod';
import { inThread, ThreadFailure } from '../../base/in-thread.ts';
import type { Json } from '../../contract/workflow.ts';

const PROBLEMS_MAX = 5;
const CHECK_MS_MAX = 3000;

interface Question {
  schema: Record<string, Json>;
  output: Json;
}

const ask = inThread(import.meta.url, { msMax: CHECK_MS_MAX }, problemOf);

/** What is wrong with an output, or undefined. */
export async function outputProblem(schema: Record<string, Json>, output: Json): Promise<string | undefined> {
  try {
    return await ask({ schema, output });
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    return `it cannot be checked against its schema: ${error.message}`;
  }
}

function problemOf({ schema, output }: Question): string | undefined {
  const result = z.fromJSONSchema(schema).safeParse(output);
  if (result.success) return undefined;
  return result.error.issues
    .slice(0, PROBLEMS_MAX)
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''}${issue.message}`)
    .join('; ');
}
