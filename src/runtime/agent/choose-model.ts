/** Which provider and which of its models an agent asks, of those that are configured. It asks nobody. */
import type { Dialect } from '../../contract/model.ts';
import { BosunError } from '../../contract/errors.ts';
import type { RuntimeDescriptor } from '../descriptor.ts';
import type { Job } from '../runtime.ts';

export interface ModelChoice {
  provider: string;
  dialect: Dialect;
  /** Absent where the agent's own default serves. */
  model: string | undefined;
}

/** By their names, for models that are written without a provider. */
const FAMILIES: [RegExp, Dialect][] = [
  [/^claude/i, 'anthropic'],
  [/^gemini/i, 'gemini'],
  [/^(gpt|o\d|codex|chatgpt)/i, 'openai'],
];

/** `spoken` says what the agent can speak, what it likes best first. A model is `name` or `provider/name`. */
export function chooseModel({ agent, models }: Job, spoken: readonly Dialect[]): ModelChoice {
  const providers = Object.entries(models?.providers ?? {}).filter(([, dialect]) => spoken.includes(dialect));
  const name = agent?.model;
  const slash = name?.indexOf('/') ?? -1;
  const named = slash > 0 ? providers.find(([provider]) => provider === name!.slice(0, slash)) : undefined;
  if (named) return { provider: named[0], dialect: named[1], model: name!.slice(slash + 1) };
  const family = name === undefined ? undefined : FAMILIES.find(([words]) => words.test(name))?.[1];
  const first =
    providers.find(([, dialect]) => dialect === family) ??
    spoken.flatMap((dialect) => providers.filter(([, of]) => of === dialect))[0];
  if (!first) {
    throw new BosunError(
      'system',
      `cannot ask a model: ${agent?.runtime ?? 'the agent'} speaks ${spoken.join(' or ')}, and no such provider is configured; set its key in the environment, or name another runtime`,
    );
  }
  return { provider: first[0], dialect: first[1], model: name };
}

/** Whether a model, by its name, is one that a runtime can ask; where only its command knows, it may be. */
export function speaks({ dialects }: RuntimeDescriptor, model: string): boolean {
  const family = FAMILIES.find(([words]) => words.test(model.slice(model.lastIndexOf('/') + 1)))?.[1];
  return family === undefined || (dialects?.includes(family) ?? true);
}
