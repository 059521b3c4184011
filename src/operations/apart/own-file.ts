/** Which files a program outside may name as a workflow: what is wrong with one is told with its lines. */
import path from 'node:path';
import { isWithin } from '../../base/is-within.ts';
import { BosunError } from '../../contract/errors.ts';
import { isModule } from '../../definition/load.ts';
import { realPath } from '../../system/files/real-path.ts';
import { topOf } from '../check.ts';

const KINDS = ['.yaml', '.yml', '.json'];

/** Throws for what lies elsewhere, also through a link, and for what is no workflow by its name; it reads nothing. */
export function requireOwnFile(cwd: string, file: string): void {
  const top = realPath(topOf(cwd) ?? cwd);
  const named = path.resolve(realPath(cwd), file);
  const real = realPath(named);
  // Also by its name: a link elsewhere, which somebody else may change, does not decide which file is meant.
  const isOwn =
    isWithin(top, named) && isWithin(top, real) && !path.relative(top, real).split(path.sep).includes('.git');
  const isKnown = [file, real].every((name) => KINDS.includes(path.extname(name)) || isModule(name));
  if (isOwn && isKnown) return;
  throw new BosunError(
    'usage',
    'file must be a workflow file within the repository, such as release.yaml: YAML, JSON or code',
  );
}
