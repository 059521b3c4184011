/** Which agents this machine has, and whether each could ask a model. It looks; it reads no key and no login. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { ConfigFile } from '../../contract/config.ts';
import { BosunError } from '../../contract/errors.ts';
import type { Dialect } from '../../contract/model.ts';
import type { RuntimeName } from '../../contract/workflow.ts';
import { loadConfigs, userConfigFile } from '../../definition/config.ts';
import { isReadyFor, resolveProviders, type Provider } from '../../gateway/keys/providers.ts';
import type { Home } from '../../store/home.ts';
import { findSdk, SDK_VARIABLE } from '../../runtime/claude-code/sdk.ts';
import { agentVersion, findAgent, INSTALL, type NamedAgent } from '../../runtime/agent/find-agent.ts';
import { findProgram } from '../../system/process/process.ts';
import type { Finding, RuntimeFacts } from './finding.ts';

/** All versions are asked for at once; who takes longer has none. */
const VERSION_TIMEOUT_MS = 1500;

/** Agents that are known to speak the Agent Client Protocol, and what makes them do so. */
const ACP_AGENTS: { program: string; command: string; dialects: Dialect[] }[] = [
  { program: 'claude-agent-acp', command: 'claude-agent-acp', dialects: ['anthropic'] },
  { program: 'codex-acp', command: 'codex-acp', dialects: ['openai'] },
  { program: 'gemini', command: 'gemini --acp', dialects: ['gemini'] },
  { program: 'opencode', command: 'opencode acp', dialects: ['anthropic', 'openai', 'gemini'] },
];

/** What each can speak, and where its program keeps a login. */
const AGENTS: Record<NamedAgent, { dialects: Dialect[]; login: () => string }> = {
  'claude-code': {
    dialects: ['anthropic'],
    login: () => path.join(placeOf('CLAUDE_CONFIG_DIR', '.claude'), '.credentials.json'),
  },
  codex: { dialects: ['openai'], login: () => path.join(placeOf('CODEX_HOME', '.codex'), 'auth.json') },
  opencode: {
    dialects: ['anthropic', 'openai', 'gemini'],
    login: () => path.join(placeOf('XDG_DATA_HOME', '.local/share'), 'opencode', 'auth.json'),
  },
};

export async function checkRuntimes(home: Home | undefined): Promise<Finding[]> {
  let providers: Provider[];
  try {
    providers = [...resolveProviders(configsOf(home), process.env).values()];
  } catch (error) {
    if (!(error instanceof BosunError)) throw error;
    return [
      { name: 'models', level: 'fail', found: error.message, advice: 'fix it, then run bosun doctor again' },
    ];
  }
  const names = Object.keys(AGENTS) as NamedAgent[];
  return [
    ...(await Promise.all(names.map((name) => checkAgent(name, providers)))),
    checkAcp(providers),
    { name: 'cli', level: 'ok', found: 'any command, named in `command`; it asks no model through bosun' },
  ];
}

async function checkAgent(name: NamedAgent, providers: Provider[]): Promise<Finding> {
  const { dialects, login } = AGENTS[name];
  const found = findAgent(name);
  const sdk = name === 'claude-code' ? findSdk() : undefined;
  const facts: RuntimeFacts = {
    isInstalled: name === 'claude-code' ? sdk !== undefined : found !== undefined,
    ...(found && {
      program: found.argv[0]!,
      ...given('version', await agentVersion(found, VERSION_TIMEOUT_MS)),
    }),
    ...(sdk !== undefined && { sdk: path.dirname(sdk) }),
    ...(existsSync(login()) && { login: login() }),
    keys: waysOf(name, dialects, providers),
  };
  return { ...tell(name, facts, providers), runtime: facts };
}

function tell(name: NamedAgent, facts: RuntimeFacts, providers: Provider[]): Finding {
  const { isInstalled, program, version, sdk, login, keys } = facts;
  const what = [
    ...(program === undefined ? [] : [`${version ?? 'version unknown'} (${short(program)})`]),
    ...(sdk === undefined
      ? []
      : [`SDK in ${short(sdk)}${program === undefined ? ', with a claude of its own' : ''}`]),
  ];
  if (!isInstalled) {
    const { how } = INSTALL[name];
    if (name === 'claude-code')
      return {
        name,
        level: program === undefined ? 'none' : 'warn',
        found: ['its Agent SDK is not there', ...what].join('; '),
        advice: `npm install -g @anthropic-ai/claude-agent-sdk where bosun is, or name its directory in ${SDK_VARIABLE}`,
      };
    return { name, level: 'none', found: 'not installed', advice: `if you want it: ${how}` };
  }
  const loggedIn = login === undefined ? [] : [`a login of its own in ${short(login)}`];
  if (keys.length > 0)
    return { name, level: 'ok', found: [...what, keys.join(', '), ...loggedIn].join('; ') };
  const first = providers.find(({ dialect }) => dialect === AGENTS[name].dialects[0])!;
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
function checkAcp(providers: Provider[]): Finding {
  const there = ACP_AGENTS.filter(({ program }) => findProgram(program) !== undefined);
  const name = 'acp';
  const advice =
    'if you want it: npm install -g @agentclientprotocol/claude-agent-acp, @agentclientprotocol/codex-acp or @google/gemini-cli';
  if (there.length === 0) return { name, level: 'none', found: 'no agent that is known to speak it', advice };
  const said = there.map(({ command, dialects }) => {
    const [way] = waysOf(name, dialects, providers);
    return `\`${command}\` (${way ?? 'no key'})`;
  });
  const isUsable = there.some(({ dialects }) => waysOf(name, dialects, providers).length > 0);
  return { name, level: isUsable ? 'ok' : 'none', found: `any command; here: ${said.join(', ')}` };
}

/** How the models that an agent can speak to are paid for; never the key. */
function waysOf(runtime: RuntimeName, dialects: Dialect[], providers: Provider[]): string[] {
  return providers
    .filter((provider) => dialects.includes(provider.dialect) && isReadyFor(provider, runtime))
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

function placeOf(variable: string, below: string): string {
  const value = process.env[variable];
  return value !== undefined && path.isAbsolute(value) ? value : path.join(homedir(), below);
}

function short(file: string): string {
  const home = `${homedir()}${path.sep}`;
  return file.startsWith(home) ? `~/${file.slice(home.length)}` : file;
}

function given<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: string });
}
