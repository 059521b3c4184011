/**
 * What the programs of this machine are logged in with, for agents that are the same program: those run with a home
 * of their own, where there is no login. It is read here, never written and never renewed: that is the program's own.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { BosunError } from '../contract/errors.ts';
import { Key, objectionTo, PLACEHOLDER_KEY, type KeyHeader, type Secret } from './keys.ts';
import { readPrivateFile } from './private-file.ts';

/** Logins to tool servers are in there too. */
const FILE_BYTES_MAX = 1024 * 1024;

/** A subscription, in place of a key. */
export interface Login {
  /** As messages call it. */
  program: string;
  /** Where it is found, for people. */
  how: string;
  secret: Secret;
  /** Requests of the program itself are known by how their `user-agent` begins; a subscription is for no other. */
  userAgent: string;
  /** A login may do more at the provider than ask models, such as make keys; agents may not. */
  path: RegExp;
  /** Has to be in the list of `anthropic-beta`. */
  beta: string;
  renew: string;
}

const CLAUDE_REMEDY =
  'run `claude` once to renew the login, or set CLAUDE_CODE_OAUTH_TOKEN to what `claude setup-token` gives';

/** What Claude Code itself would use, in the same order. Nothing is read yet. */
export function findClaudeLogin(env: NodeJS.ProcessEnv): Login | undefined {
  const secret = claudeSecret(env);
  if (!secret) return undefined;
  return {
    program: 'Claude',
    how: secret instanceof Key ? `the login of Claude in ${secret.how}` : secret.how,
    secret,
    userAgent: 'claude-cli/',
    path: /^\/v1\/(messages(\/count_tokens)?|models(\/[\w.:@-]+)?)(\?|$)/,
    beta: 'oauth-2025-04-20',
    renew: CLAUDE_REMEDY,
  };
}

/** Codex can be logged in with a key; `chatgpt` is a login that only Codex itself can use. */
export function findCodexLogin(env: NodeJS.ProcessEnv): Secret | 'chatgpt' | undefined {
  const file = homeFile(env, 'CODEX_HOME', '.codex', 'auth.json');
  if (file === undefined) return undefined;
  const kind = codexKind(file);
  if (kind !== 'key') return kind;
  const pick = (text: string): string => parse(CodexAuth, text)?.OPENAI_API_KEY ?? '';
  return new LoginFile({ program: 'Codex', file, pick, remedy: 'run `codex login` once' });
}

const ClaudeCredentials = z.object({
  claudeAiOauth: z.object({ accessToken: z.string(), expiresAt: z.number().nullish() }),
});

function claudeSecret(env: NodeJS.ProcessEnv): Secret | undefined {
  const given = env.CLAUDE_CODE_OAUTH_TOKEN?.trim();
  if (given && given !== PLACEHOLDER_KEY)
    return new Key({ env: 'CLAUDE_CODE_OAUTH_TOKEN' }, 'bearer', { env });
  const file = homeFile(env, 'CLAUDE_CONFIG_DIR', '.claude', '.credentials.json');
  if (file === undefined) return undefined;
  const pick = (text: string): string => {
    const login = parse(ClaudeCredentials, text)?.claudeAiOauth;
    if (login?.expiresAt && login.expiresAt <= Date.now())
      throw noLogin(`the login of Claude in ${file} has expired; ${CLAUDE_REMEDY}`);
    return login?.accessToken ?? '';
  };
  return new LoginFile({ program: 'Claude', file, pick, remedy: CLAUDE_REMEDY });
}

const CodexAuth = z.object({ OPENAI_API_KEY: z.string().nullish(), tokens: z.object({}).nullish() });

/** Looked into for that alone; what is wrong with the file is told when the key is needed. */
function codexKind(file: string): 'key' | 'chatgpt' | undefined {
  try {
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > FILE_BYTES_MAX) return undefined;
    const auth = parse(CodexAuth, readFileSync(file, 'utf8'));
    return auth?.OPENAI_API_KEY ? 'key' : auth?.tokens ? 'chatgpt' : undefined;
  } catch {
    return undefined;
  }
}

interface LoginFileOptions {
  program: string;
  file: string;
  /** The secret in the text of the file; may throw. */
  pick(text: string): string;
  remedy: string;
}

/** The file in which a program keeps its login, and renews it whenever that program runs. */
class LoginFile implements Secret {
  readonly how: string;
  readonly header: KeyHeader = 'bearer';
  readonly isThere = true;
  readonly #options: LoginFileOptions;
  #found: { version: string; text: string } | undefined;

  constructor(options: LoginFileOptions) {
    this.#options = options;
    this.how = `the login of ${options.program} in ${options.file}`;
  }

  async read(): Promise<string> {
    const { program, file, pick, remedy } = this.#options;
    const version = versionOf(file);
    // What went wrong is not kept: it may be put right any time.
    if (this.#found?.version !== version) this.#found = { version, text: await this.#read() };
    // Also of a text that is known already: it may have expired since.
    const secret = pick(this.#found.text);
    if (!objectionTo(secret)) return secret;
    throw noLogin(`there is no login of ${program} in ${file} that can be used; ${remedy}`);
  }

  /** Only where the program has renewed it meanwhile. */
  forget(): boolean {
    return this.#found?.version !== versionOf(this.#options.file);
  }

  toJSON(): string {
    return this.how;
  }

  #read(): Promise<string> {
    const { file, remedy } = this.#options;
    const uid = process.getuid?.();
    return readPrivateFile({ file, what: 'login file', bytesMax: FILE_BYTES_MAX, uid, remedy });
  }
}

/** Programs replace the file as a whole, or write into it; who may read it can change too. */
function versionOf(file: string): string {
  try {
    const { ino, size, ctimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${ctimeNs}`;
  } catch {
    return 'gone';
  }
}

/** Only below the home that the environment names, and only where it is there. */
function homeFile(env: NodeJS.ProcessEnv, variable: string, usual: string, name: string): string | undefined {
  const home = env[variable] || (env.HOME && path.join(env.HOME, usual));
  if (!home || !path.isAbsolute(home)) return undefined;
  const file = path.join(home, name);
  return existsSync(file) ? file : undefined;
}

/** Nothing of a text that is none stands in an error. */
function parse<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function noLogin(message: string): BosunError {
  return new BosunError('usage', message);
}
