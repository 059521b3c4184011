/**
 * Reads what is configured: for this repository, and for this user. A repository may come from a stranger, so that all
 * but a short list is its user's to say: what else it says is named and ignored. A missing file says nothing.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { Config, type ConfigFile } from '../contract/config.ts';
import { withEnvironment } from './config-environment.ts';
import { incompleteProviders, isSecretPlace } from './check/providers.ts';
import { throwProblems, type Located, type Problem } from './source/problem.ts';
import { readText, readTextWithin } from './source/read-text.ts';
import { schemaProblems, show } from './source/schema-problems.ts';
import { readSource } from './source/source.ts';

const FILE_BYTES_MAX = 256 * 1024;
/** All that a repository may say. */
const REPOSITORYS: readonly string[] = ['isolation', 'budget'] satisfies (keyof Config)[];

interface Read extends ConfigFile {
  locate: (problem: Problem) => Located;
}

/** With what the environment says. Throws one error with all that is wrong in all of them, each with its place. */
export function loadConfigs(files: readonly string[], env: NodeJS.ProcessEnv = process.env): ConfigFile[] {
  return noneWeaker(withEnvironment(readConfigs(files), env));
}

/** As they are written. */
export function readConfigs(files: readonly string[]): ConfigFile[] {
  // What lies in a directory that may not even be entered is somebody else's.
  const read = files.filter((file) => existsSync(file)).map(readConfig);
  const good = read.filter((each) => 'config' in each);
  const problems = read.flatMap((each) => ('problems' in each ? each.problems : []));
  if (problems.length > 0) throwProblems(problems);
  return good.map(({ file, config, isUsers, ignored }) => {
    return { file, config, isUsers, ...(ignored !== undefined && { ignored }) };
  });
}

function noneWeaker(configs: readonly ConfigFile[]): ConfigFile[] {
  const users = configs.find(({ isUsers }) => isUsers)?.config.isolation;
  return configs.map((each) => (each.isUsers ? each : noWeaker(each, users)));
}

/** What the user wants of all workflows, and what this repository's configuration says in vain. */
export function usersConfig(repositoryFile: string | undefined): { users: Config; ignored: string[] } {
  const configs = loadConfigs([...(repositoryFile === undefined ? [] : [repositoryFile]), userConfigFile()]);
  return {
    users: configs.find(({ isUsers }) => isUsers)?.config ?? {},
    ignored: configs.flatMap(({ ignored = [] }) => ignored),
  };
}

/** One line, where the configuration of this repository says what is not its own to say. */
export function ignoredIn(repositoryFile: string): string[] {
  return loadConfigs([repositoryFile, userConfigFile()]).flatMap(({ ignored }) => ignored ?? []);
}

function noWeaker(read: ConfigFile, users: Config['isolation']): ConfigFile {
  if (users !== 'required' || read.config.isolation !== 'best-effort') return read;
  const { isolation: _, ...config } = read.config;
  const weaker = `${read.file}: ignored "isolation: best-effort": your own configuration requires it`;
  return { ...read, config, ignored: [read.ignored, weaker].filter(Boolean).join('; ') };
}

/** Where a user keeps it, whatever the repository. */
export function userConfigFile(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CONFIG_HOME } = env;
  // What is relative there is to be ignored, says its specification.
  const isGiven = XDG_CONFIG_HOME !== undefined && path.isAbsolute(XDG_CONFIG_HOME);
  return path.join(isGiven ? XDG_CONFIG_HOME : path.join(homedir(), '.config'), 'bosun', 'config.yaml');
}

/** Nothing where there is no file. */
export function configText(file: string): string {
  if (!existsSync(file)) return '';
  const read = readFile(file, file === userConfigFile());
  if ('text' in read) return read.text;
  return throwProblems([{ file, path: '', message: `cannot be read: ${read.problem}` }]);
}

function readFile(file: string, isUsers: boolean): { text: string } | { problem: string } {
  if (isUsers) return readText(file, FILE_BYTES_MAX);
  return readTextWithin(path.resolve(file, '../..'), file, FILE_BYTES_MAX);
}

function readConfig(file: string): Read | { problems: Located[] } {
  const isUsers = file === userConfigFile();
  const read = readFile(file, isUsers);
  if ('problem' in read)
    return { problems: [{ file, path: '', message: `cannot be read: ${read.problem}` }] };
  return parseConfig(read.text, file, isUsers);
}

/** The text of a configuration, wherever it is to be. */
export function parseConfig(text: string, file: string, isUsers: boolean): Read | { problems: Located[] } {
  const source = readSource(text, file);
  if (source.problems.length > 0) return { problems: source.problems };
  const written = source.data ?? {}; // all of it may be commented out
  if (typeof written !== 'object' || Array.isArray(written)) {
    const message = `a configuration is a map, such as "isolation: required", but this is ${show(written)}`;
    return { problems: [source.locate({ path: [], message })] };
  }
  const { data, ignored } = isUsers ? { data: written } : allowed(written, file);
  const parsed = Config.safeParse(data);
  const { locate } = source;
  const incomplete = parsed.success ? incompleteProviders(parsed.data) : [];
  if (incomplete.length > 0) return { problems: incomplete.map((problem) => tell({ locate }, problem)) };
  if (parsed.success)
    return { file, config: parsed.data, isUsers, locate, ...(ignored !== undefined && { ignored }) };
  const problems = schemaProblems(parsed.error.issues, data, Config).map((problem) =>
    tell({ locate }, { ...problem, message: problem.message.replace('the workflow', 'the configuration') }),
  );
  return { problems };
}

/**
 * What is left where only the user may say the rest. A name that means nothing is told of as in any other file. Whoever
 * writes something about isolation may have meant more of it: so what cannot be understood counts as the strictest.
 */
function allowed(written: object, file: string): { data: object; ignored?: string } {
  const data: Record<string, unknown> = { ...written };
  const planted = Object.keys(written).filter(
    (name) => Object.hasOwn(Config.shape, name) && !REPOSITORYS.includes(name),
  );
  for (const name of planted) delete data[name];
  const lines: string[] = [];
  const names = planted.map((name) => `"${name}"`).join(' and ');
  if (planted.length > 0)
    lines.push(
      `${file}: ignored ${names}: a repository's configuration may set only ${REPOSITORYS.join(', ')}; if you want this, write it into ${userConfigFile()}`,
    );
  if (!Config.shape.isolation.safeParse(data.isolation).success) {
    lines.push(
      `${file}: "isolation" must be required or best-effort, but is ${show(data.isolation)}; it is taken as required`,
    );
    data.isolation = 'required';
  }
  return { data, ...(lines.length > 0 && { ignored: lines.join('; ') }) };
}

/** A secret that was written into the file by mistake is not shown on top of that. */
function tell({ locate }: Pick<Read, 'locate'>, problem: Problem): Located {
  if (!isSecretPlace(problem.path)) return locate(problem);
  const { excerpt: _, ...rest } = locate(problem);
  return { ...rest, message: problem.message.replace(/, but is .*/s, '') };
}
