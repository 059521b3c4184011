/** OpenCode's settings for one attempt: every provider is our gateway, which also has the patience. */
import path from 'node:path';
import type { Dialect, McpServer } from '../../contract/model.ts';
import type { Json } from '../../contract/workflow.ts';
import type { ModelChoice } from '../agent/choose-model.ts';
import type { Job } from '../runtime.ts';

/** OpenCode's own name for a provider, the package that speaks to it, and what follows the gateway's address. */
const DIALECTS: Record<Dialect, { id: string; npm: string; below: string; model: string }> = {
  anthropic: { id: 'anthropic', npm: '@ai-sdk/anthropic', below: '/v1', model: 'claude-sonnet-5' },
  openai: { id: 'openai', npm: '@ai-sdk/openai-compatible', below: '', model: 'gpt-5.6' },
  gemini: { id: 'google', npm: '@ai-sdk/google', below: '/v1beta', model: 'gemini-3.1-pro-preview' },
};
/** An owner and then a person may be asked first, which takes up to twelve minutes. */
const MCP_TIMEOUT_MS = 900_000;

export interface OpencodeConfig {
  config: { [key: string]: Json };
  /** As OpenCode writes it: `provider/model`. */
  model: string;
}

export function opencodeConfig(
  job: Job,
  choice: ModelChoice,
  promptFile: string | undefined,
): OpencodeConfig {
  const providers = Object.entries(job.models?.providers ?? {});
  const name = choice.model ?? DIALECTS[choice.dialect].model;
  const model = `${idOf(choice.provider, choice.dialect)}/${name}`;
  const config = {
    autoupdate: false,
    share: 'disabled',
    snapshot: false, // the engine keeps the work
    model,
    small_model: model,
    enabled_providers: providers.map(([provider, dialect]) => idOf(provider, dialect)),
    provider: Object.fromEntries(
      providers.map(([provider, dialect]) => [
        idOf(provider, dialect),
        providerOf(job, provider, dialect, provider === choice.provider ? name : undefined),
      ]),
    ),
    permission: permissions(job.isReadOnly),
    // Its own search for guidance is off together with the repository's settings.
    instructions: [path.join(job.cwd, 'AGENTS.md'), ...(promptFile === undefined ? [] : [promptFile])],
    mcp: Object.fromEntries(Object.entries(job.mcp).map(([server, of]) => [server, mcpOf(of)])),
  };
  return { config, model };
}

/** A provider with the usual name is one that OpenCode knows, with all its models. */
function isUsual(provider: string, dialect: Dialect): boolean {
  return provider === dialect;
}

function idOf(provider: string, dialect: Dialect): string {
  return isUsual(provider, dialect) ? DIALECTS[dialect].id : provider;
}

function providerOf(job: Job, provider: string, dialect: Dialect, model: string | undefined): Json {
  const { npm, below } = DIALECTS[dialect];
  return {
    ...(!isUsual(provider, dialect) && { npm }),
    options: {
      baseURL: `${job.models!.baseUrl}/${provider}${below}`,
      apiKey: job.models!.key,
      timeout: false,
    },
    ...(model !== undefined && { models: { [model]: {} } }),
  };
}

/** The fence holds what the agent does; nobody is there to be asked. */
function permissions(isReadOnly: boolean): Json {
  return { '*': 'allow', question: 'deny', ...(isReadOnly && { edit: 'deny' }) };
}

function mcpOf(server: McpServer): Json {
  if ('url' in server) {
    return {
      type: 'remote',
      url: server.url,
      headers: server.headers ?? {},
      enabled: true,
      timeout: MCP_TIMEOUT_MS,
    };
  }
  const command = [server.command, ...(server.args ?? [])];
  return { type: 'local', command, environment: server.env ?? {}, enabled: true, timeout: MCP_TIMEOUT_MS };
}
