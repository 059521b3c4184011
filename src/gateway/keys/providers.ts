/**
 * Which model providers there are, where each is reached and whose key it gets: from configurations and from the
 * usual variables of the engine's own environment. It contacts nobody, and keeps no key.
 */
import { parseDurationMs } from '../../base/units.ts';
import { ProviderConfig, type ConfigFile } from '../../contract/config.ts';
import { BosunError } from '../../contract/errors.ts';
import type { ProgramLogin } from '../../contract/login.ts';
import type { Dialect } from '../../contract/model.ts';
import { ProviderKey, PLACEHOLDER_KEY, type KeyHeader, type Secret } from './keys.ts';
import { findLogin, findLoginKey, type Login } from './logins.ts';

export interface Provider {
  name: string;
  dialect: Dialect;
  /** Without a slash at its end. */
  baseUrl: string;
  hasKey: boolean;
  /** Where its key comes from, for people; never the key. */
  how: string;
  key: Secret | undefined;
  /** What the agent's program is logged in with on this machine; it goes before a key. */
  login: Login | undefined;
  /** What an agent brings as its own login is passed on, and a key of ours then not used. */
  passesLogin: boolean;
  /** Without a key or a login it answers nothing, so nothing is sent. */
  isKeyNeeded: boolean;
  headers: Record<string, string>;
  /** What agents may ask of it besides models, such as `POST /v1/files`. */
  pass: readonly string[];
  concurrencyMax: number;
  idleMs: number;
  patienceMs: number;
}

/** By name. */
export type Providers = ReadonlyMap<string, Provider>;

export const PROVIDER_DEFAULTS = {
  /** Requests at once with one key. */
  concurrencyMax: 32,
  /** How long nothing may come: no answer, or no more of it. */
  idleMs: 300_000,
  /** How long a request is held for a rate limit. */
  patienceMs: 600_000,
};

interface BuiltIn {
  dialect: Dialect;
  baseUrl: string;
  baseUrlVariable: string;
  /** The first that is set counts. */
  keyVariables: Record<string, KeyHeader>;
}

const KEY_HEADERS: Record<Dialect, KeyHeader> = {
  anthropic: 'x-api-key',
  openai: 'bearer',
  gemini: 'x-goog-api-key',
};

const BUILT_IN: Record<string, BuiltIn> = {
  anthropic: {
    dialect: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    keyVariables: { ANTHROPIC_AUTH_TOKEN: 'bearer', ANTHROPIC_API_KEY: 'x-api-key' },
  },
  openai: {
    dialect: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariable: 'OPENAI_BASE_URL',
    keyVariables: { OPENAI_API_KEY: 'bearer' },
  },
  gemini: {
    dialect: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com',
    baseUrlVariable: 'GOOGLE_GEMINI_BASE_URL',
    keyVariables: { GEMINI_API_KEY: 'x-goog-api-key', GOOGLE_API_KEY: 'x-goog-api-key' },
  },
};

/**
 * What a repository configures is passed over: it could name or redirect a key. `logins` are those of programs that
 * agents can be.
 */
export function resolveProviders(
  configs: readonly ConfigFile[],
  env: NodeJS.ProcessEnv,
  logins: readonly ProgramLogin[] = [],
): Providers {
  const providers = new Map<string, Provider>();
  const own = configs.find(({ isUsers }) => isUsers)?.config.providers ?? {};
  for (const name of Object.keys(BUILT_IN)) {
    const program = logins.find(({ provider }) => provider === name);
    providers.set(name, builtIn(name, own[name] ?? {}, env, program));
  }
  for (const [name, config] of Object.entries(own))
    if (!Object.hasOwn(BUILT_IN, name)) providers.set(name, custom(name, config, env));
  return providers;
}

