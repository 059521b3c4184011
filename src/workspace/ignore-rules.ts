/** Decides which untracked paths git would ignore, directory by directory on the way down. */
import ignore, { type Ignore } from 'ignore';

/** The rules that hold inside one directory: its own, then those of the directories above, then the user's. */
export interface Rules {
  ignores(path: string, isDirectory: boolean): boolean;
  /** The rules inside a directory below, given the text of its .gitignore. */
  within(directory: string, gitignore: string | undefined): Rules;
}

/** `excludes` are the user's own lists, the weightiest first; `gitignore` is the root's. */
export function rootRules(excludes: readonly string[], gitignore: string | undefined): Rules {
  const lists = [gitignore, ...excludes].filter((text): text is string => text !== undefined && text !== '');
  return new Level(lists.map((text) => ({ prefix: '', rules: compile(text) })));
}

interface List {
  /** The directory its patterns are relative to, with a slash at the end. */
  prefix: string;
  rules: Ignore;
}

class Level implements Rules {
  readonly #lists: readonly List[];

  constructor(lists: readonly List[]) {
    this.#lists = lists;
  }

  ignores(path: string, isDirectory: boolean): boolean {
    for (const { prefix, rules } of this.#lists) {
      const { ignored, unignored } = rules.test(path.slice(prefix.length) + (isDirectory ? '/' : ''));
      if (ignored || unignored) return ignored;
    }
    return false;
  }

  within(directory: string, gitignore: string | undefined): Rules {
    if (gitignore === undefined || gitignore === '') return this;
    return new Level([{ prefix: `${directory}/`, rules: compile(gitignore) }, ...this.#lists]);
  }
}

function compile(text: string): Ignore {
  return ignore({ ignorecase: false, allowRelativePaths: true }).add(text);
}
