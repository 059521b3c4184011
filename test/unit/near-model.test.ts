/** A mistyped model is told from one that only has no public price. */
import { expect, test } from 'vitest';
import { nearModel } from '../../src/gateway/money/near-model.ts';

test('a mistyped name finds the model, a name or word that is right finds nothing', () => {
  expect(nearModel('claude-sonet-4-5')).toBe('claude-sonnet-4-5');
  expect(nearModel('sonet')).toMatch(/^claude-.*sonnet/);
  for (const name of ['sonnet', 'claude-sonnet-4-5', 'my-own-model', 'local/llama-of-ours'])
    expect(nearModel(name), name).toBeUndefined();
});
