/** Whatever an agent does to stay, nothing of it outlives its attempt, nor its engine. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { bosun, type Started } from '../fixtures/cli.ts';
import { processesWith, startFenced, told } from '../fixtures/fenced-run.ts';
import { makeRepository } from '../fixtures/repository.ts';

const GONE_MS = 1000;
const KILLS = 20;
const KILL_WITHIN_MS = 50;

let count = 0;
/** In the environment of every process of the attempt, and on some command lines. */
function newMarker(): string {
  count += 1;
  return `orphan-${process.pid}-${count}-`;
}

/** Starts all that tries to stay; what `then` does is up to the test. */
function clinging(marker: string, then: string, limits = '{}'): string {
  return `tasks:
  cling:
    scope: { env: { MARKER: ${marker} } }
    limits: ${limits}
    run: |
      setsid sh -c 'trap "" TERM HUP INT; while :; do sleep 1000; done' &
      (setsid sh -c 'sleep 1000 & sleep 1001' &) &
      nohup sleep 1002 > /dev/null 2>&1 &
      perl -MPOSIX -e 'fork and exit; setsid; fork and exit; $SIG{$_} = q(IGNORE) for qw(TERM HUP INT); sleep 1003'
      sh -c 'kill -STOP $$; sleep 1004' &
      trap '' TERM HUP INT
      sleep 0.2
      echo up
      ${then}
`;
}

/** On a machine where even we wait for our turn, the dying wait for theirs. */
async function expectGone(...markers: string[]): Promise<void> {
  const alive = (): string[] => [...new Set(markers.flatMap((marker) => processesWith(marker)))];
  const fromMs = performance.now();
  let lateMs = 0;
  while (alive().length > 0 && performance.now() - fromMs < GONE_MS + 20 * lateMs) {
    const askedMs = performance.now();
    await sleep(10);
    lateMs = Math.max(lateMs, performance.now() - askedMs - 15);
  }
  expect(alive()).toEqual([]);
}

describe('what an agent leaves running', () => {
  const cases: [
    name: string,
    then: string,
    limits: string,
    act: (at: string, started: Started) => Promise<unknown>,
  ][] = [
    ['success', 'true', '{}', (_, { finished }) => finished],
    ['a time-out', 'while :; do sleep 1; done', '{ minutes: 0.02 }', (_, { finished }) => finished],
    ['a time-out while it is stopped', 'kill -STOP $$', '{ minutes: 0.02 }', (_, { finished }) => finished],
    [
      'a limit',
      "perl -e 'my $end = time + 10; fork while time < $end'",
      '{ processes: 30 }',
      (_, { finished }) => finished,
    ],
    ['a cancel', 'while :; do sleep 1; done', '{}', (at) => bosun(at, 'cancel')],
    ['a cancel while it is stopped', 'kill -STOP $$', '{}', (at) => bosun(at, 'cancel')],
    [
      'kill -9 of the engine',
      'while :; do sleep 1; done',
      '{}',
      async (_, { child }) => child.kill('SIGKILL'),
    ],
    ['kill -9 while it is stopped', 'kill -STOP $$', '{}', async (_, { child }) => child.kill('SIGKILL')],
  ];
  it.concurrent.each(cases)('is gone a second after %s', async (name, then, limits, act) => {
    await using repository = await makeRepository();
    const marker = newMarker();
    await using started = await startFenced(repository, clinging(marker, then, limits));
    await started.prints('"text":"up');
    if (!/success|limit/.test(name)) expect(processesWith(marker).length).toBeGreaterThan(7);
    await act(repository.path, started);
    await expectGone(marker, repository.path);
    const ended = await started.finished;
    if (name.startsWith('a cancel')) expect(ended.code).toBe(3);
    if (name === 'success') expect(told(ended).ended('cling').outcome).toEqual({ kind: 'done' });
  });
});

describe('an engine that is killed while it makes sandboxes', () => {
  it(`leaves none, at ${KILLS} moments of the first ${KILL_WITHIN_MS} ms`, { timeout: 180_000 }, async () => {
    const lane = async (first: number): Promise<void> => {
      await using repository = await makeRepository();
      for (let n = first; n < KILLS; n += 2) {
        const marker = newMarker();
        const task = (name: string): string => `
  ${name}:
    scope: { env: { MARKER: ${marker} }, network: [example.com] }
    run: setsid sleep 1000; echo ${marker}`;
        await using started = await startFenced(repository, `tasks:${['a', 'b', 'c'].map(task).join('')}\n`);
        await started.prints('"attempt.workspace"');
        await sleep((KILL_WITHIN_MS * n) / KILLS);
        started.child.kill('SIGKILL');
        await started.finished;
        await expectGone(marker, repository.path);
      }
      // nor files: the next engine takes away what attempts had of their own
      await using last = await startFenced(repository, 'tasks:\n  a: { run: "true" }\n');
      expect((await last.finished).code).toBe(0);
      for (const name of ['attempts', 's'])
        expect(await readdir(path.join(repository.path, '.git/bosun/sandbox', name))).toEqual([]);
    };
    await Promise.all([lane(0), lane(1)]);
  });
});
