/** The login of Claude on this machine: what its file holds, and what goes with its token. It reads no file. */
import { z } from 'zod';
import type { ProgramLogin } from '../../contract/login.ts';
import { parseLogin } from '../agent/parse-login.ts';

const BETA = 'oauth-2025-04-20';

const Credentials = z.object({
  claudeAiOauth: z.object({ accessToken: z.string(), expiresAt: z.number().nullish() }),
});

/** What Claude Code itself would use, in the same order. */
export const CLAUDE_LOGIN: ProgramLogin = {
  program: 'Claude',
  provider: 'anthropic',
  place: { variable: 'CLAUDE_CONFIG_DIR', below: '.claude', file: '.credentials.json' },
  variable: 'CLAUDE_CODE_OAUTH_TOKEN',
  kindOf: () => 'subscription',
  subscription(text) {
    const login = parseLogin(Credentials, text)?.claudeAiOauth;
    if (login?.expiresAt && login.expiresAt <= Date.now()) return { problem: 'has expired' };
    return { token: login?.accessToken ?? '' };
  },
  baseUrl: 'https://api.anthropic.com',
  userAgent: 'claude-cli/',
  path: /^\/v1\/(messages(\/count_tokens)?|models(\/[\w.:@-]+)?)(\?|$)/,
  headers({ 'anthropic-beta': sent = '' }) {
    const betas = sent.split(',').map((each) => each.trim());
    if (betas.includes(BETA)) return {};
    return { 'anthropic-beta': [...betas.filter((each) => each !== ''), BETA].join(',') };
  },
  remedy:
    'run `claude` once to renew the login, or set CLAUDE_CODE_OAUTH_TOKEN to what `claude setup-token` gives',
};
