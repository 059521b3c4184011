/** Letters that macOS leaves out of names. */
export const UNSEEN = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** `.git`, and what git takes for it on other file systems. */
export function isDotGit(name: string): boolean {
  return /^(\.git|git~1)[ .]*(:.*)?$/is.test(name.replace(UNSEEN, ''));
}
