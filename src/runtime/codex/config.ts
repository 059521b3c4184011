/** Codex's config.toml for one attempt: its only provider is our gateway, which also has the patience. */
import { stringify, type TomlTable } from 'smol-toml';
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
  const settings = {
    model_provider: 'bosun',
    ...(model !== undefined && { model }),
    approval_policy: 'never',
    sandbox_mode: 'danger-full-access',
    ...(agent?.prompt !== undefined && { developer_instructions: agent.prompt }),
    check_for_update_on_startup: false,
    allow_login_shell: false, // it would set the PATH anew
    web_search: 'disabled', // it would run at the provider, where no fence of ours is
    model_providers: {
      bosun: {
        name: 'bosun',
        base_url: `${models?.baseUrl ?? ''}/${provider}`,
        env_key: 'BOSUN_MODEL_KEY',
        wire_api: 'responses',
        request_max_retries: 0,
        stream_max_retries: 0,
        stream_idle_timeout_ms: PATIENCE_MS,
      },
    },
    features: OFF,
    analytics: { enabled: false },
    feedback: { enabled: false },
    history: { persistence: 'none' },
    shell_environment_policy: { inherit: 'all', ignore_default_excludes: true },
    // Else the repository's own .codex is obeyed: whoever may do anything trusts it.
    ...(!isTrusted && { projects: { [cwd]: { trust_level: 'untrusted' } } }),
    mcp_servers: Object.fromEntries(Object.entries(mcp).map(([name, server]) => [name, table(server)])),
  };
  return stringify(wellFormed(settings));
}

/** Half a character can be in a text of ours, and in none of TOML's. */
function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T;
  if (Array.isArray(value)) return value.map(wellFormed) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, of]) => [key.toWellFormed(), wellFormed(of as unknown)]),
  ) as T;
}

function table(server: McpServer): TomlTable {
  const patience = { tool_timeout_sec: MCP_TIMEOUT_S };
  if ('url' in server)
    return { url: server.url, ...(server.headers && { http_headers: server.headers }), ...patience };
  return { command: server.command, args: server.args ?? [], env: server.env ?? {}, ...patience };
}
