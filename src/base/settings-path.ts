/** Which paths of a repository are bosun's own settings, and which globs name them. Pure. */
import { comparedName } from './dot-git.ts';
import { parseGlob } from './glob-syntax.ts';
import { literalStarts } from './globs.ts';

export const SETTINGS = '.bosun';

/** What the next run of bosun would obey. */
export function isSettings(path: Buffer): boolean {
  // most names begin with a letter, which settles it
  if (path[0]! > 0x2e && path[0]! < 0x80) return false;
  return comparedName(path.toString().split(/[/\\]/, 1)[0]!) === SETTINGS;
}

/** A glob that only happens to match them does not name them. */
export function namesSettings(glob: string): boolean {
  return literalStarts(parseGlob(glob)).some(([first]) => first === SETTINGS);
}
