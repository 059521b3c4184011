/** Finds where bosun's own state would be seen inside a sandbox: journal, other workspaces and the sockets of other agents. */
import path from 'node:path';
import { isWithin } from '../base/is-within.ts';
import { BosunError } from '../contract/errors.ts';
import { realPath } from '../system/files/real-path.ts';

/** Throws where what is to be read is part of the state itself. */
export function stateWithin(reads: readonly string[], state: string): string[] {
  return reads.flatMap((file) => {
    const real = realPath(file);
    if (isWithin(state, real))
      throw new BosunError(
        'invalid-workflow',
        `"scope.read" names ${file}, which is part of what bosun keeps of its runs; remove it`,
      );
    return isWithin(real, state) ? [path.join(file, path.relative(real, state))] : [];
  });
}
