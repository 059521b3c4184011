/** Which agents this machine has, and whether each could ask a model. It looks; it reads no key and no login. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { wordList } from '../../base/word-list.ts';
import type { ConfigFile } from '../../contract/config.ts';
import { BosunError } from '../../contract/errors.ts';
import type { LoginPlace } from '../../contract/login.ts';
import type { Dialect } from '../../contract/model.ts';
import { loadConfigs, userConfigFile } from '../../definition/config.ts';
import { isReadyFor, resolveProviders, type Provider } from '../../gateway/keys/providers.ts';
import type { Home } from '../../store/home.ts';
import { agentVersion, findAgent } from '../../runtime/agent/find-agent.ts';
import type { KnownAgent, ProgramRuntime, RuntimeDescriptor } from '../../runtime/descriptor.ts';
import { LOGINS, RUNTIMES_BY_NAME } from '../../runtime/runtimes.ts';
import { findProgram } from '../../system/process/process.ts';
import type { Finding, RuntimeFacts } from './finding.ts';

/** All versions are asked for at once; who takes longer has none. */
const VERSION_TIMEOUT_MS = 1500;

export async function checkRuntimes(home: Home | undefined): Promise<Finding[]> {
  let providers: Provider[];
  try {
    providers = [...resolveProviders(configsOf(home), process.env, LOGINS).values()];
  } catch (error) {
    if (!(error instanceof BosunError)) throw error;
    return [
      { name: 'models', level: 'fail', found: error.message, advice: 'fix it, then run bosun doctor again' },
    ];
  }
  return Promise.all(Object.values(RUNTIMES_BY_NAME).map((runtime) => checkRuntime(runtime, providers)));
}

async function checkRuntime(runtime: RuntimeDescriptor, providers: Provider[]): Promise<Finding> {
  const { name, agents, program } = runtime;
  if (program) return checkAgent({ ...runtime, program }, providers);
  if (agents) return checkKnown(runtime, agents, providers);
  return { name, level: 'ok', found: 'any command, named in `command`; it calls no model through bosun' };
}

async function checkAgent(runtime: ProgramRuntime, providers: Provider[]): Promise<Finding> {
  const found = findAgent(runtime);
  const sdk = runtime.sdk?.find();
  const login = runtime.login && fileOf(runtime.login);
  const facts: RuntimeFacts = {
    isInstalled: (runtime.sdk ? sdk : found) !== undefined,
    ...(found && {
      program: found.argv[0]!,
      ...given('version', await agentVersion(found, VERSION_TIMEOUT_MS)),
    }),
    ...(sdk !== undefined && { sdk: path.dirname(sdk) }),
    ...(login !== undefined && existsSync(login) && { login }),
    keys: waysOf(runtime, runtime.dialects ?? [], providers),
  };
  return { ...tell(runtime, facts, providers), runtime: facts };
}

function tell(runtime: ProgramRuntime, facts: RuntimeFacts, providers: Provider[]): Finding {
  const { name } = runtime;
  const { isInstalled, program, version, sdk, login, keys } = facts;
  const what = [
    ...(program === undefined ? [] : [`${version ?? 'version unknown'} (${short(program)})`]),
    ...(sdk === undefined
      ? []
      : [
          `SDK in ${short(sdk)}${program === undefined ? `, with a ${runtime.program.name} of its own` : ''}`,
        ]),
  ];
  if (!isInstalled) {
    if (runtime.sdk)
      return {
        name,
        level: program === undefined ? 'none' : 'warn',
        found: ['its Agent SDK is not installed', ...what].join('; '),
        advice: runtime.sdk.install,
      };
    return {
      name,
      level: 'none',
      found: 'not installed',
      advice: `if you want it: ${runtime.program.install}`,
    };
  }
  const loggedIn = login === undefined ? [] : [`a login of its own in ${short(login)}`];
  if (keys.length > 0)
    return { name, level: 'ok', found: [...what, keys.join(', '), ...loggedIn].join('; ') };
  const first = providers.find(({ dialect }) => dialect === runtime.dialects?.[0])!;
  return {
    name,
    level: 'warn',
    found: [...what, 'no key', ...loggedIn].join('; '),
    advice: `${first.name}: ${first.how.replace(/; an agent's own login.*/, '')}${
      login === undefined ? '' : ' (the login stays outside the fence, where agents cannot use it)'
    }`,
  };
}

/** Of a command that somebody names only they know what it needs. */
function checkKnown(
  runtime: RuntimeDescriptor,
  agents: readonly KnownAgent[],
  providers: Provider[],
): Finding {
  const { name } = runtime;
  const there = agents.filter(({ program }) => findProgram(program) !== undefined);
  const packages = agents.flatMap((agent) => agent.package ?? []);
  const advice = `if you want it: npm install -g ${wordList(packages, 'or')}`;
  if (there.length === 0)
    return { name, level: 'none', found: 'no known agent that speaks it is installed', advice };
  const said = there.map(({ command, dialects }) => {
    const [way] = waysOf(runtime, dialects, providers);
    return `\`${command}\` (${way ?? 'no key'})`;
  });
  const isUsable = there.some(({ dialects }) => waysOf(runtime, dialects, providers).length > 0);
  return { name, level: isUsable ? 'ok' : 'none', found: `any command; here: ${said.join(', ')}` };
}

/** How the models that an agent can speak to are paid for; never the key. */
function waysOf(
  { logins }: RuntimeDescriptor,
  dialects: readonly Dialect[],
  providers: Provider[],
): string[] {
  return providers
    .filter((provider) => dialects.includes(provider.dialect) && isReadyFor(provider, logins))
    .map(({ name, how }) => `${name}: ${how}`);
}

/** What is wrong in a configuration is another finding. */
function configsOf(home: Home | undefined): ConfigFile[] {
  try {
    return loadConfigs([...(home ? [home.config] : []), userConfigFile()]);
  } catch (error) {
    if (error instanceof BosunError) return [];
    throw error;
  }
}

function fileOf({ variable, below, file }: LoginPlace): string {
  const value = process.env[variable];
  return path.join(value !== undefined && path.isAbsolute(value) ? value : path.join(homedir(), below), file);
}

function short(file: string): string {
  const home = `${homedir()}${path.sep}`;
  return file.startsWith(home) ? `~/${file.slice(home.length)}` : file;
}

function given<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: string });
}
