/**
 * Who this browser is to the server. The token of the address that was printed is given for a cookie that no script can
 * read, and taken out of the address at once.
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
  { state: 'asking' } | { state: 'open'; me: Me } | { state: 'locked' } | { state: 'unreachable' };

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
  const token = takeToken();
  try {
    const me =
      token === undefined
        ? await ask<Me>('/api/session')
        : await ask<Me>('/api/session', { body: {}, headers: { authorization: `Bearer ${token}` } });
    if (me.place !== undefined) keepPlace(me.place);
    set({ state: 'open', me });
  } catch (error) {
    set({ state: error instanceof Problem && error.status === 0 ? 'unreachable' : 'locked' });
  }
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
