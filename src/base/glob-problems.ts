/** What can be wrong with a glob, in words to be put after the glob itself: for whoever writes one, not to match with. */
export const GLOB_CHARS_MAX = 1000;
export const EXPANSIONS_MAX = 100;

export const GLOB_PROBLEMS = {
  empty: 'is empty; write "**" for all files',
  long: `is longer than ${GLOB_CHARS_MAX} characters; shorten it`,
  nul: 'holds a NUL, which no path can',
  negated: 'begins with "!"; globs only add, so name what is meant instead',
  extended: 'holds an extended glob such as +(a|b); write {a,b}',
  absolute: 'is an absolute path; write it relative to the top of the repository',
  choice: 'has an empty choice in its braces, which would be all files; remove it',
  up: 'holds "..", which leads out; write it from the top of the repository',
  git: 'lies in .git, which belongs to git and is never collected; remove it',
  open: 'has a "[" that is never closed; write "\\[" for the character',
  backslash: 'holds a "\\"; write "/" between directories',
  class: 'has a class such as [:alpha:] or a "\\" inside [ ]; write ranges such as [a-z]',
  backwards: 'has a range inside [ ] that runs backwards; swap its ends',
  range: 'has a range such as {1..3}; write {1,2,3}',
  many: `stands for more than ${EXPANSIONS_MAX} globs with its braces; shorten it`,
} as const;
