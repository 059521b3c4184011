/** Checks that the paths of `scope.read` are there on this machine and show nothing that is hidden. It reads none of them. */
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, relative, resolve } from 'node:path';
import { globsOverlap } from '../../base/globs.ts';
import { isWithin } from '../../base/is-within.ts';
import { didYouMean } from '../../base/suggest.ts';
import type { Scope, Workflow } from '../../contract/workflow.ts';
import { readProblem } from './scopes.ts';
import { describe, type Problem } from '../source/problem.ts';
import { scopesOf } from './scopes-of.ts';
import { namesIn } from '../../system/files/names-in.ts';
import { realPath } from '../../system/files/real-path.ts';
import { isTemplate } from '../../schedule/workflow/glob-template.ts';

const PATHS_MAX = 2000;

/** Paths that are no paths are told of elsewhere. */
export function checkReads(workflow: Workflow, repository: string): Problem[] {
  const known = new Map<string, string | undefined>();
  return scopesOf(workflow).flatMap(({ scope, path }) =>
    (scope.read ?? []).slice(0, PATHS_MAX).flatMap((entry, n): Problem[] => {
      if (readProblem(entry) !== undefined) return [];
      const full = readPath(entry, repository);
      if (!known.has(full)) known.set(full, whyUnreadable(full));
      const why = known.get(full) ?? showsHidden(full, scope, repository);
      if (why === undefined) return [];
      const message = `"${entry}" in ${describe([...path, 'read'])} ${why}`;
      return [{ path: [...path, 'read', n], message }];
    }),
  );
}

/** As a path of this machine. */
export function readPath(entry: string, repository: string): string {
  return resolve(repository, entry.replace(/^~(?=\/|$)/, homedir()));
}

/** Why a path must not be read beside what the scope hides: it is the repository's own, and nothing of it is covered. */
export function showsHidden(full: string, { hide = [] }: Scope, repository: string): string | undefined {
  const [real, top] = [realPath(full), realPath(repository)];
  if (hide.length === 0 || !(isWithin(top, real) || isWithin(real, top))) return undefined;
  const below = isWithin(top, real) ? relative(top, real).replaceAll(/[*?[\]{}()!\\]/g, String.raw`\$&`) : '';
  const shown = hide.find(
    (glob) =>
      below === '' || isTemplate(glob) || [below, `${below}/**`].some((each) => globsOverlap(each, glob)),
  );
  if (shown === undefined) return undefined;
  return `shows the repository's own files, where "${shown}" of "hide" would hide nothing; remove it, since the workspace has the files of the last commit, or bring what else is needed with "workspace.copy"`;
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
