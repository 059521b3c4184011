/**
 * Whether what the page shows is live. The server lets itself be heard every five seconds; where nothing was heard for
 * fifteen, what is shown may be old, and the page says so.
 *
 *   live ──(15 s of silence, or cut off)──▶ lost ──(heard again)──▶ live
 */
import { useSyncExternalStore } from 'react';

export type Link = { state: 'live' } | { state: 'lost'; sinceMs: number };

const LIVE: Link = { state: 'live' };
let link: Link = LIVE;
const listeners = new Set<() => void>();

export function useLink(): Link {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => link,
  );
}

export function setLink(next: Link): void {
  if (link.state === next.state) return;
  link = next.state === 'live' ? LIVE : next;
  for (const listener of listeners) listener();
}
