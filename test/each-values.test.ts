/** Values in checks and artifacts: each attempt has its own, and none of them becomes code. */
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
