/**
 * Makes what comes back harmless and short: agents and repositories wrote much of it, a client may print it to a
 * terminal, and a model pays for every word. It knows no tool.
 */
import { cutAndCount } from '../../base/cut-text.ts';
import { spellControls } from '../../report/text/plain.ts';

const TEXT_CHARS_MAX = 4000;
const LIST_MAX = 200;
/** More than a time in milliseconds has. */
const SHOWN_DIGITS = 14;

/** Line feeds and tabs stay; whatever else a terminal would act on is written out. */
export function plainText(text: string): string {
  return text.replace(/[^\n\t]+/g, spellControls);
}

/** A value in which every text is plain and cut; lists lose their end. What is known to be long is cut by its tool. */
export function bounded<T>(value: T, charsMax = TEXT_CHARS_MAX): T {
  return boundedValue(value, charsMax) as T;
}

function boundedValue(value: unknown, charsMax: number): unknown {
  if (typeof value === 'string') return cutAndCount(plainText(value), charsMax);
  // a sum of dollars, without the dust of its additions
  if (typeof value === 'number') return Number(value.toPrecision(SHOWN_DIGITS));
  if (Array.isArray(value)) return value.slice(0, LIST_MAX).map((each) => boundedValue(each, charsMax));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(fields.map(([name, each]) => [plainText(name), boundedValue(each, charsMax)]));
}

/** The end of a text, from the beginning of a line where there is one. */
export function endOf(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const end = text.slice(-charsMax).toWellFormed();
  return end.slice(end.indexOf('\n') + 1);
}
