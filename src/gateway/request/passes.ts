/** What users let agents ask of a provider besides models: `POST /v1/files`, `GET /v1/files/*`. It reads no request. */
import { matchesStars } from '../../base/globs.ts';
import type { Dialect } from '../../contract/model.ts';
import { pathBelow, type Passes } from './route.ts';

/** By provider: a method and a path each, where `*` is any text. */
export function compilePasses(
  patterns: Readonly<Record<string, readonly string[]>>,
  dialects: Readonly<Record<string, Dialect>>,
): Passes {
  const allowed = new Map<string, string[]>();
  for (const [provider, list] of Object.entries(patterns))
    allowed.set(
      provider,
      list.map((pattern) => asSent(pattern, dialects[provider]!)),
    );
  return (provider, method, path) =>
    allowed.get(provider)?.some((pattern) => matchesStars(pattern, `${method} ${path}`)) ?? false;
}

/** Paths are compared as they are sent, so `/v1` may be written or not where it is part of the base URL. */
function asSent(pattern: string, dialect: Dialect): string {
  const [method = '', path = ''] = pattern.split(' ');
  return `${method} ${pathBelow(dialect, path)}`;
}
