/** Where each agent reads which tool servers there are, and how the entry for bosun is written there. It writes nothing. */
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import { fieldsOf, isFields, type Fields } from '../../base/fields.ts';
import type { McpClient } from '../../contract/mcp-clients.ts';

export interface Client {
  /** What it is started as: whether it is on this machine. */
  program: string;
  /** Below the repository. */
  project: string;
  user(home: string, env: NodeJS.ProcessEnv): string;
  /** What is there, with the entry; undefined where it is there already. Throws what cannot be added to. */
  add(text: string, command: string): string | undefined;
  /** The entry alone, for who adds it by hand. */
  entry(command: string): string;
}

/** What a wait for a run takes, and more than that. */
const CALL_MS = 120_000;
/** Codex hands on no variables but those that are named: without these bosun finds neither keys nor its own state. */
const VARIABLES = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_GEMINI_BASE_URL',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
];

/** There is an entry of that name, and it is another one. */
export class OtherEntry extends Error {}

export const CLIENTS: Readonly<Record<McpClient, Client>> = {
  'claude-code': {
    program: 'claude',
    project: '.mcp.json',
    user: (home, { CLAUDE_CONFIG_DIR: own }) => path.join(own ?? home, '.claude.json'),
    ...inJson('mcpServers', (command) => ({ type: 'stdio', command, args: ['mcp'] })),
  },
  codex: {
    program: 'codex',
    project: '.codex/config.toml',
    user: (home, { CODEX_HOME: own }) => path.join(own ?? path.join(home, '.codex'), 'config.toml'),
    ...inToml((command) => ({
      command,
      args: ['mcp'],
      env_vars: VARIABLES,
      tool_timeout_sec: CALL_MS / 1000,
    })),
  },
  opencode: {
    program: 'opencode',
    project: 'opencode.json',
    user: (home, { XDG_CONFIG_HOME: own }) =>
      path.join(own ?? path.join(home, '.config'), 'opencode', 'opencode.json'),
    ...inJson('mcp', (command) => ({
      type: 'local',
      command: [command, 'mcp'],
      enabled: true,
      timeout: CALL_MS,
    })),
  },
  gemini: {
    program: 'gemini',
    project: '.gemini/settings.json',
    user: (home) => path.join(home, '.gemini', 'settings.json'),
    ...inJson('mcpServers', (command) => ({ command, args: ['mcp'], timeout: CALL_MS })),
  },
};

const NAME = 'bosun';

function inJson(section: string, entry: (command: string) => Fields): Pick<Client, 'add' | 'entry'> {
  return {
    entry: (command) => JSON.stringify({ [section]: { [NAME]: entry(command) } }, null, 2),
    add(text, command) {
      const whole = text.trim() === '' ? {} : (JSON.parse(text) as unknown);
      if (!isFields(whole) || (whole[section] !== undefined && !isFields(whole[section])))
        throw new Error(`it has no place for ${section}.${NAME}`);
      const servers = fieldsOf(whole[section]);
      const wanted = entry(command);
      if (Object.hasOwn(servers, NAME)) return requireSame(servers[NAME], wanted);
      const indent = /^\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
      const changed = { ...whole, [section]: { ...servers, [NAME]: wanted } };
      return `${JSON.stringify(changed, null, indent)}\n`;
    },
  };
}

/** A table at the end changes nothing of what is there, comments and all. */
function inToml(entry: (command: string) => Fields): Pick<Client, 'add' | 'entry'> {
  const table = (command: string): string => stringify({ mcp_servers: { [NAME]: entry(command) } });
  return {
    entry: table,
    add(text, command) {
      const servers = fieldsOf(parse(text).mcp_servers);
      if (Object.hasOwn(servers, NAME)) return requireSame(servers[NAME], entry(command));
      const start = text === '' ? '' : `${text.replace(/\n?$/, '\n')}\n`;
      const changed = `${start}${table(command)}`;
      parse(changed); // throws where the servers are written in a way that no table can be added to
      return changed;
    },
  };
}

/** All of it counts: a variable or a directory, too, can make it start something else. */
function requireSame(there: unknown, wanted: Fields): undefined {
  const plain = JSON.parse(JSON.stringify(there)) as unknown; // tables of TOML have no prototype
  if (!isDeepStrictEqual(plain, wanted)) throw new OtherEntry();
}
