/**
 * Where a request wants to go: provider, dialect and which of its interfaces. It reads the URL, never the body. What is
 * no call of a model is refused unless the user lets it pass: it would use the user's key, and nobody would meter it.
 */
import type { Dialect } from '../../contract/model.ts';

/** The interfaces whose requests and answers we can read. */
export type Api = 'messages' | 'chat' | 'responses' | 'embeddings' | 'generate';

export interface Route {
  provider: string;
  dialect: Dialect;
  /** What follows the provider's base URL, with its query. */
  path: string;
  /** Absent for what makes no model think, and for what users let pass. */
  api?: Api;
  /** Whose requests are counted here: it makes no model think, but the provider may fetch what they name. */
  counts?: Api;
  /** Where the path names it, as Gemini's do. */
  model?: string;
  /** It makes no model think: lists, counts of tokens. */
  isFree: boolean;
}

export interface Astray {
  dialect: Dialect;
  status: 400 | 403 | 404;
  message: string;
}

/** What users allow besides; `path` is without its query. */
export type Passes = (provider: string, method: string, path: string) => boolean;

const METERED: Record<Exclude<Dialect, 'gemini'>, Record<string, Api>> = {
  anthropic: { '/v1/messages': 'messages' },
  openai: {
    '/chat/completions': 'chat',
    '/responses': 'responses',
    '/responses/compact': 'responses',
    '/embeddings': 'embeddings',
  },
};
const GENERATE = /^\/v[^/]*\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;
const COUNTS: Record<Dialect, [RegExp, Api]> = {
  anthropic: [/^\/v1\/messages\/count_tokens$/, 'messages'],
  openai: [/^\/responses\/input_tokens$/, 'responses'],
  gemini: [/^\/v[^/]*\/models\/[^/:]+:countTokens$/, 'generate'],
};
/** Names of models may hold slashes. */
const LISTS: Record<Dialect, RegExp> = {
  anthropic: /^\/v1\/models(\/[^/]+)?$/,
  openai: /^\/models(\/.+)?$/,
  gemini: /^\/v[^/]*\/models(\/[^/:]+)?$/,
};
const PATH_CHARS_MAX = 200;
const NONE_PASSES: Passes = () => false;

export function routeOf(
  method: string,
  url: string,
  providers: Readonly<Record<string, Dialect>>,
  passes = NONE_PASSES,
): Route | Astray {
  const [, name = '', rest = ''] = /^\/([^/?#]*)([^#]*)$/.exec(url) ?? [];
  if (!Object.hasOwn(providers, name)) {
    const known = Object.keys(providers).join(', ') || 'none';
    const message = `bosun: no model provider is called "${name.slice(0, 100)}"; configured: ${known}`;
    return { dialect: guessDialect(rest), status: 404, message };
  }
  const dialect = providers[name]!;
  const path = pathBelow(dialect, rest);
  const bare = withoutQuery(path);
  // The provider's base URL may have a path of its own, which an agent must not climb out of.
  if (/(^|[/\\])(\.|%2e){1,2}([/\\]|$)/i.test(bare.replaceAll(/%2f|%5c/gi, '/')))
    return { dialect, status: 400, message: 'bosun: the path holds "." or ".."; ask for the plain path' };
  const isRead = method === 'GET' || method === 'HEAD';
  const route = { provider: name, dialect, path, isFree: isRead };
  if (method === 'POST') {
    const [counting, counts] = COUNTS[dialect];
    if (counting.test(bare)) return { ...route, isFree: true, counts };
    const model = dialect === 'gemini' ? GENERATE.exec(bare)?.[1] : undefined;
    if (model !== undefined) return { ...route, api: 'generate', model };
    const api = dialect === 'gemini' ? undefined : METERED[dialect][bare];
    if (api !== undefined) return { ...route, api };
  }
  if ((isRead && LISTS[dialect].test(bare)) || passes(name, method, bare)) return route;
  const asked = `${method} ${withoutQuery(rest).slice(0, PATH_CHARS_MAX)}`;
  return {
    dialect,
    status: 403,
    message: `bosun: agents may ask models of ${name}, and for its list of models, but not for ${asked}; to allow it, add pass: [${JSON.stringify(asked)}] to providers.${name} in your own configuration`,
  };
}

function withoutQuery(path: string): string {
  const at = path.indexOf('?');
  return at === -1 ? path : path.slice(0, at);
}

/** Base URLs of OpenAI's kind end in /v1, and some agents add it once more. */
export function pathBelow(dialect: Dialect, rest: string): string {
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return dialect === 'openai' && /^\/v1(\/|$)/.test(path) ? path.slice(3) || '/' : path;
}

function guessDialect(rest: string): Dialect {
  if (rest.includes('/messages')) return 'anthropic';
  return /\/models\/[^/]*:|\/v1beta\//.test(rest) ? 'gemini' : 'openai';
}
