/** What users let agents ask of a provider besides models: `POST /v1/files`, `GET /v1/files/*`. It reads no request. */
import type { Dialect } from '../contract/model.ts';
import { pathBelow, type Passes } from './route.ts';

/** By provider: a method and a path each, where `*` is any text. */
export function compilePasses(
  patterns: Readonly<Record<string, readonly string[]>>,
  dialects: Readonly<Record<string, Dialect>>,
): Passes {
  const compiled = new Map<string, RegExp[]>();
  for (const [provider, list] of Object.entries(patterns))
    compiled.set(
      provider,
      list.map((pattern) => expressionOf(pattern, dialects[provider]!)),
    );
  return (provider, method, path) =>
    compiled.get(provider)?.some((pattern) => pattern.test(`${method} ${path}`)) ?? false;
}

/** Paths are compared as they are sent, so `/v1` may be written or not where it is part of the base URL. */
function expressionOf(pattern: string, dialect: Dialect): RegExp {
  const [method = '', path = ''] = pattern.split(' ');
  const words = `${method} ${pathBelow(dialect, path)}`
    .split('*')
    .map((word) => word.replaceAll(/[\\^$.+?()[\]{}|]/g, String.raw`\$&`));
  return new RegExp(`^${words.join('.*')}$`);
}
