/**
 * Workspaces on another disk: a small file in the state directory says where they are, and one beside them says whose
 * they are, so that a copy of the repository never uses those of the original. It moves and removes nothing.
 */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { isWithin } from '../../base/is-within.ts';
import { BosunError } from '../../contract/errors.ts';
import { assertOnlyOursAbove, userName } from './owned.ts';

const LINES_BYTES_MAX = 16 * 1024;
const PRIVATE = 0o700;
const OTHERS = 0o077;
const NAME_CHARS_MAX = 40;

const pointerIn = (state: string): string => path.join(state, 'sandbox-at');
const ownerIn = (sandbox: string): string => path.join(sandbox, 'owner');

/** Undefined where they lie in the state directory, as they do unless somebody wants them elsewhere. */
export function sandboxElsewhere(state: string): string | undefined {
  const [sandbox] = readLines(pointerIn(state)) ?? [];
  if (sandbox === undefined || !path.isAbsolute(sandbox)) return undefined;
  if (!existsSync(sandbox)) return sandbox; // gone with its disk: it is made again
  const owner = readLines(ownerIn(sandbox)) ?? [];
  return ownerOf(state).some((line, n) => line === owner[n]) ? sandbox : undefined;
}

/** From now on, a new directory in `place`, or the one in the state directory. Whoever calls it is alone, and nothing is in use. */
export function pointSandbox(state: string, place: string | undefined, name: string): void {
  if (place === undefined) return rmSync(pointerIn(state), { force: true });
  const plain = name.replaceAll(/[^\w.-]/g, '_').slice(0, NAME_CHARS_MAX);
  const sandbox = path.join(place, `${plain}-${randomBytes(6).toString('hex')}`);
  makeSandboxElsewhere(sandbox, state);
  writeFileSync(pointerIn(state), `${sandbox}\n`, { mode: 0o600 });
}

/** Where the directory that a person named really is; throws where others could read or replace what is in it. */
export function openPlace(place: string, top: string): string {
  const within = realpathSync(top);
  const why = 'it is part of the repository; name a directory outside of it';
  if (isWithin(top, place) || isWithin(within, place)) throw refused(place, why);
  mkdirSync(place, { recursive: true, mode: PRIVATE });
  const real = realpathSync(place);
  if (isWithin(within, real)) throw refused(place, why);
  requireOurs(real);
  return real;
}

function requireOurs(place: string): void {
  const stat = lstatSync(place);
  const advice = 'name one that is yours alone (mode 700), such as one that does not exist yet';
  if (!stat.isDirectory()) throw refused(place, `it is not a directory; ${advice}`);
  if (stat.uid !== (process.geteuid?.() ?? stat.uid))
    throw refused(place, `it belongs to ${userName(stat.uid)}; ${advice}`);
  if ((stat.mode & OTHERS) !== 0)
    throw refused(
      place,
      `other users can look into it (mode ${(stat.mode & 0o7777).toString(8)}); ${advice}`,
    );
  assertOnlyOursAbove(place);
}

/** Also where it is gone with its disk; never below somebody else's. */
export function makeSandboxElsewhere(sandbox: string, state: string): void {
  const place = path.dirname(sandbox);
  mkdirSync(place, { recursive: true, mode: PRIVATE });
  requireOurs(place);
  mkdirSync(sandbox, { recursive: true });
  if (!existsSync(ownerIn(sandbox)))
    writeFileSync(ownerIn(sandbox), `${ownerOf(state).join('\n')}\n`, { mode: 0o600 });
}

/** A moved repository keeps its number, one that was restored its path. */
function ownerOf(state: string): string[] {
  const { dev, ino } = statSync(state);
  return [realpathSync(state), `${dev}:${ino}`];
}

function readLines(file: string): string[] | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > LINES_BYTES_MAX) return undefined;
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

function refused(place: string, why: string): BosunError {
  return new BosunError('usage', `${place} cannot hold workspaces: ${why}`);
}
