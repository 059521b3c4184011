/** Finishes or undoes a merge into the user's branch that was cut off. It begins none. */
import { existsSync } from 'node:fs';
import { recoverLanding } from '../merge/landing.ts';
import type { Home } from '../store/home.ts';
import { takeLock } from '../store/lock.ts';

/** Settles a merge that was cut off, if there is one and nobody is at work on it; says what was done. */
export async function recoverMerge(home: Home): Promise<string | undefined> {
  if (!existsSync(home.landing)) return undefined;
  using lock = takeLock(home.mergeLock);
  return lock && recoverLanding(home.landing, home.top);
}
