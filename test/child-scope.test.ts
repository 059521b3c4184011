import { expect, test } from 'vitest';
import { childScope } from '../src/schedule/workflow/child-scope.ts';

test('a child whose agent says nothing may change what its parent may', () => {
  expect(childScope({}, { write: ['src/**'], hide: ['.env'] })).toEqual({
    scope: { write: ['src/**'], network: [], read: [], hide: ['.env'] },
  });
});

test('a child may change less, and never more', () => {
  const parent = { write: ['src/**'], shared: ['CHANGES.md'] };
  expect(childScope({ write: ['src/api/**', 'CHANGES.md'] }, parent)).toMatchObject({
    scope: { write: ['src/api/**', 'CHANGES.md'] },
  });
  for (const write of ['**', 'docs/x', 'src'])
    expect(childScope({ write: [write] }, parent), write).toEqual({
      problem: expect.stringContaining('is more than its parent may change (src/**)') as string,
    });
  expect(childScope({ write: [], shared: ['docs/x'] }, parent)).toHaveProperty('problem');
});

test('a child reaches and reads what both its agent and its parent may, and no list grants more to it', () => {
  const parent = { network: ['a.org', 'b.org'], read: ['/opt/data'] };
  const own = { network: ['b.org', 'c.org'], read: ['/opt/data', '/etc/other'], grant: ['**'] };
  expect(childScope(own, parent)).toEqual({
    scope: { network: ['b.org'], read: ['/opt/data'], grant: 'ask' },
  });
  expect(childScope({ grant: ['**'] }, { write: [], grant: 'never' })).toMatchObject({
    scope: { grant: 'never' },
  });
});
