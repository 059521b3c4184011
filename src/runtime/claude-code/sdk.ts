/**
 * Finds the Claude Agent SDK and says what of it we use. It is the user's to install (400 MB), so its own types are not
 * here; and it is never looked for in the repository that agents work on, whose owner may be a stranger.
 */
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Readable, Writable } from 'node:stream';
import { BosunError } from '../../contract/errors.ts';
import type { Json } from '../../contract/workflow.ts';

export const SDK_PACKAGE = '@anthropic-ai/claude-agent-sdk';
/** Names the directory of the package, for those who keep it elsewhere. */
export const SDK_VARIABLE = 'BOSUN_CLAUDE_AGENT_SDK';

/** Where the SDK lies: beside bosun, else where the variable says; undefined where there is none. */
export function findSdk(): string | undefined {
  const directory = process.env[SDK_VARIABLE];
  return (
    resolved(import.meta.url, SDK_PACKAGE) ??
    (directory !== undefined && path.isAbsolute(directory) ? resolved(import.meta.url, directory) : undefined)
  );
}

export async function loadSdk(): Promise<Sdk> {
  const file = findSdk();
  if (file === undefined) {
    throw new BosunError(
      'system',
      `cannot start claude-code: the package ${SDK_PACKAGE} is not there; install it where bosun is (npm install -g ${SDK_PACKAGE}), or name its directory in ${SDK_VARIABLE}`,
    );
  }
  try {
    return (await import(pathToFileURL(file).href)) as Sdk;
  } catch (cause) {
    throw new BosunError(
      'system',
      `cannot start claude-code: ${file} cannot be loaded: ${(cause as Error).message}; install ${SDK_PACKAGE} again`,
      { cause },
    );
  }
}

function resolved(from: string, what: string): string | undefined {
  try {
    return createRequire(from).resolve(what);
  } catch {
    return undefined;
  }
}

export interface Sdk {
  query(params: { prompt: AsyncIterable<SdkInput>; options: SdkOptions }): AsyncGenerator<SdkMessage, void>;
}

export interface SdkInput {
  type: 'user';
  uuid: string;
  message: { role: 'user'; content: string };
  parent_tool_use_id: null;
}

export interface SdkOptions {
  [option: string]: unknown;
  env: Record<string, string>;
  canUseTool(tool: string, input: { [key: string]: unknown }, more: { title?: string }): Promise<SdkAnswer>;
  spawnClaudeCodeProcess(options: SdkSpawn): SdkProcess;
}

export type SdkAnswer =
  { behavior: 'allow'; updatedInput: { [key: string]: unknown } } | { behavior: 'deny'; message: string };

export interface SdkSpawn {
  command: string;
  args: string[];
  env: Record<string, string | undefined>;
}

/** What the SDK wants to have in the place of a child process. */
export interface SdkProcess extends Pick<EventEmitter, 'on' | 'once' | 'off'> {
  stdin: Writable;
  stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  kill(signal: NodeJS.Signals): boolean;
}

/** As printed by a program of the user's: any field may be missing. */
export type SdkMessage =
  | { type: 'system'; subtype: string; session_id?: string; model?: string }
  | { type: 'assistant'; message: { id?: string; content?: SdkBlock[] }; parent_tool_use_id?: string | null }
  | { type: 'user'; message: { content?: string | SdkBlock[] } }
  | SdkResult
  | { type: 'unknown' };

export interface SdkBlock {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: { [key: string]: Json };
  tool_use_id?: string;
  is_error?: boolean;
  content?: string | SdkBlock[];
}

export interface SdkResult {
  type: 'result';
  /** `success` also where the model's server refused: then `is_error` is true. */
  subtype: string;
  is_error?: boolean;
  api_error_status?: number | null;
  result?: string;
  errors?: string[];
  stop_reason?: string | null;
  structured_output?: Json;
  /** Of the main conversation, in this turn. */
  usage?: {
    input_tokens?: number;
    output_tokens?: number;
    cache_read_input_tokens?: number;
    cache_creation_input_tokens?: number;
  };
  /** Of all, up to now. */
  modelUsage?: Record<string, SdkModelUsage>;
  queued_turn_count?: number;
  user_message_uuids?: string[];
}

interface SdkModelUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  costUSD: number;
}
