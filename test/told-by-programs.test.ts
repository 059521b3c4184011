/** What programs hand in, and what they do when they are told something, harms no engine and leaves nothing open. */
import { readdirSync, readlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { workflow } from '../src/definition/builder.ts';
import { Bosun } from '../src/doors/library.ts';
import { perform } from '../src/operations/perform.ts';
import { createRun } from '../src/run/create-run.ts';
import { openEngine } from '../src/run/open-engine.ts';
import { driveAttempts } from './fixtures/drive-attempts.ts';
import { makeRepository } from './fixtures/repository.ts';

it('a task that is not there can be neither paused nor spoken to, and the run goes on', async () => {
  const refused: string[] = [];
  const events = await driveAttempts(
    { tasks: { work: { run: 'true' } } },
    { work: async () => {} },
    (event, drive) => {
      if (event.type !== 'attempt.started') return;
      for (const word of [
        () => drive.pause('nobody', 'me'),
        () => drive.unpause('nobody', 'me'),
        () => drive.steer('nobody', 'x', 'me'),
      ])
        try {
          word();
        } catch (error) {
          refused.push((error as Error).message);
        }
    },
  );
  expect(refused).toEqual(Array.from({ length: 3 }, () => 'run w-1 has no task "nobody"'));
  expect(events.at(-1)).toMatchObject({ type: 'run.finished', state: 'done' });
});

it('what a program says to its live run is held to the table of operations', async () => {
  await using repository = await makeRepository();
  await using bosun = new Bosun(repository.path, { name: 'test' });
  const live = await bosun.run(workflow({ name: 'w', tasks: { work: { run: 'sleep 60' } } }));
  for (const [word, why] of [
    [() => live.steer('work', 'x'.repeat(10_000_000)), /^steer: text /],
    [() => live.pause(7 as never), /^pause: name /],
    [() => live.unpause({} as never), /^unpause: name /],
    [() => live.answer('work', 'x'.repeat(100_000)), /^answer: answer /],
    [() => live.cancel('soon' as never), /^cancel: the mode must be graceful or now/],
  ] as const)
    expect(word).toThrow(why);
  live.cancel('now');
  expect((await live.finished).state).toBe('cancelled');
});

it('the journal is closed where whoever is told of its events throws', async () => {
  await using repository = await makeRepository();
  const engine = await openEngine(repository.path);
  const checked = workflow({ name: 'w', tasks: { work: { run: 'true' } } });
  const base = await repository.git('rev-parse', 'HEAD');
  const run = { workflow: checked, source: 'test', inputs: {}, base, dirty: false };
  const { id, claim } = await createRun(engine.store, run, 1);
  claim[Symbol.dispose]();
  await engine[Symbol.asyncDispose]();
  expect(openFiles(repository.path)).toEqual([]);
  const around = { cwd: repository.path, by: { kind: 'program', name: 'test' } } as const;
  const seen = (): never => {
    throw new Error('no more');
  };
  for (let n = 0; n < 3; n++)
    await expect(perform('logs', { run: id }, { ...around, seen })).rejects.toThrow('no more');
  expect(openFiles(repository.path)).toEqual([]);
});

/** Of this process, below a directory. */
function openFiles(directory: string): string[] {
  return readdirSync('/proc/self/fd')
    .flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)];
      } catch {
        return []; // it was that of this very look
      }
    })
    .filter((file) => file.startsWith(directory))
    .toSorted();
}
