/** An engine that is killed between what a hook says and the journal, or right after: it is asked again, and nothing else changes. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Event, EventOf } from '../../src/contract/event.ts';
import { killEverywhere } from '../fixtures/kill-everywhere.ts';
import type { TestRepository } from '../fixtures/repository.ts';

async function check(repository: TestRepository, events: readonly Event[], at: string): Promise<void> {
  const of = (task: string): EventOf<'attempt.finished'>[] =>
    events.filter((event) => event.type === 'attempt.finished').filter((event) => event.task === task);
  const ended = of('vetoed').map(({ outcome }) =>
    outcome.kind === 'failed' ? outcome.reason : outcome.kind,
  );
  expect(ended.at(-1), at).toBe('vetoed');
  expect(
    ended.slice(0, -1).every((kind) => kind === 'lost'),
    `${at}: tried again after a veto`,
  ).toBe(true);
  const workspaces = events.filter((event) => event.type === 'attempt.workspace');
  expect(
    workspaces.filter(({ task }) => task === 'vetoed'),
    `${at}: it started`,
  ).toEqual([]);
  expect(of('told').at(-1)?.outcome, at).toEqual({ kind: 'done' });
  const told = await repository.git('--git-dir=.git/bosun/git', 'show', 'bosun/hooks-1:told.txt');
  expect(told, at).toBe('Work.\n\nMind the gap.30');
  const kept = path.join(repository.path, '.git', 'bosun');
  for (const file of readdirSync(kept).filter((name) => name.startsWith('journal.db')))
    expect(readFileSync(path.join(kept, file)).includes('0'.repeat(29)), `${at}: ${file}`).toBe(false);
}

it(
  'starts nothing that was vetoed and loses nothing that was added, wherever the engine is killed',
  { timeout: 300_000 },
  async () => {
    expect(await killEverywhere('hooks', check)).toBeGreaterThan(4);
  },
);
