import { expect, it } from 'vitest';
import { formatCount } from '../../src/base/format-count.ts';

it.each([
  [0, '0'],
  [999, '999'],
  [9950, '9,950'],
  [-1234567, '-1,234,567'],
  [1234.5, '1,234.5'],
  [1234.5678, '1,234.5678'],
  [0.12345, '0.12345'],
])('a count of %s reads %s: commas stand before the point, never behind it', (count, shown) => {
  expect(formatCount(count)).toBe(shown);
});
