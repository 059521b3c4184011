/** Writes what other programs read of our schemas: schema/*.json for editors, and the document of the HTTP door. */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { ownVersion } from '../src/base/version.ts';
import { Config } from '../src/contract/config.ts';
import { openApi } from '../src/doors/http/openapi.ts';
import { WorkflowFile } from '../src/contract/workflow.ts';

export const SCHEMA_PATH = new URL('../schema/workflow.json', import.meta.url);
export const CONFIG_SCHEMA_PATH = new URL('../schema/config.json', import.meta.url);

export function workflowSchema(): string {
  return asText(WorkflowFile, {
    $id: 'urn:bosun:workflow',
    title: 'bosun workflow',
    description: 'Agents, tasks and a budget: what bosun runs on a git repository.',
  });
}

export function configSchema(): string {
  return asText(Config, {
    $id: 'urn:bosun:config',
    title: 'bosun configuration',
    description: 'What a person wants of every run. A repository may set only isolation and budget.',
  });
}

function asText(type: z.ZodType, about: { $id: string; title: string; description: string }): string {
  const { $schema, ...schema } = z.toJSONSchema(type, { io: 'input' });
  return `${JSON.stringify({ $schema, ...about, ...schema }, undefined, 2)}\n`;
}

export const OPENAPI_PATH = new URL('../schema/openapi.json', import.meta.url);

export function openApiText(): string {
  return `${JSON.stringify(openApi(ownVersion()), undefined, 2)}\n`;
}

if (import.meta.main) {
  writeFileSync(SCHEMA_PATH, workflowSchema());
  writeFileSync(CONFIG_SCHEMA_PATH, configSchema());
  writeFileSync(OPENAPI_PATH, openApiText());
}
