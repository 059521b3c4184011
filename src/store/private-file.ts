/** Makes a file that only its owner can read, before SQLite makes it with whatever the umask allows. */
import { closeSync, openSync } from 'node:fs';

const PRIVATE = 0o600;

/**
 * Never opens one that exists: to close a second descriptor of a database would let go of this process's locks on it.
 * SQLite gives the files beside it the same mode.
 */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', PRIVATE));
  } catch {
    // it is there already; or it cannot be made, which SQLite then says
  }
}