function builtIn(
  name: string,
  config: ProviderConfig,
  env: NodeJS.ProcessEnv,
  program: ProgramLogin | undefined,
): Provider {
  const { dialect, baseUrl, baseUrlVariable, keyVariables } = BUILT_IN[name]!;
  const given = config['base-url'] ?? baseUrlOf(env, baseUrlVariable);
  const variable = Object.keys(keyVariables).find((each) => valueOf(env, each) !== undefined);
  const usual = variable === undefined ? undefined : { env: variable, header: keyVariables[variable]! };
  const own =
    keyOf(config, dialect, env) ?? (usual && new ProviderKey({ env: usual.env }, usual.header, { env }));
  const isOthers = given !== undefined && given.replace(/\/+$/, '') !== baseUrl;
  const key =
    own ?? (!program || isOthers || config.login === 'key' ? undefined : findLoginKey(program, env));
  const login = program && mayUseLogin(config, key, isOthers) ? findLogin(program, env) : undefined;
  const provider = assemble(name, config, config.dialect ?? dialect, given ?? baseUrl, key);
  const isKeyNeeded = given === undefined && !key;
  const variables = Object.keys(keyVariables).toReversed().join(' or ');
  if (login) {
    const others = key ? `for others ${provider.how}` : `others need a key: set ${variables}`;
    const how = `${login.how}, for what agents that are ${login.program} ask models; ${others}`;
    const elsewhere = isOthers && { baseUrl: provider.baseUrl };
    return { ...provider, hasKey: true, how, login: { ...login, ...elsewhere }, isKeyNeeded };
  }
  if (!isKeyNeeded) return provider;
  return {
    ...provider,
    isKeyNeeded,
    how: `no key: set ${variables}, or providers.${name}.key in your configuration; an agent's own login works too`,
  };
}

/** Whether agents that may use these logins get answers from it; a login alone is for those that can be its program. */
export function isReadyFor(
  { hasKey, isKeyNeeded, key, login }: Provider,
  logins: readonly ProgramLogin[],
): boolean {
  if (!isKeyNeeded) return true;
  return login && !key ? logins.some(({ program }) => program === login.program) : hasKey;
}

/** A subscription goes where its program would send it; elsewhere, or before a key, only where the user says so. */
function mayUseLogin({ login }: ProviderConfig, key: Secret | undefined, isOthers: boolean): boolean {
  return login === 'agent' || (login === undefined && !key && !isOthers);
}

function custom(name: string, config: ProviderConfig, env: NodeJS.ProcessEnv): Provider {
  const dialect = config.dialect ?? 'openai';
  return assemble(name, config, dialect, config['base-url'] ?? '', keyOf(config, dialect, env));
}

function assemble(
  name: string,
  config: ProviderConfig,
  dialect: Dialect,
  baseUrl: string,
  key: Secret | undefined,
): Provider {
  const { login, headers = {}, pass = [], concurrency, 'timeout-idle': idle, patience } = config;
  return {
    name,
    dialect,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    hasKey: key?.isThere ?? false,
    how: key
      ? `key from ${key.how}${key.isThere ? '' : ', which is not set'}`
      : `no key is sent to ${new URL(baseUrl).host}`,
    key,
    login: undefined,
    passesLogin: login === 'agent' || (!key && login === undefined),
    isKeyNeeded: false,
    headers: Object.fromEntries(
      Object.entries(headers).map(([field, value]) => [field.toLowerCase(), value]),
    ),
    pass,
    concurrencyMax: concurrency ?? PROVIDER_DEFAULTS.concurrencyMax,
    idleMs: idle === undefined ? PROVIDER_DEFAULTS.idleMs : parseDurationMs(idle),
    patienceMs: patience === undefined ? PROVIDER_DEFAULTS.patienceMs : parseDurationMs(patience),
  };
}

function keyOf(config: ProviderConfig, dialect: Dialect, env: NodeJS.ProcessEnv): ProviderKey | undefined {
  if (!config.key) return undefined;
  return new ProviderKey(config.key, config['key-as'] ?? KEY_HEADERS[dialect], { env });
}

function baseUrlOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = valueOf(env, name);
  if (value === undefined || ProviderConfig.shape['base-url'].safeParse(value).success) return value;
  // What is wrong in there may be a password.
  throw new BosunError(
    'usage',
    `the variable ${name} is not an http or https address without user, query and fragment; correct it or unset it`,
  );
}

/** An engine that runs below another one has placeholders there, which are as good as nothing. */
function valueOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' || value === PLACEHOLDER_KEY ? undefined : value;
}
