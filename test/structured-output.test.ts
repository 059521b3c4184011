import { expect, test } from 'vitest';
import { outputProblem } from '../src/runtime/structured-output.ts';

test('outputs that come at once are all checked, one right after the other', async () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  const outputs = [{ a: 1 }, { a: 2 }, {}, { a: 3 }];
  const found = await Promise.all(outputs.map((output) => outputProblem(schema, output)));
  expect(found).toEqual([undefined, undefined, expect.stringMatching(/^a: /), undefined]);
});
