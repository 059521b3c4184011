/** The names that are git's and bosun's own, however somebody spells them. It opens nothing. */
/** Letters that macOS leaves out of names. */
const UNSEEN = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** `.git`, and what git takes for it on other file systems. */
export function isDotGit(name: string): boolean {
  return /^(\.git|git~1)[ .]*(:.*)?$/is.test(name.replace(UNSEEN, ''));
}

/** A name as the most lenient file system compares it: without case, unseen letters, dots or blanks at its end, or a stream. */
export function comparedName(name: string): string {
  const [plain] = name
    .normalize('NFKD')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toUpperCase() // also of letters that have no case of their own, such as ſ
    .toLowerCase()
    .split(':', 1) as [string];
  let end = plain.length;
  while (plain[end - 1] === '.' || plain[end - 1] === ' ') end -= 1;
  return plain.slice(0, end);
}

/** The short names that Windows may give to `.gitmodules`: git takes a file or link of such a name for one. */
const SHORT_GITMODULES = /^(?:gitmod~[1-4]|(?=.{8}$)(?:g(?:i(?:7(?:e(?:ba?)?)?)?)?)?~[1-9]\d*)$/;

/** `.gitmodules`, and what git takes for it on other file systems. */
export function isGitmodules(name: string): boolean {
  const compared = comparedName(name);
  return compared === '.gitmodules' || SHORT_GITMODULES.test(compared);
}

/** What a path leads into, by any of its names and in any spelling that some file system takes for the same. */
export function ownerOf(file: string): 'git' | 'bosun' | undefined {
  const names = file.split(/[/\\]/);
  if (names.some((name) => isDotGit(name) || comparedName(name) === '.git')) return 'git';
  return names.some((name) => comparedName(name) === '.bosun') ? 'bosun' : undefined;
}
