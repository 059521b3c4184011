/** Codex's config.toml for one attempt: its only provider is our gateway, which also has the patience. */
import type { McpServer } from '../../contract/model.ts';
import type { ModelChoice } from '../agent/choose-model.ts';
import type { Job } from '../runtime.ts';

/** A request may be held for as long as a person takes to answer. */
const PATIENCE_MS = 7 * 86_400_000;
/** An owner and then a person may be asked first, which takes up to twelve minutes. */
const MCP_TIMEOUT_S = 900;

/** What would reach out to others than the model, or go on for ever where the gateway is gone. */
const OFF = { plugins: false, apps: false, unbounded_connection_retries: false };

/** `isTrusted`: the repository is, by what stands between Codex and us; so it reads AGENTS.md by itself. */
export function codexConfig(job: Job, { provider, model }: ModelChoice, isTrusted = false): string {
  const { agent, models, cwd, mcp } = job;
  return toml({
    '': {
      model_provider: 'bosun',
      ...(model !== undefined && { model }),
      approval_policy: 'never',
      sandbox_mode: 'danger-full-access',
      ...(agent?.prompt !== undefined && { developer_instructions: agent.prompt }),
      check_for_update_on_startup: false,
      allow_login_shell: false, // it would set the PATH anew
      web_search: 'disabled', // it would run at the provider, where no fence of ours is
    },
    'model_providers.bosun': {
      name: 'bosun',
      base_url: `${models?.baseUrl ?? ''}/${provider}`,
      env_key: 'BOSUN_MODEL_KEY',
      wire_api: 'responses',
      request_max_retries: 0,
      stream_max_retries: 0,
      stream_idle_timeout_ms: PATIENCE_MS,
    },
    features: OFF,
    analytics: { enabled: false },
    feedback: { enabled: false },
    history: { persistence: 'none' },
    shell_environment_policy: { inherit: 'all', ignore_default_excludes: true },
    // Else the repository's own .codex is obeyed: whoever may do anything trusts it.
    ...(!isTrusted && { [`projects.${text(cwd)}`]: { trust_level: 'untrusted' } }),
    ...Object.fromEntries(
      Object.entries(mcp).map(([name, server]) => [`mcp_servers.${text(name)}`, table(server)]),
    ),
  });
}

function table(server: McpServer): Table {
  const patience = { tool_timeout_sec: MCP_TIMEOUT_S };
  if ('url' in server)
    return { url: server.url, ...(server.headers && { http_headers: server.headers }), ...patience };
  return { command: server.command, args: server.args ?? [], env: server.env ?? {}, ...patience };
}

type Value = string | number | boolean | string[] | Record<string, string>;
type Table = Record<string, Value>;

function toml(tables: Record<string, Table>): string {
  return Object.entries(tables)
    .map(([name, values]) => {
      const lines = Object.entries(values).map(([key, value]) => `${key} = ${written(value)}`);
      return `${name && `[${name}]\n`}${lines.join('\n')}\n`;
    })
    .join('\n');
}

function written(value: Value): string {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return `[${value.map(text).join(', ')}]`;
  if (typeof value !== 'object') return String(value);
  return `{ ${Object.entries(value)
    .map(([key, of]) => `${text(key)} = ${text(of)}`)
    .join(', ')} }`;
}

/** A JSON string is one of TOML's, but for two characters. */
function text(value: string): string {
  return JSON.stringify(value.toWellFormed()).replaceAll('\u007f', String.raw`\u007f`);
}
