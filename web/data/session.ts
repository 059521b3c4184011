/**
 * Who this browser is to the server. The token of the address that was printed is traded for a session, half of which no
 * script can read, and taken out of the address at once; it is kept until the server has said what it thinks of it.
 *
 *   asking ──▶ open
 *     ├──────▶ locked: nobody let this browser in
 *     └──────▶ unreachable ──(asked again)──▶ …
 */
import { useSyncExternalStore } from 'react';
import { mayAct, type Role } from '../../src/contract/role.ts';
import { ask, Problem } from './api.ts';
import { keepPlace } from './place.ts';

interface Me {
  /** Of a session that was just begun. */
  place?: string;
  role: Role;
  by: { kind: string; name: string };
  version: string;
}

export type Session =
  | { state: 'asking' }
  | { state: 'open'; me: Me }
  | { state: 'locked' }
  | { state: 'unreachable'; why?: string };

let session: Session = { state: 'asking' };
const listeners = new Set<() => void>();

export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );
}

/** Whether whoever sits here may do what needs this role; the server holds it, too. */
export function useMay(needed: Role): boolean {
  const now = useSession();
  return now.state === 'open' && mayAct(now.me.role, needed);
}

export async function openSession(): Promise<void> {
  token = takeToken() ?? token;
  try {
    set({ state: 'open', me: await enter() });
  } catch (error) {
    const { status, message } = error instanceof Problem ? error : new Problem(0, '', String(error));
    if (status === 401 || status === 403) set({ state: 'locked' });
    else set({ state: 'unreachable', ...(status !== 0 && { why: message }) });
  }
}

let token: string | undefined;

/** Whoever is signed in stays so, also with an address that opens nothing any more. */
async function enter(): Promise<Me> {
  if (token === undefined) return ask<Me>('/api/session');
  let refusal: unknown;
  try {
    const me = await ask<Me>('/api/session', { body: {}, headers: { authorization: `Bearer ${token}` } });
    token = undefined;
    keepPlace(me.place);
    return me;
  } catch (error) {
    refusal = error;
  }
  const isWrong = refusal instanceof Problem && refusal.status === 401;
  if (isWrong) token = undefined;
  return ask<Me>('/api/session').catch((error: unknown) => {
    throw isWrong ? error : refusal;
  });
}

/** @public */
export async function endSession(): Promise<void> {
  await ask('/api/session', { method: 'DELETE' });
  keepPlace(undefined);
  set({ state: 'locked' });
}

/** The server knows this browser no longer. @public */
export function lockSession(): void {
  if (session.state === 'open') set({ state: 'locked' });
}

function set(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

function takeToken(): string | undefined {
  const [, token] = /^#token=([\w-]{1,200})$/.exec(location.hash) ?? [];
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return token;
}
