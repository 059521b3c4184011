/**
 * Decides which untracked paths git would ignore, directory by directory on the way down. Agents write such rules too:
 * there is an end to what one path may cost, and to what all of a walk may. Beyond it is an error, never a guess: a
 * file taken for one that is not ignored would reach a commit.
 */
import { STAR, type Segment } from '../../base/glob-syntax.ts';
import { matchesNames } from '../../base/globs.ts';
import { BosunError } from '../../contract/errors.ts';
import { parseIgnoreLine, type IgnoreRule } from './pattern.ts';

/** Of a file, and of all that hold in one directory: what is beyond is not read. */
export const RULES_BYTES_MAX = 128 * 1024;
/** Comparisons for one path: some 40 ms, in which nothing else has a turn. */
const PATH_STEPS_MAX = 1_000_000;
/** For all paths of a walk: some 4 s. 200,000 files need a tenth of it where the rules are what people write. */
const STEPS_MAX = 100_000_000;
/** To read a rule is work too. */
const STEPS_PER_CHAR = 8;

/** The rules that hold inside one directory: its own, then those of the directories above, then the user's. */
export interface Rules {
  /** The directories above must have been asked about before: what is below an ignored one is not asked about. */
  ignores(path: string, isDirectory: boolean): boolean;
  /** The rules inside a directory below, given the text of its .gitignore. */
  within(directory: string, gitignore: string | undefined): Rules;
}

/** `excludes` are the user's own lists, the weightiest first; `gitignore` is the root's. All rules within share `stepsMax`. */
export function rootRules(
  excludes: readonly string[],
  gitignore: string | undefined,
  stepsMax = STEPS_MAX,
): Rules {
  const lists = excludes.map((text) => new List('', text));
  return new Level(lists, 0, { left: stepsMax }).with('', gitignore);
}

class Level implements Rules {
  readonly #lists: readonly List[];
  /** Of the rules that are not the user's. */
  readonly #bytes: number;
  readonly #steps: Steps;

  constructor(lists: readonly List[], bytes: number, steps: Steps) {
    this.#lists = lists;
    this.#bytes = bytes;
    this.#steps = steps;
  }

  ignores(path: string, isDirectory: boolean): boolean {
    const before = Math.min(PATH_STEPS_MAX, this.#steps.left);
    const steps = { left: before };
    try {
      for (const list of this.#lists) {
        const found = list.ask(path, isDirectory, steps);
        if (steps.left < 0) throw tooCostly(path);
        if (found !== undefined) return found;
      }
      return false;
    } finally {
      this.#steps.left -= before - steps.left;
    }
  }

  within(directory: string, gitignore: string | undefined): Level {
    return this.with(`${directory}/`, gitignore);
  }

  with(prefix: string, gitignore: string | undefined): Level {
    const bytes = this.#bytes + (gitignore?.length ?? 0);
    if (gitignore === undefined || gitignore === '' || bytes > RULES_BYTES_MAX) return this;
    this.#steps.left -= gitignore.length * STEPS_PER_CHAR;
    if (this.#steps.left < 0) throw tooCostly(`${prefix}.gitignore`);
    return new Level([new List(prefix, gitignore), ...this.#lists], bytes, this.#steps);
  }
}

interface Steps {
  left: number;
}

function tooCostly(path: string): BosunError {
  return new BosunError(
    'system',
    `the .gitignore rules of this workspace take too long to apply (at ${path}), so its work was not collected and the workspace stays: write them with fewer wildcards, then try again`,
  );
}

/** A rule with wildcards: where it stands in its list, and how each name that it matches begins and ends. */
interface Wild {
  at: number;
  start: string;
  end: string;
}

/** The last rule that names a path decides. Plain names, of which there may be thousands, are looked up. */
class List {
  readonly #prefix: string;
  readonly #rules: IgnoreRule[] = [];
  /** Places of rules without wildcards, by name or, where they are anchored, by `/` and path; last one wins. */
  readonly #plain = new Map<string, number>();
  readonly #plainOfDirectories = new Map<string, number>();
  readonly #wild: Wild[] = [];

  constructor(prefix: string, text: string) {
    this.#prefix = prefix;
    for (const line of text.replace(/^\uFEFF/, '').split('\n')) {
      const rule = parseIgnoreLine(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (!rule) continue;
      const at = this.#rules.push(rule) - 1;
      const key = plainKey(rule);
      if (key === undefined) this.#wild.push({ at, ...edgesOf(rule.segments.at(-1)!) });
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
    const [name] = last as [string];
    const onStep = (cost: number): boolean => (steps.left -= cost) >= 0;
    onStep(names.length);
    for (let n = this.#wild.length - 1; n >= 0 && this.#wild[n]!.at > found; n -= 1) {
      if (!onStep(1)) return undefined;
      const { at, start, end } = this.#wild[n]!;
      if (!name.startsWith(start) || !name.endsWith(end)) continue;
      const rule = this.#rules[at]!;
      if (rule.isForDirectories && !isDirectory) continue;
      if (matchesNames(rule.segments, rule.isAnchored ? names : last, onStep)) found = at;
    }
    return found === -1 ? undefined : !this.#rules[found]!.isException;
  }
}

/** Tells most names from those that a rule may match, without trying it. */
function edgesOf(last: Segment): { start: string; end: string } {
  if (typeof last === 'string') return { start: '', end: '' };
  if (last.literal !== undefined) return { start: last.literal, end: last.literal };
  const chars = last.tokens.map((token) => {
    if (token === STAR || token.isNegated || token.ranges.length !== 1) return undefined;
    const [[from, to]] = token.ranges as [[number, number]];
    return from === to ? String.fromCharCode(from) : undefined;
  });
  const [first, final] = [chars.indexOf(undefined), chars.lastIndexOf(undefined)];
  return { start: chars.slice(0, first).join(''), end: chars.slice(final + 1).join('') };
}

function plainKey({ segments, isAnchored }: IgnoreRule): string | undefined {
  const names: string[] = [];
  for (const segment of segments) {
    if (typeof segment === 'string' || segment.literal === undefined) return undefined;
    names.push(segment.literal);
  }
  return `${isAnchored ? '/' : ''}${names.join('/')}`;
}
