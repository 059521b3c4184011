/**
 * Seals what this user alone can have said: with a random key in a file of the user's own, outside of every repository.
 * A journal comes along with its repository, so that a word of trust in it may be anybody's.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { assertOurs } from '../system/files/owned.ts';
import { userStateDirectory } from './user-state.ts';

const KEY_BYTES = 32;

/** The key is made when it is first needed. */
export function seal(text: string): string {
  const key = readKey() ?? makeKey();
  return createHmac('sha256', key).update(text).digest('hex');
}

/** Never makes a key: what was sealed before there was one was not sealed here. */
export function isSealed(text: string, sealed: string): boolean {
  const key = readKey();
  if (key === undefined) return false;
  const wanted = createHmac('sha256', key).update(text).digest();
  const given = Buffer.from(sealed, 'hex');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function keyFile(): string {
  return path.join(userStateDirectory(), 'queue.key');
}

function readKey(file = keyFile()): Buffer | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  assertOurs(path.dirname(file), file);
  if (stat.size === KEY_BYTES) return readFileSync(file);
  throw new BosunError('system', `${file} is not the key that bosun wrote; remove it`);
}

/** Never half a key, and of two who make one at once both get the same. */
function makeKey(file = keyFile()): Buffer {
  const fresh = `${file}.${process.pid}`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    assertOurs(path.dirname(file));
    rmSync(fresh, { force: true });
    writeFileSync(fresh, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx' });
    try {
      linkSync(fresh, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    rmSync(fresh);
    return readFileSync(file);
  } catch (cause) {
    if (cause instanceof BosunError) throw cause;
    const { message } = cause as Error;
    const told = `cannot seal what you queue or trust: ${message}; make ${path.dirname(file)} writable`;
    throw new BosunError('system', told, { cause });
  }
}
