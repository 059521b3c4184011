/**
 * The keys of the configuration as people type them: `budget.usd-per-day`, `providers."my.host".key`. Which variable of
 * the environment stands for one follows from its name. It reads no file and no environment.
 */
import { z } from 'zod';
import { BosunError } from './errors.ts';
import { Config } from './config.ts';

export interface ConfigKey {
  /** As it is typed. */
  name: string;
  path: readonly string[];
  /** Its variable. Absent where a value is more than a line of text: only a file can say it. */
  variable?: string;
  about: string;
}

const PARTS_MAX = 8;
const VARIABLE_PREFIX = 'BOSUN_';

/** What one earlier design calls keys of ours. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  maxConcurrentAgents: 'agents',
  agentTimeoutMs: 'timeout',
  workspaceBaseDir: 'workspaces',
  claudeModel: 'model',
};
const MILLISECONDS = 'agentTimeoutMs';

/** All keys that have one place, in the order of the schema; the name of a map where people name what is in it. */
export const CONFIG_KEYS: readonly ConfigKey[] = keysOf(Config, []);

/** The same key under the name that it has here, and the value as it is written here. */
export function ownName(name: string, value?: string): { name: string; value?: string } {
  const own = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name]! : name;
  const written = name === MILLISECONDS && value !== undefined && /^\d+$/.test(value) ? `${value}ms` : value;
  return { name: own, ...(written !== undefined && { value: written }) };
}

/** Throws where it cannot be a key. */
export function splitKey(name: string): string[] {
  const parts = [...name.matchAll(/(?:"([^"]*)"|([^".]+))(\.|$)/gy)];
  const read = parts.map(([whole]) => whole).join('');
  if (parts.length === 0 || read !== name || name.endsWith('.') || parts.length > PARTS_MAX)
    throw new BosunError(
      'usage',
      `${JSON.stringify(name.slice(0, 100))} is not a key; keys are such as agents, budget.usd-per-day or prices."gpt-5.1*".input`,
    );
  return parts.map(([, quoted, plain]) => quoted ?? plain!);
}

export function joinKey(path: readonly string[]): string {
  return path.map((part) => (/^[^".]+$/.test(part) ? part : `"${part}"`)).join('.');
}

function keysOf(schema: z.ZodObject, path: readonly string[]): ConfigKey[] {
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([field, given]) => {
    const inner = given instanceof z.ZodOptional ? (given.unwrap() as z.ZodType) : given;
    const at = [...path, field];
    if (inner instanceof z.ZodObject) return keysOf(inner, at);
    const isLine = !(
      inner instanceof z.ZodRecord ||
      inner instanceof z.ZodArray ||
      inner instanceof z.ZodUnion
    );
    const about = given.description ?? inner.description ?? '';
    return [{ name: joinKey(at), path: at, about, ...(isLine && { variable: variableOf(at) }) }];
  });
}

/** `budget.usd-per-day` → `BOSUN_BUDGET_USD_PER_DAY` */
function variableOf(path: readonly string[]): string {
  return VARIABLE_PREFIX + path.join('_').replaceAll('-', '_').toUpperCase();
}
