/** Refuses options that would say nothing where they were typed: whoever typed one meant something by it. */
import { wordList } from '../../base/word-list.ts';
import { BosunError } from '../../contract/errors.ts';
import type { Option, Typed } from './command.ts';

export function requireFitting({ command, args, options }: Typed): void {
  const isGiven = (flag: string): boolean => options[keyOf(flag)] !== undefined;
  const isThere = (what: string): boolean =>
    what.startsWith('--') ? isGiven(what) : (args[0] ?? 'list') === what;
  for (const { flags, needs = [], not = [] } of command.options ?? []) {
    const flag = longOf(flags);
    if (!isGiven(flag)) continue;
    if (needs.length > 0 && !needs.some(isThere))
      throw new BosunError(
        'usage',
        `${flag} says nothing without ${wordList(needs, 'or')} (see: bosun ${command.name} --help)`,
      );
    const other = not.find(isThere);
    if (other !== undefined)
      throw new BosunError(
        'usage',
        `${flag} and ${other} do not go together (see: bosun ${command.name} --help)`,
      );
  }
}

function longOf(flags: Option['flags']): string {
  return /--[a-z-]+/.exec(flags)![0];
}

function keyOf(flag: string): string {
  return flag.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
