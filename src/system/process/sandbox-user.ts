/**
 * Who commands run as. A root engine must not run them as root, not even in a user namespace: it becomes somebody
 * who owns nothing but the layers. Everybody else runs them as himself.
 */
import { lchownSync, readdirSync, readFileSync } from 'node:fs';
import { capture } from './process.ts';
import { BosunError } from '../../contract/errors.ts';

/** Belongs to nobody on ordinary systems, and exists in user namespaces of the usual size. */
const SANDBOX_UID = 64_123;

/** Undefined where commands run as the engine's own user. The group has the same number. */
export const sandboxUid: number | undefined =
  process.getuid?.() === 0 && hasUser(SANDBOX_UID) ? SANDBOX_UID : undefined;

/** In some containers root is the only user there is. */
function hasUser(uid: number): boolean {
  try {
    return readFileSync('/proc/self/uid_map', 'latin1')
      .trim()
      .split('\n')
      .some((line) => {
        const [first, , count] = line.trim().split(/\s+/).map(Number);
        return uid >= first! && uid < first! + count!;
      });
  } catch {
    return false;
  }
}

/** What commands are to write must be theirs. Nothing is done where they run as the engine's own user. */
export function give(uid: number | undefined, ...files: string[]): void {
  if (uid !== undefined) for (const file of files) lchownSync(file, uid, uid);
}

/** A small tree is given sooner than a process is started for it. */
const BY_HAND_MAX = 300;
const SLASH = Buffer.from('/');

/** Nobody changes the tree meanwhile. */
export async function giveTree(uid: number | undefined, directory: string): Promise<void> {
  if (uid === undefined || giveByHand(uid, directory)) return;
  const given = await capture(['chown', '-R', '-h', `${uid}:${uid}`, '--', directory]);
  if (given.code !== 0)
    throw new BosunError('system', `cannot give ${directory} to user ${uid}: ${given.stderr.trim()}`);
}

/** Whether that was all of it: a large tree is left to a process of its own. */
function giveByHand(uid: number, top: string): boolean {
  const directories = [Buffer.from(top)];
  let count = 0;
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    lchownSync(directory, uid, uid);
    for (const entry of readdirSync(directory, { withFileTypes: true, encoding: 'buffer' })) {
      if (++count > BY_HAND_MAX) return false;
      const at = Buffer.concat([directory, SLASH, entry.name]);
      if (entry.isDirectory()) directories.push(at);
      else lchownSync(at, uid, uid);
    }
  }
  return true;
}
