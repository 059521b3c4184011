/**
 * What the programs of this machine are logged in with, for agents that are the same program: those run with a home
 * of their own, where there is no login. What is found here is opened only when it is needed.
 */
import { z } from 'zod';
import type { RuntimeName } from '../../contract/workflow.ts';
import { Key, PLACEHOLDER_KEY, type Secret } from './keys.ts';
import { findLoginFile, LoginFile, noLogin, parse, peek, type LoginParts } from './login-file.ts';

/** A subscription, in place of a key. */
export interface Login {
  /** As messages call it. */
  program: string;
  /** Where it is found, for people. */
  how: string;
  secret: Secret;
  open(): Promise<LoginParts>;
  /** Where the program itself would send it. */
  baseUrl: string;
  /** What agents may be that program. */
  runtimes: readonly RuntimeName[];
  /** Requests of the program itself are known by how their `user-agent` begins; a subscription is for no other. */
  userAgent: string;
  /** A login may do more at the provider than ask models, such as make keys; agents may not. */
  path: RegExp;
  /** Headers that go with it, of a request with these ones. */
  headers(sent: Readonly<Record<string, string>>, parts: LoginParts): Record<string, string>;
  renew: string;
}

const CLAUDE_BETA = 'oauth-2025-04-20';
const CLAUDE_REMEDY =
  'run `claude` once to renew the login, or set CLAUDE_CODE_OAUTH_TOKEN to what `claude setup-token` gives';
const CODEX_REMEDY = 'run `codex` once to renew the login, or `codex login` for a new one';

/** What Claude Code itself would use, in the same order. Nothing is read yet. */
export function findClaudeLogin(env: NodeJS.ProcessEnv): Login | undefined {
  const secret = claudeSecret(env);
  if (!secret) return undefined;
  return {
    program: 'Claude',
    how: secret instanceof Key ? `the login of Claude in ${secret.how}` : secret.how,
    secret,
    open: async () => ({ token: await secret.read() }),
    baseUrl: 'https://api.anthropic.com',
    runtimes: ['claude-code', 'acp'],
    userAgent: 'claude-cli/',
    path: /^\/v1\/(messages(\/count_tokens)?|models(\/[\w.:@-]+)?)(\?|$)/,
    headers({ 'anthropic-beta': sent = '' }) {
      const betas = sent.split(',').map((each) => each.trim());
      if (betas.includes(CLAUDE_BETA)) return {};
      return { 'anthropic-beta': [...betas.filter((each) => each !== ''), CLAUDE_BETA].join(',') };
    },
    renew: CLAUDE_REMEDY,
  };
}

/** A subscription to ChatGPT. With bosun's settings Codex asks for nothing but answers. */
export function findCodexLogin(env: NodeJS.ProcessEnv): Login | undefined {
  const file = codexFile(env, 'chatgpt');
  if (file === undefined) return undefined;
  const pick = (text: string): LoginParts => chatgptParts(file, text);
  const secret = new LoginFile({ program: 'Codex', file, pick, remedy: CODEX_REMEDY });
  return {
    program: 'Codex',
    how: `${secret.how} with ChatGPT`,
    secret,
    open: () => secret.open(),
    baseUrl: 'https://chatgpt.com/backend-api/codex',
    runtimes: ['codex'],
    userAgent: 'codex_exec/',
    path: /^\/responses(\?|$)/,
    headers({ 'user-agent': userAgent = '' }, { account }) {
      const version = /^codex_exec\/([\w.+-]+)/.exec(userAgent)?.[1];
      return { ...(account && { 'chatgpt-account-id': account }), ...(version && { version }) };
    },
    renew: CODEX_REMEDY,
  };
}

/** Codex can also be logged in with a key, which is as good as any other. */
export function findCodexKey(env: NodeJS.ProcessEnv): Secret | undefined {
  const file = codexFile(env, 'key');
  if (file === undefined) return undefined;
  const pick = (text: string): LoginParts => ({ token: parse(CodexAuth, text)?.OPENAI_API_KEY ?? '' });
  return new LoginFile({ program: 'Codex', file, pick, remedy: 'run `codex login` once' });
}

const ClaudeCredentials = z.object({
  claudeAiOauth: z.object({ accessToken: z.string(), expiresAt: z.number().nullish() }),
});

function claudeSecret(env: NodeJS.ProcessEnv): Secret | undefined {
  const given = env.CLAUDE_CODE_OAUTH_TOKEN?.trim();
  if (given && given !== PLACEHOLDER_KEY)
    return new Key({ env: 'CLAUDE_CODE_OAUTH_TOKEN' }, 'bearer', { env });
  const file = findLoginFile(env, 'CLAUDE_CONFIG_DIR', '.claude', '.credentials.json');
  if (file === undefined) return undefined;
  const pick = (text: string): LoginParts => {
    const login = parse(ClaudeCredentials, text)?.claudeAiOauth;
    if (login?.expiresAt && login.expiresAt <= Date.now())
      throw noLogin(`the login of Claude has expired; ${CLAUDE_REMEDY} (it is in ${file})`);
    return { token: login?.accessToken ?? '' };
  };
  return new LoginFile({ program: 'Claude', file, pick, remedy: CLAUDE_REMEDY });
}

const CodexAuth = z.object({
  auth_mode: z.string().nullish(),
  OPENAI_API_KEY: z.string().nullish(),
  tokens: z.object({ access_token: z.string().nullish(), account_id: z.string().nullish() }).nullish(),
});

/** Where it is the kind that Codex itself would use: what it says of itself, else a key, else ChatGPT. */
function codexFile(env: NodeJS.ProcessEnv, wanted: 'key' | 'chatgpt'): string | undefined {
  const file = findLoginFile(env, 'CODEX_HOME', '.codex', 'auth.json');
  const auth = file === undefined ? undefined : peek(CodexAuth, file);
  if (!auth) return undefined;
  const isChatgpt = auth.tokens && (auth.auth_mode === 'chatgpt' || !auth.OPENAI_API_KEY);
  const kind = isChatgpt ? 'chatgpt' : auth.OPENAI_API_KEY ? 'key' : undefined;
  return kind === wanted ? file : undefined;
}

const ChatgptClaims = z.object({
  exp: z.number().nullish(),
  'https://api.openai.com/auth': z.object({ chatgpt_account_id: z.string().nullish() }).nullish(),
});

function chatgptParts(file: string, text: string): LoginParts {
  const { access_token: token, account_id: named } = parse(CodexAuth, text)?.tokens ?? {};
  const claims = token ? claimsOf(token) : undefined;
  if (!token || !claims) return { token: '' };
  if (claims.exp && claims.exp * 1000 <= Date.now())
    throw noLogin(`the login of Codex has expired; ${CODEX_REMEDY} (it is in ${file})`);
  const account = named ?? claims['https://api.openai.com/auth']?.chatgpt_account_id;
  if (!account) throw noLogin(`the login of Codex names no account; ${CODEX_REMEDY} (it is in ${file})`);
  return { token, account };
}

/** What stands in the middle of a JWT. Nobody checks here that it is true: that is for whom it is sent to. */
function claimsOf(token: string): z.infer<typeof ChatgptClaims> | undefined {
  const [, middle = ''] = token.split('.');
  return parse(ChatgptClaims, Buffer.from(middle, 'base64url').toString());
}
