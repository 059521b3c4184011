import { expect, test } from 'vitest';
import { childScope } from '../src/schedule/workflow/child-scope.ts';

test('a child whose agent says nothing may change what its parent may', () => {
  expect(childScope({}, { write: ['src/**'], hide: ['.env'] })).toEqual({
    scope: { write: ['src/**'], shared: [], network: [], read: [], hide: ['.env'], env: {}, grant: 'ask' },
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
  expect(childScope(own, parent)).toMatchObject({
    scope: { network: ['b.org'], read: ['/opt/data'], grant: 'ask' },
  });
  expect(childScope({ grant: ['**'] }, { write: [], grant: 'never' })).toMatchObject({
    scope: { grant: 'never' },
  });
});

test('a child of one that may never ask may not ask either, and no owner lets it in where its parent asks a person', () => {
  expect(childScope({}, { grant: 'never' })).toMatchObject({ scope: { grant: 'never' } });
  expect(childScope({ grant: 'owner' }, { grant: 'never' })).toMatchObject({ scope: { grant: 'never' } });
  expect(childScope({ grant: 'owner' }, {})).toMatchObject({ scope: { grant: 'ask' } });
  expect(childScope({ grant: 'owner' }, { grant: 'owner' })).toMatchObject({ scope: { grant: 'owner' } });
  expect(childScope({ grant: 'never' }, { grant: 'ask' })).toMatchObject({ scope: { grant: 'never' } });
});

test('a child has the variables that its parent has, which its check may need, and no others', () => {
  const own = { env: { CI: '1', TOKEN: 'secret', MODE: 'other' } };
  const env = { CI: '1', MODE: 'test' };
  expect(childScope(own, { env })).toHaveProperty('scope.env', env);
  expect(childScope(own, {})).toHaveProperty('scope.env', {});
});

test('a child that may change a file by name may not change what would be below it', () => {
  expect(childScope({ write: ['src/a.ts'] }, { write: ['src/*.ts'] })).toMatchObject({
    scope: { write: ['src/*.ts'] },
  });
});
