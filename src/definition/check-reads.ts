/** Checks that the paths of `scope.read` are there on this machine: each becomes a mount. It reads none of them. */
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { didYouMean } from '../base/suggest.ts';
import type { Workflow } from '../contract/workflow.ts';
import { readProblem } from './check-scopes.ts';
import { describe, type Problem } from './problem.ts';
import { scopesOf } from './scopes-of.ts';
import { namesIn } from '../system/names-in.ts';

const PATHS_MAX = 2000;

/** Paths that are no paths are told of elsewhere. */
export function checkReads(workflow: Workflow, repository: string): Problem[] {
  const known = new Map<string, string | undefined>();
  return scopesOf(workflow).flatMap(({ scope, path }) =>
    (scope.read ?? []).slice(0, PATHS_MAX).flatMap((entry, n): Problem[] => {
      if (readProblem(entry) !== undefined) return [];
      const full = resolve(repository, entry.replace(/^~(?=\/|$)/, homedir()));
      if (!known.has(full)) known.set(full, whyUnreadable(full));
      const why = known.get(full);
      if (why === undefined) return [];
      const message = `"${entry}" in ${describe([...path, 'read'])} ${why}`;
      return [{ path: [...path, 'read', n], message }];
    }),
  );
}

function whyUnreadable(full: string): string | undefined {
  try {
    accessSync(full, constants.R_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      return `cannot be read on this machine (${full}: ${code}); make it readable or remove it`;
    const near = didYouMean(basename(full), namesIn(dirname(full))) || '; write where it lies, or remove it';
    return `does not exist on this machine (${full})${near}`;
  }
}
