/** Each value of the configuration, and where it came from: what `loadConfigs` gives, key by key. It decides nothing else. */
import type { ConfigFile } from '../contract/config.ts';
import { CONFIG_KEYS, joinKey } from '../contract/config-keys.ts';
import type { Json } from '../contract/workflow.ts';
import { isFields } from '../base/fields.ts';
import { environmentConfig } from './config-environment.ts';
import { loadConfigs, readConfigs, userConfigFile } from './config.ts';

interface Said {
  value: Json;
  from: 'environment' | 'repository' | 'user';
  /** A variable, or a file. */
  where: string;
}

/** What several say of one key: the first one counts. */
export interface SaidOfKey {
  key: string;
  said: Said[];
}

/** Whatever is not shown. */
const HIDDEN = '(hidden)';

/** In the order of the schema; a limit of the repository's own stands beside the user's, since both hold. */
export function sayings(
  repositoryFile: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): SaidOfKey[] {
  const files = [...(repositoryFile === undefined ? [] : [repositoryFile]), userConfigFile()];
  loadConfigs(files, env); // throws what is wrong in any of it
  const written = readConfigs(files);
  const layers = [
    ...leaves(environmentConfig(env)).map(([path, value]) => ({
      key: joinKey(path),
      said: { value, from: 'environment' as const, where: variableFor(joinKey(path)) },
    })),
    ...written.filter(({ isUsers }) => !isUsers).flatMap((each) => ofFile(each, 'repository')),
    ...written.filter(({ isUsers }) => isUsers).flatMap((each) => ofFile(each, 'user')),
  ];
  const keys = [...new Set([...CONFIG_KEYS.map(({ name }) => name), ...layers.map(({ key }) => key)])];
  return keys.flatMap((key) => {
    const said = layers.filter((each) => each.key === key).map((each) => each.said);
    if (said.length === 0) return [];
    if (key === 'isolation') return [{ key, said: strictestFirst(said) }];
    const ofRepository = said.filter(({ from }) => from === 'repository');
    const rest = said.filter(({ from }) => from !== 'repository');
    return [rest, ofRepository].flatMap((part) => (part.length === 0 ? [] : [{ key, said: part }]));
  });
}

/** A repository may ask for more than its user does, and never for less. */
function strictestFirst(said: readonly Said[]): Said[] {
  const repository = said.find(({ from }) => from === 'repository');
  const own = said.filter((each) => each !== repository);
  const isStricter = repository?.value === 'required' && own[0]?.value !== 'required';
  return repository === undefined ? own : isStricter ? [repository, ...own] : [...own, repository];
}

function ofFile({ file, config }: ConfigFile, from: 'repository' | 'user'): { key: string; said: Said }[] {
  return leaves(config).map(([path, value]) => ({ key: joinKey(path), said: { value, from, where: file } }));
}

/** A header may be a secret, and so may the words of a command, and what entries of a list hold. */
function leaves(value: unknown, path: readonly string[] = []): [string[], Json][] {
  if (isFields(value))
    return Object.entries(value).flatMap(([part, inner]) => leaves(inner, [...path, part]));
  if (value === undefined) return [];
  const shown = path[0] === 'providers' && path[2] === 'headers' ? HIDDEN : (value as Json);
  if (path.at(-1) === 'command') return [[[...path], programOf(shown)]];
  if (Array.isArray(value) && value.some(isFields)) return [[[...path], entriesWord(path, value.length)]];
  return [[[...path], shown]];
}

function entriesWord([key]: readonly string[], count: number): string {
  const see = key === 'hooks' || key === 'notify' ? ', see them with: bosun hooks' : '';
  return `${count} ${count === 1 ? 'entry' : 'entries'}${see}`;
}

function programOf(command: Json): string {
  const words = typeof command === 'string' ? command.split(/\s+/) : Array.isArray(command) ? command : [];
  const program = typeof words[0] === 'string' ? words[0] : '';
  return `${program} …`;
}

function variableFor(key: string): string {
  return CONFIG_KEYS.find(({ name }) => name === key)?.variable ?? key;
}
