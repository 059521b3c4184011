/** All runs of all repositories, for Home. */
import { useSyncExternalStore } from 'react';
import { currentHome, listenHome, type Home } from './home-store.ts';

export function useHome(): Home {
  return useSyncExternalStore(listenHome, currentHome);
}
