/** Finishes or undoes a merge into the user's branch that was cut off, and records it. It begins none. */
import { existsSync } from 'node:fs';
import { recoverLanding } from '../merge/landing.ts';
import type { Home } from '../store/home.ts';
import { takeLock } from '../store/lock.ts';
import type { Store } from '../store/store.ts';
import { openEngineGit } from '../system/git/engine-git.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { recordLanding } from './record-landing.ts';

/** Settles a merge that was cut off, if there is one and nobody is at work on it; says what was done. */
export async function recoverMerge(home: Home, store: Store): Promise<string | undefined> {
  if (!existsSync(home.landing)) return undefined;
  using lock = takeLock(home.mergeLock);
  return lock && settleMerge(home, store);
}

/** The same for whoever holds the lock on merges. */
export async function settleMerge(home: Home, store: Store): Promise<string | undefined> {
  const openGit = async () => openEngineGit(await inspectRepository(home.top));
  return recoverLanding(home.landing, home.top, recordLanding(openGit, store));
}
