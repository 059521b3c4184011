/** Checks what a configuration says of providers, and knows where secrets may stand in it. It reads nothing. */
import type { Config } from '../../contract/config.ts';
import type { Problem } from '../source/problem.ts';

/** They are there without any configuration, see src/gateway/keys/providers.ts. */
const BUILT_IN = ['anthropic', 'openai', 'gemini'];

/** What must be there for a provider that nobody knows. */
export function incompleteProviders(config: Config): Problem[] {
  return Object.entries(config.providers ?? {}).flatMap(([name, provider]) => {
    if (BUILT_IN.includes(name)) return [];
    return (['dialect', 'base-url'] as const)
      .filter((field) => provider[field] === undefined)
      .map((field) => ({
        path: ['providers', name],
        atKey: true,
        message: `provider "${name}" has no "${field}"; add it${field === 'dialect' ? ': anthropic, openai or gemini' : ', such as http://localhost:11434/v1'}`,
      }));
  });
}

/** Where a person may have written a secret by mistake: such values are never shown. */
export function isSecretPlace(path: Problem['path']): boolean {
  if (path[0] === 'remotes') return path[2] === 'token';
  if (path[0] === 'hooks' || path[0] === 'notify') return true; // the address on the same line may be one
  return path[0] === 'providers' && (path[2] === 'key' || path[2] === 'headers' || path[2] === 'base-url');
}
