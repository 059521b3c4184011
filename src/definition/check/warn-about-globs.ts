/** Says which globs of scopes match nothing in a commit: most likely a slip, though new files may be meant. Pure. */
import path from 'node:path';
import { normalizeGlob, parseGlob } from '../../base/glob-syntax.ts';
import { compileGlobs, fixedNames } from '../../base/globs.ts';
import { didYouMean, suggest } from '../../base/suggest.ts';
import type { Scope, Workflow } from '../../contract/workflow.ts';
import { isTemplate } from '../../schedule/workflow/glob-template.ts';
import { describe } from '../source/problem.ts';
import { scopesOf } from './scopes-of.ts';

const COMPARISONS_MAX = 2_000_000;
const WARNINGS_MAX = 20;

export interface Listed {
  path: string;
  isLink: boolean;
}

/** Whether a path that the commit does not have is there nevertheless, such as an ignored file. */
type IsThere = (path: string) => boolean;

export function hasGlobs(workflow: Workflow): boolean {
  const own = scopesOf(workflow).some(({ scope }) => globsOf(scope).length > 0);
  return own || Object.values(workflow.nested ?? {}).some(hasGlobs);
}

export function warnAboutGlobs(workflow: Workflow, files: readonly Listed[], isThere: IsThere): string[] {
  const search = new Search(files, isThere);
  const found = new Map<string, { lead: string; places: string[]; field: keyof Scope; tail: string }>();
  const look = (one: Workflow, within: string): void => {
    for (const { scope, path: place } of scopesOf(one)) {
      for (const [field, glob] of globsOf(scope)) {
        const tail = warnAboutGlob(field, glob, search);
        if (tail === undefined) continue;
        const lead = `${within}"${glob}" in `;
        const key = `${lead} ${field}`;
        if (!found.has(key)) found.set(key, { lead, places: [], field, tail });
        found.get(key)!.places.push(describe([...place, field]));
      }
    }
    for (const [file, nested] of Object.entries(one.nested ?? {})) look(nested, `${within}${file}: `);
  };
  look(workflow, '');
  // What several tasks say is told once.
  const warnings = [...found.values()].map(({ lead, places, field, tail }) => {
    const where = places.length === 1 ? places[0] : `"scope.${field}" of ${places.length} tasks and agents`;
    return `${lead}${where} ${tail}`;
  });
  const left = warnings.length - WARNINGS_MAX;
  return left > 0 ? [...warnings.slice(0, WARNINGS_MAX), `… and ${left} more globs`] : warnings;
}

function globsOf({ write = [], shared = [], hide = [] }: Scope): (readonly [keyof Scope, string])[] {
  const of = (field: keyof Scope, globs: readonly string[]) => globs.map((glob) => [field, glob] as const);
  return [...of('write', write), ...of('shared', shared), ...of('hide', hide)];
}

/** To be put after the glob and its place. */
function warnAboutGlob(field: keyof Scope, glob: string, search: Search): string | undefined {
  if (isTemplate(glob) || !('glob' in normalizeGlob(glob))) return undefined;
  const found = search.first(glob);
  if (found === 'unknown') return undefined;
  if (found) {
    if (field !== 'hide' || !found.isLink) return undefined;
    return `matches ${found.path}, a symbolic link: the link is hidden, what it leads to is not; hide that too`;
  }
  const near = search.near(glob);
  if (field === 'hide') return `matches no file of the last commit, so nothing is hidden${near}`;
  if (near === '' && fixedNames(parseGlob(glob)).join('/') === glob) return undefined; // a new file, by its name
  return `matches no file of the last commit; fine if it means new files${near}`;
}

/** An ending that two names share does not make them alike. */
function nearFile(name: string, beside: ReadonlySet<string>): string {
  const ending = path.extname(name);
  const [same, others] = [new Set<string>(), new Set<string>()];
  for (const each of beside)
    if (ending !== '' && each.endsWith(ending)) same.add(each.slice(0, -ending.length));
    else others.add(each);
  const stem = suggest(ending === '' ? name : name.slice(0, -ending.length), same);
  return stem === undefined ? didYouMean(name, others) : `; did you mean "${stem}${ending}"?`;
}

class Search {
  readonly #files: readonly Listed[];
  readonly #isThere: IsThere;
  #comparisonsLeft = COMPARISONS_MAX;

  constructor(files: readonly Listed[], isThere: IsThere) {
    this.#files = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    this.#isThere = isThere;
  }

  /** A link rather than a file, where there is one; `unknown` where it would take too long. */
  first(glob: string): Listed | 'unknown' | undefined {
    const matches = compileGlobs([glob]);
    const start = fixedNames(parseGlob(glob)).join('/');
    let file: Listed | undefined;
    for (let at = this.#place(start); at < this.#files.length; at++) {
      const one = this.#files[at]!;
      if (!one.path.startsWith(start)) break;
      if (--this.#comparisonsLeft < 0) return file ?? 'unknown';
      if (!matches(one.path)) continue;
      if (one.isLink) return one;
      file ??= one;
    }
    if (file || start === '' || !this.#isThere(start)) return file;
    return { path: start, isLink: false };
  }

  /** `; did you mean …`: the first name of the glob that no path has, and one beside it that resembles it. */
  near(glob: string): string {
    const names = fixedNames(parseGlob(glob));
    let above = '';
    for (const name of names) {
      const beside = this.#namesIn(above);
      if (!beside.has(name)) {
        const near = nearFile(name, beside);
        return above === '' ? near : near.replace('"', () => `"${above}`);
      }
      above = `${above}${name}/`;
    }
    return '';
  }

  #namesIn(directory: string): Set<string> {
    const names = new Set<string>();
    for (let at = this.#place(directory); at < this.#files.length; at++) {
      const { path } = this.#files[at]!;
      if (!path.startsWith(directory) || --this.#comparisonsLeft < 0) break;
      const end = path.indexOf('/', directory.length);
      names.add(path.slice(directory.length, end === -1 ? undefined : end));
    }
    return names;
  }

  /** Where the first path stands that begins like this, or comes after. */
  #place(start: string): number {
    let [low, high] = [0, this.#files.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#files[middle]!.path < start) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
