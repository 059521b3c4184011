/** The row of the table of operations for a run that outlives whoever asked for it. */
import type { Value } from './input-schema.ts';
import { FLAG, NAME, NO_AGENT, PATH, USD, type Operation } from './operation.ts';
import { DRIVING, EXEC, INPUTS, OVER_BUDGET } from './operations-on-runs.ts';
import type { WorkflowSource } from './workflow.ts';

const SOURCE: Value<WorkflowSource> = { type: 'object', must: 'a workflow, as it is written in a file' };

export const ON_ITS_OWN = {
  /** In a process of its own, which drives the run when whoever asked is gone. */
  start: {
    input: {
      type: 'object',
      properties: {
        /** A workflow file; the repository's own where nothing else is named. */
        file: PATH,
        /** In its place: what the file would say. */
        workflow: SOURCE,
        inputs: INPUTS,
        /** In their place: one agent, with this prompt. */
        prompt: EXEC.prompt,
        runtime: EXEC.runtime,
        command: EXEC.command,
        model: EXEC.model,
        check: EXEC.check,
        attempts: EXEC.attempts,
        timeout: EXEC.timeout,
        /** In their place: an earlier run, which goes on. */
        resume: NAME,
        dirty: FLAG,
        usd: USD,
        overBudget: OVER_BUDGET,
        unfenced: FLAG,
        trust: FLAG,
        /** Asked again with the same key, the same program gets the run that it started. */
        key: NAME,
      },
      either: [
        ['file', 'workflow'],
        ['file', 'prompt'],
        ['file', 'resume'],
        ['workflow', 'prompt'],
        ['workflow', 'resume'],
        ['prompt', 'resume'],
      ],
      dependentRequired: {
        runtime: ['prompt'],
        command: ['prompt'],
        model: ['prompt'],
        check: ['prompt'],
        attempts: ['prompt'],
        timeout: ['prompt'],
      },
    },
    output: 'Started',
    errors: [...DRIVING, 'invalid-workflow'],
    actors: NO_AGENT,
    changes: true,
  },
} as const satisfies Record<string, Operation>;
