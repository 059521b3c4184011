/** What the environment says of the configuration: a variable for each key that is one line. It reads no file. */
import { BosunError } from '../contract/errors.ts';
import { Config, type ConfigFile } from '../contract/config.ts';
import { CONFIG_KEYS, type ConfigKey } from '../contract/config-keys.ts';
import { schemaProblems } from './source/schema-problems.ts';

const THE_ENVIRONMENT = 'the environment';

/** The user's own configuration with what the environment says in its place, key by key; the repository's as it is. */
export function withEnvironment(configs: readonly ConfigFile[], env: NodeJS.ProcessEnv): ConfigFile[] {
  const said = environmentConfig(env);
  if (Object.keys(said).length === 0) return [...configs];
  const users = configs.find(({ isUsers }) => isUsers);
  if (!users) return [...configs, { file: THE_ENVIRONMENT, config: said, isUsers: true }];
  return configs.map((each) =>
    each === users ? { ...users, config: mergeConfigs(users.config, said) } : each,
  );
}

/** Throws where a variable says what its key cannot be. */
export function environmentConfig(env: NodeJS.ProcessEnv): Config {
  let said: Config = {};
  for (const key of CONFIG_KEYS) {
    const text = key.variable === undefined ? undefined : env[key.variable];
    if (text !== undefined && text !== '') said = mergeConfigs(said, readVariable(key, text));
  }
  return said;
}

/** Key by key: what `over` says replaces what `under` says; lists are replaced as a whole. */
function mergeConfigs(under: Config, over: Config): Config {
  return {
    ...under,
    ...over,
    ...((under.budget ?? over.budget) && { budget: { ...under.budget, ...over.budget } }),
  };
}

function readVariable({ path, variable }: ConfigKey, text: string): Config {
  const nested = (value: unknown): unknown =>
    path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
  const asText = Config.safeParse(nested(text));
  if (asText.success) return asText.data;
  const data = nested(/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);
  const parsed = Config.safeParse(data);
  if (parsed.success) return parsed.data;
  const [problem] = schemaProblems(parsed.error.issues, data, Config);
  throw new BosunError('usage', `${variable} in the environment: ${problem!.message}`);
}
