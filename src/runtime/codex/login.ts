/** The login of Codex on this machine, with a key or with ChatGPT: what its file holds. It reads no file. */
import { z } from 'zod';
import type { ProgramLogin } from '../../contract/login.ts';
import { parseLogin } from '../agent/parse-login.ts';

const Auth = z.object({
  auth_mode: z.string().nullish(),
  OPENAI_API_KEY: z.string().nullish(),
  tokens: z.object({ access_token: z.string().nullish(), account_id: z.string().nullish() }).nullish(),
});

const Claims = z.object({
  exp: z.number().nullish(),
  'https://api.openai.com/auth': z.object({ chatgpt_account_id: z.string().nullish() }).nullish(),
});

/** With bosun's settings Codex asks for nothing but answers. */
export const CODEX_LOGIN: ProgramLogin = {
  program: 'Codex',
  provider: 'openai',
  place: { variable: 'CODEX_HOME', below: '.codex', file: 'auth.json' },
  plan: 'with ChatGPT',
  /** The kind that Codex itself would use: what it says of itself, else a key, else ChatGPT. */
  kindOf(text) {
    const auth = text === undefined ? undefined : parseLogin(Auth, text);
    if (!auth) return undefined;
    if (auth.tokens && (auth.auth_mode === 'chatgpt' || !auth.OPENAI_API_KEY)) return 'subscription';
    return auth.OPENAI_API_KEY ? 'key' : undefined;
  },
  subscription(text) {
    const { access_token: token, account_id: named } = parseLogin(Auth, text)?.tokens ?? {};
    const claims = token ? claimsOf(token) : undefined;
    if (!token || !claims) return { token: '' };
    if (claims.exp && claims.exp * 1000 <= Date.now()) return { problem: 'has expired' };
    const account = named ?? claims['https://api.openai.com/auth']?.chatgpt_account_id;
    return account ? { token, account } : { problem: 'names no account' };
  },
  key: {
    of: (text) => parseLogin(Auth, text)?.OPENAI_API_KEY ?? '',
    remedy: 'run `codex login` once',
  },
  baseUrl: 'https://chatgpt.com/backend-api/codex',
  userAgent: 'codex_exec/',
  path: /^\/responses(\?|$)/,
  headers({ 'user-agent': userAgent = '' }, { account }) {
    const version = /^codex_exec\/([\w.+-]+)/.exec(userAgent)?.[1];
    return { ...(account && { 'chatgpt-account-id': account }), ...(version && { version }) };
  },
  remedy: 'run `codex` once to renew the login, or `codex login` for a new one',
};

/** What stands in the middle of a JWT. Nobody checks here that it is true: that is for whom it is sent to. */
function claimsOf(token: string): z.infer<typeof Claims> | undefined {
  const [, middle = ''] = token.split('.');
  return parseLogin(Claims, Buffer.from(middle, 'base64url').toString());
}
