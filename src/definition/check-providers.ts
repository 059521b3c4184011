/**
 * What the configuration of a repository may say of providers: it may come from a stranger, so it can neither name
 * where keys are found nor lead keys and logins elsewhere. It reads nothing.
 */
import type { Config, ProviderConfig } from '../contract/config.ts';
import type { Problem } from './problem.ts';

/** They are there without any configuration, see src/gateway/providers.ts. */
const BUILT_IN = ['anthropic', 'openai', 'gemini'];
/** What only users may say, and what that would do in the hands of a stranger. */
const USERS_ONLY = {
  key: 'names where a key is found',
  'key-as': 'says how a key is sent',
  login: 'passes logins on',
  headers: 'sets headers of requests',
  pass: 'lets agents do more at the provider than ask models',
} as const satisfies Partial<Record<keyof ProviderConfig, string>>;

/** `users` is the configuration of the user, where there is one; `place` is where it is, or would be. */
export function strangersProviders(config: Config, users: Config | undefined, place: string): Problem[] {
  return Object.entries(config.providers ?? {}).flatMap(([name, provider]) => {
    const path = ['providers', name];
    const move = `only your own configuration may; if you trust it, write it into ${place}`;
    const problems: Problem[] = Object.entries(USERS_ONLY)
      .filter(([field]) => Object.hasOwn(provider, field))
      .map(([field, what]) => ({
        path: [...path, field],
        atKey: true,
        message: `"${field}" of provider "${name}" ${what}, which a repository's configuration must not; ${move}`,
      }));
    const isBuiltIn = BUILT_IN.includes(name);
    const known = users?.providers?.[name];
    if (isBuiltIn || (known && isElsewhere(provider, known)))
      problems.push({
        path,
        atKey: true,
        message: `this changes the provider "${name}", which ${isBuiltIn ? 'is built in' : 'you have configured'}: your key would go where a repository says; ${move}`,
      });
    return problems;
  });
}

function isElsewhere(one: ProviderConfig, other: ProviderConfig): boolean {
  return one['base-url'] !== other['base-url'] || one.dialect !== other.dialect;
}

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
  return path[0] === 'providers' && (path[2] === 'key' || path[2] === 'headers' || path[2] === 'base-url');
}
