/** How much JSON there is in a text, told before anything parses it. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { keysIn, parseJson, shapeOf } from '../src/base/parse-json.ts';
import type { Json } from '../src/contract/workflow.ts';

it('counts as many keys in a text as its values have, whatever is in its strings', () => {
  const nasty = fc.string({
    unit: fc.constantFrom('"', '\\', ':', ',', '{', '[', 'a', 'é', '\n'),
    maxLength: 300,
  });
  const value = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      nasty,
      fc.integer(),
      fc.array(tie('json'), { maxLength: 5 }),
      fc.dictionary(nasty, tie('json'), { maxKeys: 5 }),
    ),
  })).json;
  fc.assert(
    fc.property(value, (json) => {
      const text = JSON.stringify(json);
      expect(shapeOf(text)).toEqual({ isTooMuch: false, keys: keysIn(JSON.parse(text) as Json) });
    }),
  );
});

it.each([
  ['quotes', '"'.repeat(500)],
  ['slashes', '\\'.repeat(501)],
  ['JSON', JSON.stringify(Array.from({ length: 100 }, () => ({ '{"a":[': '\\"' })))],
])('finds the end of a string that is full of %s', (_, text) => {
  const said = JSON.stringify({ [text]: text, last: [{ key: text }] });
  expect(shapeOf(said)).toEqual({ isTooMuch: false, keys: 3 });
  expect(shapeOf(said.slice(0, said.indexOf(',"last"') - 1))).toEqual({ isTooMuch: false, keys: 1 });
});

it('sees what nests too deep behind a string that is full of quotes', () => {
  const deep = `{"a":${JSON.stringify('"'.repeat(200))},"b":${'['.repeat(300)}${']'.repeat(300)}}`;
  expect(shapeOf(deep).isTooMuch).toBe(true);
  expect(parseJson(deep)).toBeUndefined();
});
