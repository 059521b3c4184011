/**
 * Where an attempt works: paths that are others each time. On a cassette names stand for them, and a replay puts its
 * own paths in. Texts only; where they come from is not its business.
 */
import { editsOfWord, type TextEdit } from './edits.ts';

export interface CassettePlace {
  /** The run's id: its name and a number. */
  run: string;
  /**
   * Absolute paths as the agent sees them, by what they are: `workspace`, `memory`, `files`, `repository`; where it
   * goes on with a session of an earlier attempt, also that one's, as `workspace@1`.
   */
  paths: Record<string, string>;
}

/** Where an attempt works; undefined where nobody knows any more. */
export type PlaceOf = (run: string, task: string, attempt: number) => CassettePlace | undefined;

/** Agents make names of files of their own from paths: all but letters and digits becomes a dash. */
const FORMS: [suffix: string, (path: string) => string][] = [
  ['', (path) => path],
  ['-name', (path) => path.replace(/[^A-Za-z0-9]/g, '-')],
];

/** The longest first: one path may lie within another. */
function namesOf({ paths }: CassettePlace): [name: string, value: string][] {
  const all = Object.entries(paths).flatMap(([what, path]) =>
    FORMS.map(([suffix, form]): [string, string] => [`{{bosun:${what}${suffix}}}`, form(path)]),
  );
  return all.filter(([, value]) => value.length > 1).toSorted((a, b) => b[1].length - a[1].length);
}

/** It is another path then. */
const GOES_ON = /^[\w-]|^\.\w/;

/** What of a text is to be a name. */
export function pathsIn(text: string, place: CassettePlace | undefined): TextEdit[] {
  if (place === undefined) return [];
  return namesOf(place).flatMap(([name, value]) => editsOfWord(text, value, name, GOES_ON));
}

/** Inside JSON the path is escaped as JSON has it. */
export function putPathsBack(text: string, place: CassettePlace | undefined, isJson: boolean): string {
  if (place === undefined || !text.includes('{{bosun:')) return text;
  let put = text;
  for (const [name, value] of namesOf(place))
    put = put.replaceAll(name, () => (isJson ? JSON.stringify(value).slice(1, -1) : value));
  return put;
}
