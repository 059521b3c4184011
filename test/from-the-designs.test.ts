/** Each row of docs/from-the-designs.md names something that is there, and names it right. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CONFIG_KEYS } from '../src/contract/config-keys.ts';
import { EVENT_SCHEMAS } from '../src/contract/event-schema.ts';
import * as outputs from '../src/contract/outputs.ts';
import { WorkflowFile } from '../src/contract/workflow.ts';
import { TOOL_NAMES } from '../src/crew/tools.ts';
import { COMMANDS } from '../src/doors/cli/table.ts';
import * as api from '../src/index.ts';

const PAGE = readFileSync('docs/from-the-designs.md', 'utf8');
const rows = PAGE.split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (there|-+) /.test(line))
  .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '').trim()));

/** Whether there is what a word before a name says. */
const KINDS: Record<string, (name: string) => boolean | Promise<boolean>> = {
  command: (name) => {
    const [word, ...flags] = name.split(' ');
    const command = COMMANDS.find((each) => each.name === word);
    const known = (command?.options ?? []).flatMap((option) => option.flags.split(/[ ,]+/));
    return command !== undefined && flags.every((flag) => known.includes(flag));
  },
  library: (name) => typeof (api.Bosun.prototype as unknown as Record<string, unknown>)[name] === 'function',
  export: (name) => name in api,
  event: (name) => name in EVENT_SCHEMAS,
  field: (name) => schemaAt(WorkflowFile, name.split('.')),
  tool: (name) => TOOL_NAMES.includes(name as never),
  key: (name) => CONFIG_KEYS.some((key) => key.name === name),
  output: (name) => {
    const [type, ...fields] = name.split('.');
    const schema = (outputs as Record<string, unknown>)[type!];
    return schema instanceof z.ZodType && schemaAt(schema, fields);
  },
  file: (name) => existsSync(name),
  page: (name) => existsSync(path.join('docs', name)),
  route: async (name) => {
    const { ROUTES } = (await exported('src/doors/http/routes.ts')) as {
      ROUTES: { method: string; path: string }[];
    };
    return ROUTES.some(({ method, path: at }) => `${method} ${at}` === name);
  },
  mcp: async (name) => {
    const { MCP_TOOLS } = (await exported('src/doors/mcp/tools.ts')) as { MCP_TOOLS: { name: string }[] };
    return MCP_TOOLS.some((tool) => tool.name === name);
  },
};

describe('the page on the designs', () => {
  it('has them all', () => {
    expect(PAGE.match(/^## /gm)).toHaveLength(5);
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter((cells) => cells.length !== 3).map(String)).toEqual([]);
    const names = rows.map(([there]) => there);
    expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
  });

  it.each(rows)('%s is where it says: %s', async (_, here) => {
    const named = [...here.matchAll(/([a-z]+) `([^`]+)`/g)].map(([, kind, name]) => [kind!, name!] as const);
    expect(named.length).toBeGreaterThan(0);
    expect(here.split('; ')).toHaveLength(named.length);
    for (const [kind, name] of named) expect(await KINDS[kind]?.(name), `${kind} ${name}`).toBe(true);
  });
});

async function exported(file: string): Promise<unknown> {
  return import(pathToFileURL(path.resolve(file)).href);
}

/** Through whatever is around it; `*` is any name of a map, and a list is what it holds. */
function schemaAt(schema: z.core.$ZodType, [part, ...rest]: readonly string[]): boolean {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodDefault
  )
    return schemaAt(schema.unwrap(), part === undefined ? [] : [part, ...rest]);
  if (schema instanceof z.ZodNullable)
    return schemaAt(schema.unwrap(), part === undefined ? [] : [part, ...rest]);
  if (part === undefined) return true;
  if (schema instanceof z.ZodUnion) return schema.options.some((each) => schemaAt(each, [part, ...rest]));
  if (schema instanceof z.ZodArray) return schemaAt(schema.element, [part, ...rest]);
  if (schema instanceof z.ZodRecord) return part === '*' && schemaAt(schema.valueType, rest);
  if (!(schema instanceof z.ZodObject)) return false;
  const inner = (schema.shape as Record<string, z.ZodType>)[part];
  return inner !== undefined && schemaAt(inner, rest);
}
