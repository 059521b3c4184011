/** Reads what is configured: for this repository, and for this user. It decides nothing; a missing file says nothing. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { Config, type ConfigFile } from '../contract/config.ts';
import { incompleteProviders, isSecretPlace, strangersProviders } from './check-providers.ts';
import { throwProblems, type Located, type Problem } from './problem.ts';
import { readText } from './read-text.ts';
import { schemaProblems, show } from './schema-problems.ts';
import { readSource } from './source.ts';

const FILE_BYTES_MAX = 256 * 1024;

interface Read extends ConfigFile {
  locate: (problem: Problem) => Located;
}

/** Throws one error with all that is wrong in all of them, each with its place. */
export function loadConfigs(files: readonly string[]): ConfigFile[] {
  // What lies in a directory that may not even be entered is somebody else's.
  const read = files.filter((file) => existsSync(file)).map(readConfig);
  const good = read.filter((each) => 'config' in each);
  const users = good.find(({ isUsers }) => isUsers)?.config;
  const problems = [
    ...read.flatMap((each) => ('problems' in each ? each.problems : [])),
    ...good.flatMap((each) =>
      [
        ...incompleteProviders(each.config),
        ...(each.isUsers ? [] : strangersProviders(each.config, users, userConfigFile())),
      ].map((problem) => tell(each, problem)),
    ),
  ];
  if (problems.length > 0) throwProblems(problems);
  return good.map(({ file, config, isUsers }) => ({ file, config, isUsers }));
}

/** Where a user keeps it, whatever the repository. */
export function userConfigFile(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CONFIG_HOME } = env;
  // What is relative there is to be ignored, says its specification.
  const isGiven = XDG_CONFIG_HOME !== undefined && path.isAbsolute(XDG_CONFIG_HOME);
  return path.join(isGiven ? XDG_CONFIG_HOME : path.join(homedir(), '.config'), 'bosun', 'config.yaml');
}

function readConfig(file: string): Read | { problems: Located[] } {
  const read = readText(file, FILE_BYTES_MAX);
  if ('problem' in read)
    return { problems: [{ file, path: '', message: `cannot be read: ${read.problem}` }] };
  const source = readSource(read.text, file);
  if (source.problems.length > 0) return { problems: source.problems };
  const data = source.data ?? {}; // all of it may be commented out
  if (typeof data !== 'object' || Array.isArray(data)) {
    const message = `a configuration is a map, such as "isolation: required", but this is ${show(data)}`;
    return { problems: [source.locate({ path: [], message })] };
  }
  const parsed = Config.safeParse(data);
  const { locate } = source;
  if (parsed.success) return { file, config: parsed.data, isUsers: file === userConfigFile(), locate };
  const problems = schemaProblems(parsed.error.issues, data, Config).map((problem) =>
    tell({ locate }, { ...problem, message: problem.message.replace('the workflow', 'the configuration') }),
  );
  return { problems };
}

/** A secret that was written into the file by mistake is not shown on top of that. */
function tell({ locate }: Pick<Read, 'locate'>, problem: Problem): Located {
  if (!isSecretPlace(problem.path)) return locate(problem);
  const { excerpt: _, ...rest } = locate(problem);
  return { ...rest, message: problem.message.replace(/, but is .*/s, '') };
}
