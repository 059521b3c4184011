/**
 * What the user has agreed to, by repository: a small file of the user's own, outside of every repository. A repository
 * is known by its git directory and by what the file system calls that, so that another one put there is not trusted.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { BosunError } from '../contract/errors.ts';
import { assertOurs } from '../system/files/owned.ts';
import { userStateDirectory } from './user-state.ts';

const FILE_BYTES_MAX = 4 * 1024 * 1024;

const Trusted = z.strictObject({
  /** What tells this git directory from another one at the same path. */
  identity: z.string(),
  /** What was asked for and agreed to. */
  asked: z.array(z.string()),
  /** Whatever it asks for behind fences, now and later. */
  everything: z.boolean().optional(),
  /** The same, for as long as nothing of others comes into it. */
  whileAlone: z.literal(true).optional(),
});
const TrustFile = z.strictObject({
  version: z.literal(1),
  repositories: z.record(z.string(), Trusted),
});

export type Trusted = z.output<typeof Trusted>;

export function trustFile(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(userStateDirectory(env), 'trust.json');
}

/** By git directory, also those that are gone. Throws where the file cannot be believed. */
export function readTrust(file = trustFile()): Map<string, Trusted> {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return new Map();
  assertOurs(path.dirname(file), file);
  try {
    if (stat.size > FILE_BYTES_MAX) throw new Error('it is too large');
    const { repositories } = TrustFile.parse(JSON.parse(readFileSync(file, 'utf8')));
    return new Map(Object.entries(repositories));
  } catch (cause) {
    const { message } =
      cause instanceof z.ZodError ? new Error('it is not what bosun wrote') : (cause as Error);
    throw new BosunError(
      'system',
      `cannot read which repositories you trust: ${file}: ${message}; remove it, and trust them again with: bosun trust`,
      { cause },
    );
  }
}

/** Undefined where nothing was agreed to, or where that was for another repository. */
export function trustedAt(gitDirectory: string, file = trustFile()): Trusted | undefined {
  const known = readTrust(file).get(gitDirectory);
  return known?.identity === identityOf(gitDirectory) ? known : undefined;
}

/** Adds to what was agreed to before. */
export function addTrust(
  gitDirectory: string,
  {
    asked,
    everything = false,
    whileAlone = false,
  }: { asked: readonly string[]; everything?: boolean; whileAlone?: boolean },
  file = trustFile(),
): void {
  const before = trustedAt(gitDirectory, file);
  const all = readTrust(file);
  all.set(gitDirectory, {
    identity: identityOf(gitDirectory),
    asked: [...new Set([...(before?.asked ?? []), ...asked])].sort(),
    ...((everything || before?.everything) && { everything: true }),
    ...((whileAlone || before?.whileAlone) && { whileAlone: true }),
  });
  write(all, file);
}

/** False where there was nothing to remove. */
export function removeTrust(gitDirectory: string, file = trustFile()): boolean {
  const all = readTrust(file);
  if (!all.delete(gitDirectory)) return false;
  write(all, file);
  return true;
}

/** Numbers are used again for what comes later, so that the time of its making counts too. */
function identityOf(gitDirectory: string): string {
  const { dev, ino, birthtimeMs } = statSync(gitDirectory);
  return `${dev}:${ino}:${Math.round(birthtimeMs)}`;
}

/** Never half a file. Of two who write at once one may have to be asked again. */
function write(all: Map<string, Trusted>, file: string): void {
  const fresh = `${file}.${process.pid}`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    assertOurs(path.dirname(file));
    rmSync(fresh, { force: true });
    const text = `${JSON.stringify({ version: 1, repositories: Object.fromEntries(all) }, undefined, 2)}\n`;
    if (text.length > FILE_BYTES_MAX)
      throw new Error('it would be too large: remove some with bosun trust --remove');
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } catch (cause) {
    if (cause instanceof BosunError) throw cause;
    const { message } = cause as Error;
    throw new BosunError(
      'system',
      `cannot write down what you trust: ${message}; make ${path.dirname(file)} writable`,
      {
        cause,
      },
    );
  }
}
