/**
 * Decides which untracked paths git would ignore, directory by directory on the way down. Agents write such rules too:
 * what they are asked costs no more than the rules are long times the path, and there is an end to both.
 */
import { matchesNames } from '../base/globs.ts';
import { parseIgnoreLine, type IgnoreRule } from './ignore-pattern.ts';

/** Of a file, and of all that hold in one directory: what is beyond is not read. */
export const RULES_BYTES_MAX = 128 * 1024;
/** Characters compared for one path: some 50 ms. Who writes rules that need more gets files that are not ignored. */
const STEPS_MAX = 1_000_000;

/** The rules that hold inside one directory: its own, then those of the directories above, then the user's. */
export interface Rules {
  /** The directories above must have been asked about before: what is below an ignored one is not asked about. */
  ignores(path: string, isDirectory: boolean): boolean;
  /** The rules inside a directory below, given the text of its .gitignore. */
  within(directory: string, gitignore: string | undefined): Rules;
}

/** `excludes` are the user's own lists, the weightiest first; `gitignore` is the root's. */
export function rootRules(excludes: readonly string[], gitignore: string | undefined): Rules {
  const own = new Level(
    excludes.map((text) => new List('', text)),
    0,
  );
  return own.with('', gitignore);
}

class Level implements Rules {
  readonly #lists: readonly List[];
  /** Of the rules that are not the user's. */
  readonly #bytes: number;

  constructor(lists: readonly List[], bytes: number) {
    this.#lists = lists;
    this.#bytes = bytes;
  }

  ignores(path: string, isDirectory: boolean): boolean {
    const steps = { left: STEPS_MAX };
    for (const list of this.#lists) {
      const found = list.ask(path, isDirectory, steps);
      if (found !== undefined) return found;
    }
    return false;
  }

  within(directory: string, gitignore: string | undefined): Level {
    return this.with(`${directory}/`, gitignore);
  }

  with(prefix: string, gitignore: string | undefined): Level {
    const bytes = this.#bytes + (gitignore?.length ?? 0);
    if (gitignore === undefined || gitignore === '' || bytes > RULES_BYTES_MAX) return this;
    return new Level([new List(prefix, gitignore), ...this.#lists], bytes);
  }
}

interface Steps {
  left: number;
}

/** The last rule that names a path decides. Plain names, of which there may be thousands, are looked up. */
class List {
  readonly #prefix: string;
  readonly #rules: IgnoreRule[] = [];
  /** Places of rules without wildcards, by name or, where they are anchored, by `/` and path; last one wins. */
  readonly #plain = new Map<string, number>();
  readonly #plainOfDirectories = new Map<string, number>();
  readonly #wild: number[] = [];

  constructor(prefix: string, text: string) {
    this.#prefix = prefix;
    for (const line of text.replace(/^\uFEFF/, '').split('\n')) {
      const rule = parseIgnoreLine(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (!rule) continue;
      const at = this.#rules.push(rule) - 1;
      const key = plainKey(rule);
      if (key === undefined) this.#wild.push(at);
      else (rule.isForDirectories ? this.#plainOfDirectories : this.#plain).set(key, at);
    }
  }

  /** Undefined where no rule names it. */
  ask(full: string, isDirectory: boolean, steps: Steps): boolean | undefined {
    const path = full.slice(this.#prefix.length);
    const names = path.split('/');
    let found = -1;
    for (const key of [names.at(-1)!, `/${path}`]) {
      found = Math.max(found, this.#plain.get(key) ?? -1);
      if (isDirectory) found = Math.max(found, this.#plainOfDirectories.get(key) ?? -1);
    }
    const last = names.slice(-1);
    const onStep = (cost: number): boolean => (steps.left -= cost) >= 0;
    for (let n = this.#wild.length - 1; n >= 0 && this.#wild[n]! > found; n -= 1) {
      const rule = this.#rules[this.#wild[n]!]!;
      if (rule.isForDirectories && !isDirectory) continue;
      if (matchesNames(rule.segments, rule.isAnchored ? names : last, onStep)) found = this.#wild[n]!;
      if (steps.left < 0) return undefined;
    }
    return found === -1 ? undefined : !this.#rules[found]!.isException;
  }
}

function plainKey({ segments, isAnchored }: IgnoreRule): string | undefined {
  const names: string[] = [];
  for (const segment of segments) {
    if (typeof segment === 'string' || segment.literal === undefined) return undefined;
    names.push(segment.literal);
  }
  return `${isAnchored ? '/' : ''}${names.join('/')}`;
}
