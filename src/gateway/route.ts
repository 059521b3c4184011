/** Where a request wants to go: provider, dialect and which of its interfaces. It reads the URL, never the body. */
import type { Dialect } from '../contract/model.ts';

/** The interfaces whose requests and answers we can read. */
export type Api = 'messages' | 'chat' | 'responses' | 'generate';

export interface Route {
  provider: string;
  dialect: Dialect;
  /** What follows the provider's base URL, with its query. */
  path: string;
  /** Absent for what we pass on without understanding it. */
  api?: Api;
  /** Where the path names it, as Gemini's do. */
  model?: string;
  /** It makes no model think: lists, counts of tokens. */
  isFree: boolean;
}

export interface Astray {
  dialect: Dialect;
  status: 400 | 404;
  message: string;
}

const GENERATE = /^\/v[^/]*\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;
const FREE = /\/(messages\/count_tokens|responses\/input_tokens)$|:countTokens$/;

export function routeOf(
  method: string,
  url: string,
  providers: Readonly<Record<string, Dialect>>,
): Route | Astray {
  const [, name = '', rest = ''] = /^\/([^/?#]*)([^#]*)$/.exec(url) ?? [];
  if (!Object.hasOwn(providers, name)) {
    const known = Object.keys(providers).join(', ') || 'none';
    const message = `bosun: no model provider is called "${name.slice(0, 100)}"; configured: ${known}`;
    return { dialect: guessDialect(rest), status: 404, message };
  }
  const dialect = providers[name]!;
  const path = pathBelow(dialect, rest);
  const at = path.indexOf('?');
  const bare = at === -1 ? path : path.slice(0, at);
  // The provider's base URL may have a path of its own, which an agent must not climb out of.
  if (/(^|[/\\])(\.|%2e){1,2}([/\\]|$)/i.test(bare.replaceAll(/%2f|%5c/gi, '/')))
    return { dialect, status: 400, message: 'bosun: the path holds "." or ".."; ask for the plain path' };
  const isRead = method === 'GET' || method === 'HEAD';
  const route = { provider: name, dialect, path, isFree: isRead || FREE.test(bare) };
  if (method !== 'POST') return route;
  if (dialect === 'anthropic') return bare === '/v1/messages' ? { ...route, api: 'messages' } : route;
  if (dialect === 'openai') {
    if (bare === '/chat/completions') return { ...route, api: 'chat' };
    return /^\/responses(\/compact)?$/.test(bare) ? { ...route, api: 'responses' } : route;
  }
  const model = GENERATE.exec(bare)?.[1];
  return model === undefined ? route : { ...route, api: 'generate', model };
}

/** Base URLs of OpenAI's kind end in /v1, and some agents add it once more. */
function pathBelow(dialect: Dialect, rest: string): string {
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return dialect === 'openai' && /^\/v1(\/|$)/.test(path) ? path.slice(3) || '/' : path;
}

function guessDialect(rest: string): Dialect {
  if (rest.includes('/messages')) return 'anthropic';
  return /\/models\/[^/]*:|\/v1beta\//.test(rest) ? 'gemini' : 'openai';
}
