/** Writes schema/workflow.json, the JSON Schema that editors read, from the one schema in the contract. */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { WorkflowFile } from '../src/contract/workflow.ts';

export const SCHEMA_PATH = new URL('../schema/workflow.json', import.meta.url);

export function workflowSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(WorkflowFile, { io: 'input' });
  const whole = {
    $schema,
    $id: 'urn:bosun:workflow',
    title: 'bosun workflow',
    description: 'Agents, tasks and a budget: what bosun runs on a git repository.',
    ...schema,
  };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

if (import.meta.main) writeFileSync(SCHEMA_PATH, workflowSchema());
