/** Scopes that speak of the item of a for-each: each item owns its own files, and no value widens what it may do. */
import { describe, expect, it } from 'vitest';
import { Bosun } from '../src/doors/library.ts';
import type { Event } from '../src/contract/event.ts';
import type { Json } from '../src/contract/workflow.ts';
import { workflow } from '../src/definition/builder.ts';
import { warnAbout } from '../src/definition/check/check.ts';
import { ownership } from '../src/definition/check/ownership.ts';
import { itemScope } from '../src/schedule/workflow/item-scope.ts';
import { itemScope as itemScopeOnPage } from '../web/data/item-scope.ts';
import { makeRepository } from './fixtures/repository.ts';

const fill = (glob: string, each: Json): string[] => itemScope({ write: [glob] }, each, 0).write!;
const make = (scope: object, items: Json[] | string, more: object = {}) =>
  workflow({ name: 'x', tasks: { a: { 'for-each': items, run: 'true', scope }, ...more } });

describe('a value in a scope', () => {
  it('names files and directories, whatever characters it has', () => {
    expect(fill('src/${{ each }}/**', 'api')).toEqual(['src/api/**']);
    expect(fill('src/${{ each.name }}.ts', { name: 'a/b' })).toEqual(['src/a/b.ts']);
    expect(fill('${{ index }}.txt', 'x')).toEqual(['0.txt']);
    expect(fill('src/${{ each }}/**', '*')).toEqual(['src/\\*/**']);
    expect(fill('src/${{ each }}/x', '{a,b}')).toEqual(['src/\\{a,b\\}/x']);
    for (const each of ['api', '*', '{a,b}', 'a/b', '!x'])
      expect(
        itemScopeOnPage({ write: ['src/${{ each }}/**'] }, each, 0).write,
        'as the page shows it',
      ).toEqual(fill('src/${{ each }}/**', each));
    expect(itemScopeOnPage({ write: ['src/${{ each }}/**'] }, '../x', 0).write).toEqual([
      'src/${{ each }}/**',
    ]);
  });

  it('never widens the glob, nor leads elsewhere', () => {
    const evil = [
      '',
      '.',
      '..',
      '../..',
      'a/../..',
      '/etc',
      'a/',
      './',
      'a//b',
      'a\n',
      null,
      ['a'],
      { a: 1 },
      true,
    ];
    for (const value of evil) expect(() => fill('src/${{ each }}/**', value)).toThrow('cannot be filled in');
    expect(() => fill('${{ each }}', '.git/config')).toThrow('.git');
    expect(() => fill('${{ each }}/x', '~')).toThrow('absolute');
    expect(() => fill('src/.${{ each }}/x', 'x'.repeat(2000))).toThrow('longer');
    expect(() => fill('src/.${{ each }}', '.')).toThrow('cannot be filled in');
  });
});

describe('a workflow with such scopes', () => {
  it('is refused where items overlap, a value is unfit, or the expression says more than it may', () => {
    const write = ['src/${{ each }}/**'];
    expect(() => make({ write }, ['a', 'b'])).not.toThrow();
    expect(() => make({ write }, ['a', 'a/b'])).toThrow('tasks "a[a]" and "a[a/b]" can run at the same time');
    expect(() => make({ write }, ['a', 'a'])).toThrow('tasks "a.1" and "a.2" can run at the same time');
    expect(() => make({ write, shared: ['src/a/**'] }, ['a', 'a/b'])).not.toThrow();
    expect(() => make({ write }, ['a', '..'])).toThrow('item 2 of task "a": "src/${{ each }}/**"');
    const other = { b: { run: 'true', scope: { write: ['src/b/**'] } } };
    expect(() => make({ write }, ['a', 'b'], other)).toThrow('tasks "a[b]" and "b"');
    expect(() => make({ write: ['{${{ each }},x}'] }, ['a'])).toThrow('write several globs instead');
    expect(() => make({ write: ['[${{ each }}]'] }, ['a'])).toThrow('write several globs instead');
    for (const field of ['network', 'read', 'grant'])
      expect(() => make({ [field]: ['${{ each }}'] }, ['a'])).toThrow('expressions are not filled in here');
    expect(() => make({ write: ['${{ run.id }}'] }, ['a'])).toThrow('"each" and "index" only');
    const single = { name: 'x', tasks: { a: { run: 'true', scope: { write } } } };
    expect(() => workflow(single)).toThrow('expressions are not filled in here');
  });

  it('says what only the run can tell, and lists owners by item', () => {
    const late = make({ write: ['src/${{ each }}/**'] }, "${{ ['a'] }}");
    expect(warnAbout(late).join()).toContain('known only once it runs');
    const known = make({ write: ['src/${{ each }}/**'] }, ['a', 'b']);
    expect(warnAbout(known)).toEqual([]);
    expect(ownership(known).owners.map(({ task, pattern }) => `${task} ${pattern}`)).toEqual([
      'a[a] src/a/**',
      'a[b] src/b/**',
    ]);
  });
});

it('each item changes its own files, and one whose scope is unfit fails before it starts', async () => {
  await using repository = await makeRepository();
  const events: Event[] = [];
  const run = await new Bosun(repository.path).run(
    workflow({
      name: 'x',
      'on-failure': 'continue',
      tasks: {
        list: { run: `echo '["one", "two", "..", "*"]' > $BOSUN_OUTPUT` },
        a: {
          needs: ['list'],
          'for-each': '${{ tasks.list.output }}',
          run: 'for d in one two; do mkdir -p src/$d; echo ${{ index }} > src/$d/${{ index }}.txt; done',
          scope: { write: ['src/${{ each }}/**'] },
        },
      },
    }),
    { seen: (recorded) => void events.push(...recorded.map(({ event }) => event)) },
  );
  await run.finished;
  const changed = events.flatMap((event) =>
    event.type === 'attempt.finished' && event.task !== 'list'
      ? [[event.task, ...event.collected!.changed.map(({ path }) => path)].join(' ')]
      : [],
  );
  expect(changed.sort()).toEqual(['a.1 src/one/0.txt', 'a.2 src/two/1.txt', 'a.4']);
  expect(events.find((event) => event.type === 'task.finished' && event.task === 'a.3')).toMatchObject({
    outcome: { kind: 'failed', reason: 'expression', message: expect.stringContaining('".."') as string },
  });
});
