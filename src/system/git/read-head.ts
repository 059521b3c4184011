/** The commit that HEAD of a work tree names right now. Quick where two small files say it; else git is asked. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { gitInRepository } from './git.ts';
import type { Repository } from './repository.ts';

/** What git writes there is a name or a hash. */
const FILE_BYTES_MAX = 8192;
const HASH = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

export async function readHead({
  top,
  gitDir,
  commonDir,
}: Pick<Repository, 'top' | 'gitDir' | 'commonDir'>): Promise<string> {
  const head = readLine(path.join(gitDir, 'HEAD'));
  const branch = head !== undefined && /^ref: (refs\/heads\/.+)$/.exec(head)?.[1];
  const isPlain = branch && !branch.split('/').includes('..') && !branch.includes('\0');
  const hash = isPlain ? readLine(path.join(commonDir, branch)) : head;
  if (hash !== undefined && HASH.test(hash)) return hash;
  // It is packed, in another format, or not there at all.
  const args = ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'];
  const asked = await gitInRepository(args, { cwd: top, codes: [0, 1, 128] });
  if (asked.code === 0) return asked.stdout.toString().trim();
  throw new BosunError(
    'no-repository',
    `${top} has no commit any more, and agents start from one: git add -A && git commit -m "Start"`,
  );
}

function readLine(file: string): string | undefined {
  try {
    const stat = statSync(file);
    return stat.isFile() && stat.size <= FILE_BYTES_MAX ? readFileSync(file, 'utf8').trimEnd() : undefined;
  } catch {
    return undefined;
  }
}
