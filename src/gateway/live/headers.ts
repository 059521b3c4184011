/** What of an agent's request goes on to a provider, with whose credentials, and what of the answer comes back. Pure. */
import type { IncomingHttpHeaders } from 'node:http';
import { namedByConnection } from '../../base/hop-by-hop.ts';
import { OF_THE_CONNECTION } from '../headers.ts';
import { PLACEHOLDER_KEY, type KeyHeader } from '../keys/keys.ts';
import type { Scrub } from './scrub.ts';
import type { LoginParts } from '../../contract/login.ts';
import type { Login } from '../keys/logins.ts';
import type { ModelRequest } from '../transport.ts';

const LOGINS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'];
const CREDENTIALS = new Set([...LOGINS, 'cookie']);
const CREDENTIAL_PARAMETERS = new Set(['key', 'api_key', 'access_token']);

export interface Outgoing {
  path: string;
  headers: Record<string, string>;
}

/** What the agent itself is logged in with, as one text; undefined where it has our placeholder alone. */
export function loginOf({ headers, path }: ModelRequest): string | undefined {
  const own = [...LOGINS.map((name) => headers[name]), ...credentialsIn(path)].filter(
    (value) => value !== undefined && !value.includes(PLACEHOLDER_KEY),
  );
  return own.length > 0 ? own.join('\n') : undefined;
}

/** With the credentials that the agent brought. */
export function withLogin(request: ModelRequest): Outgoing {
  return outgoing(
    request,
    () => true,
    (value) => !value.includes(PLACEHOLDER_KEY),
  );
}

/** With a key of ours, or with none, and nothing of what the agent brought. */
export function withKey(request: ModelRequest, key: string | undefined, header: KeyHeader): Outgoing {
  const result = outgoing(
    request,
    (name) => !CREDENTIALS.has(name),
    () => false,
  );
  if (key !== undefined && header === 'bearer') result.headers.authorization = `Bearer ${key}`;
  else if (key !== undefined) result.headers[header] = key;
  return result;
}

/** Whether a request is one that the login is for. */
export function isFor({ userAgent, path }: Login, request: ModelRequest): boolean {
  return (request.headers['user-agent'] ?? '').startsWith(userAgent) && path.test(request.path);
}

/** As the program sends it where it is logged in itself: with what the agent brought, but for its placeholder. */
export function withHeldLogin(request: ModelRequest, login: Login, parts: LoginParts): Outgoing {
  const result = withKey(request, parts.token, login.secret.header);
  Object.assign(result.headers, login.headers(result.headers, parts));
  return result;
}

/** Of an answer; one that holds a key is left out, whatever its name. */
export function returnedHeaders(headers: IncomingHttpHeaders, scrub: Scrub): Record<string, string> {
  const kept: Record<string, string> = {};
  const dropped = namedByConnection(headers.connection);
  for (const name in headers) {
    const value = headers[name];
    // A list is a list of cookies.
    if (typeof value !== 'string' || OF_THE_CONNECTION.has(name) || dropped.has(name)) continue;
    if (scrub.isIn(value) || scrub.isIn(name)) continue;
    kept[name] = value;
  }
  return kept;
}

/** Paths that another reader could take for one above the base URL, or for none at all. */
export function isStrayPath(path: string): boolean {
  const [way] = path.split('?', 1) as [string];
  return (
    !/^\/[\x21-\x7e]*$/.test(path) ||
    path.includes('#') ||
    /%25/.test(way) || // what is decoded twice may be anything
    /(^|\/|\\|%2f|%5c)(\.|%2e){1,2}(;|\/|\\|%2f|%5c|$)/i.test(way)
  );
}

function outgoing(
  { headers, path, body, method }: ModelRequest,
  keepsHeader: (name: string) => boolean,
  keepsParameter: (value: string) => boolean,
): Outgoing {
  const kept: Record<string, string> = {};
  const dropped = namedByConnection(headers.connection);
  for (const name in headers) {
    const value = headers[name]!;
    if (OF_THE_CONNECTION.has(name) || dropped.has(name) || !keepsHeader(name)) continue;
    if (value.includes(PLACEHOLDER_KEY)) continue;
    kept[name] = value;
  }
  delete kept['content-length'];
  if (body.length > 0 || (method !== 'GET' && method !== 'HEAD')) kept['content-length'] = `${body.length}`;
  kept['accept-encoding'] = 'identity'; // what is used is read from the answer
  return { path: withoutCredentials(path, keepsParameter), headers: kept };
}

function withoutCredentials(path: string, keeps: (value: string) => boolean): string {
  const at = path.indexOf('?');
  if (at === -1) return path;
  const parameters = path.slice(at + 1).split('&');
  const kept = parameters.filter((each) => {
    const [name, value] = splitParameter(each);
    return !CREDENTIAL_PARAMETERS.has(name) || keeps(value);
  });
  return kept.length > 0 ? `${path.slice(0, at)}?${kept.join('&')}` : path.slice(0, at);
}

function credentialsIn(path: string): string[] {
  const at = path.indexOf('?');
  if (at === -1) return [];
  return path
    .slice(at + 1)
    .split('&')
    .map(splitParameter)
    .filter(([name]) => CREDENTIAL_PARAMETERS.has(name))
    .map(([, value]) => value);
}

function splitParameter(parameter: string): [name: string, value: string] {
  const [name = '', ...value] = parameter.split('=');
  try {
    return [decodeURIComponent(name).toLowerCase(), decodeURIComponent(value.join('='))];
  } catch {
    return [name.toLowerCase(), value.join('=')];
  }
}
