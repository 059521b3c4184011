/** Whose credentials a request is sent with: the agent's own, the login of its program, a key of ours, or none. */
import type { Secret } from '../keys/keys.ts';
import type { Used } from './answer.ts';
import { isFor, loginOf, withHeldLogin, withKey, withLogin, type Outgoing } from './headers.ts';
import { Scrub } from './scrub.ts';
import type { Login } from '../keys/logins.ts';
import type { Provider } from '../keys/providers.ts';
import { TransportError, type ModelRequest } from '../transport.ts';

export interface Credentials extends Used {
  outgoing: Outgoing;
  /** Requests with the same one share the provider's limits. */
  shared: string;
  /** Where the key is from. */
  source?: Secret | undefined;
  held?: Login;
}

/** Throws a TransportError where there are none, and no answer without. */
export async function credentialsFor(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Credentials> {
  const { login: held, key } = provider;
  const sent = provider.passesLogin ? loginOf(request) : undefined;
  if (sent !== undefined)
    return {
      outgoing: dressed(withLogin(request), provider),
      scrub: scrubFor(provider, sent.split('\n')),
      isLogin: true,
      shared: sent,
    };
  if (held && isFor(held, request)) {
    const parts = await opened(() => held.open(), provider, 'login');
    const { token: secret } = parts;
    const outgoing = dressed(withHeldLogin(request, held, parts), provider);
    const scrub = scrubFor(provider, [secret]);
    return { outgoing, scrub, isLogin: true, shared: secret, source: held.secret, held };
  }
  if (!key && provider.isKeyNeeded)
    throw new TransportError('auth', 401, `${provider.name} has ${provider.how}`);
  const secret = key && (await opened(() => key.read(signal), provider, 'key', signal));
  const outgoing = dressed(withKey(request, secret, key?.header ?? 'bearer'), provider);
  const scrub = scrubFor(provider, secret === undefined ? [] : [secret]);
  return { outgoing, scrub, isLogin: false, shared: secret ?? '', source: key };
}

/** A key is seldom another one than that of the request before. */
const lastScrubs = new WeakMap<Provider, { secrets: string; scrub: Scrub }>();

/** Headers that users configure may hold a key, too. */
function scrubFor(provider: Provider, secrets: string[]): Scrub {
  const last = lastScrubs.get(provider);
  const joined = secrets.join('\n');
  if (last?.secrets === joined) return last.scrub;
  const { headers } = provider;
  const configured = Object.entries(headers).filter(([name]) => /auth|key|token|secret|cookie/i.test(name));
  const all = [...secrets, ...configured.map(([, value]) => value)];
  const scrub = new Scrub(all.map((value) => value.replace(/^(bearer|basic) +/i, '')));
  lastScrubs.set(provider, { secrets: joined, scrub });
  return scrub;
}

/** The provider's own words say nothing of who could renew it. */
export function refusedLogin({ name }: Provider, { program, remedy }: Login): TransportError {
  return new TransportError('auth', 401, `${name} does not accept the login of ${program}; ${remedy}`);
}

async function opened<T>(
  open: () => Promise<T>,
  { name }: Provider,
  what: string,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    signal?.throwIfAborted();
    throw new TransportError('auth', 401, `no ${what} for ${name}: ${(cause as Error).message}`, cause);
  }
}

function dressed(outgoing: Outgoing, { headers }: Provider): Outgoing {
  Object.assign(outgoing.headers, headers);
  return outgoing;
}
