/** Finds the model that somebody meant who mistyped its name. It knows those that have a public price. */
import { suggest } from '../../base/suggest.ts';
import { PRICE_LIST } from './price-list.ts';
import { plainName } from './prices.ts';

/** Its name, or one that has the word; undefined where nothing is near, or the word is right, such as `sonnet`. */
export function nearModel(model: string): string | undefined {
  const name = plainName(model);
  const names = [...PRICE_LIST.keys()];
  const whole = suggest(name, names);
  if (whole !== undefined) return whole === name ? undefined : whole;
  const words = new Set(names.flatMap((each) => each.split('-')).filter((word) => /^[a-z]{4,}$/.test(word)));
  if (words.has(name)) return undefined;
  const word = suggest(name, words);
  return word === undefined ? undefined : names.findLast((each) => each.split('-').includes(word));
}
