/** Values in checks and artifacts: each attempt has its own, and none of them becomes code. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { Bosun } from '../src/doors/library.ts';
import type { Event } from '../src/contract/event.ts';
import { workflow } from '../src/definition/builder.ts';
import { makeRepository } from './fixtures/repository.ts';

test('a check and artifacts speak of the item, whatever characters it has', async () => {
  await using repository = await makeRepository();
  const events: Event[] = [];
  const evil = '$(exit 1)`exit 1`; exit 1; "';
  const run = await new Bosun(repository.path).run(
    workflow({
      name: 'x',
      'on-failure': 'continue',
      tasks: {
        a: {
          'for-each': ['one', evil],
          run: 'mkdir -p out/$INDEX && printf %s "${{ each }}" > out/$INDEX/said',
          env: { INDEX: '${{ index }}' },
          check: 'test "$(cat out/$INDEX/said)" = "${{ each }}" && test -n "${{ each }}"',
          artifacts: ['out/${{ index }}/**'],
        },
        b: { 'for-each': ['../..'], run: 'true', artifacts: ['${{ each }}/x'] },
      },
    }),
    { seen: (recorded) => void events.push(...recorded.map(({ event }) => event)) },
  );
  await run.finished;
  const ended = events.filter((event) => event.type === 'attempt.finished');
  expect(ended.map(({ outcome }) => outcome.kind)).toEqual(['done', 'done']);
  expect(ended.flatMap(({ collected }) => collected!.artifacts).sort()).toEqual(['out/0/said', 'out/1/said']);
  expect(JSON.stringify(events.filter((event) => event.type === 'task.finished'))).toContain(
    'in \\"artifacts\\"',
  );
});

test('the commit of an item says which one it is of, in the words of its description', async () => {
  await using repository = await makeRepository();
  const item = { 'for-each': ['docs', '$&'], run: 'echo x > "$INDEX"', env: { INDEX: '${{ index }}' } };
  const run = await new Bosun(repository.path).run(
    workflow({ name: 'x', tasks: { a: { ...item, description: 'Review ${{ each }} of ${{ it' } } }),
  );
  await run.finished;
  const home = path.join(repository.path, '.git/bosun/git');
  const titles = await repository.git(`--git-dir=${home}`, 'log', '--format=%s', '-2', `bosun/${run.id}`);
  expect(titles.trim().split('\n').sort()).toEqual(['Review $& of ${{ it', 'Review docs of ${{ it']);
});
