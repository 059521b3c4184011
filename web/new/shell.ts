/** The command that does the same, as a shell takes it. */
import { shellWord } from '../../src/base/shell-word.ts';

const SHOWN_CHARS_MAX = 400;

type Given = string | number | boolean | undefined;

/** Options that are undefined, false or empty are left out; true stands for a flag. */
export function commandOf(
  words: readonly string[],
  options: readonly (readonly [string, Given])[],
  last: readonly string[] = [],
): string {
  const given = options.flatMap(([flag, value]): string[] => {
    if (value === undefined || value === false || value === '') return [];
    return value === true ? [flag] : [flag, String(value)];
  });
  const line = ['bosun', ...words, ...given, ...last].map(shellWord).join(' ');
  return line.length > SHOWN_CHARS_MAX ? `${line.slice(0, SHOWN_CHARS_MAX - 1).toWellFormed()}…` : line;
}
