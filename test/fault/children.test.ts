/** An engine that is killed while an agent has children: the run ends well, and what needs the agent has the work of all. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { Event } from '../../src/contract/event.ts';
import { Bosun } from '../../src/index.ts';
import { makeRepository } from '../fixtures/repository.ts';
import { testProgram } from '../fixtures/test-program.ts';

const PROGRAM = testProgram('child-crash');
/** Far more than such a run has; reaching it is a failure. */
const POINTS_MAX = 100;
const AT_ONCE = 2;

/** A process of its own, since it is to be killed. */
async function engine(repository: string, dieAt: number): Promise<string> {
  try {
    const args = [PROGRAM, repository, String(dieAt)];
    return (await promisify(execFile)(process.execPath, args)).stdout.trim();
  } catch (error) {
    const { signal, stderr } = error as { signal: string | null; stderr: string };
    if (signal === 'SIGKILL') return 'killed';
    throw new Error(`the engine failed: ${stderr}`, { cause: error });
  }
}

async function crashAt(point: number): Promise<'reached' | 'past the end'> {
  await using repository = await makeRepository({ files: { 'README.md': 'hello\n' } });
  const first = await engine(repository.path, point);
  const at = `killed at point ${point}`;
  const bosun = new Bosun(repository.path);
  if (first === 'killed' && (await bosun.status()).run.state === 'interrupted')
    expect((await (await bosun.resume()).finished).state, at).toBe('done');
  const { run } = await bosun.status();
  expect(run.state, at).toBe('done');
  const events: Event[] = [];
  for await (const page of bosun.events()) events.push(...page.map(({ event }) => event));
  checkFamily(events, at);
  const outside = events.filter((event) => event.type === 'child.requested' && event.key !== undefined);
  const wasAsked = existsSync(path.join(repository.path, '.git/asked'));
  expect(outside, `${at}: asked for from outside`).toHaveLength(wasAsked ? 1 : outside.length);
  expect(outside.length, at).toBeLessThan(2);
  expect(
    (await bosun.agents()).filter(({ task }) => task === undefined),
    `${at}: still waiting`,
  ).toEqual([]);
  const listed = await repository.git('--git-dir=.git/bosun/git', 'show', `bosun/${run.id}:listed.txt`);
  expect(listed.split('\n'), at).toEqual(expect.arrayContaining(['lead.txt', 'one.txt', 'two.txt']));
  return first === 'killed' ? 'reached' : 'past the end';
}

function checkFamily(events: readonly Event[], at: string): void {
  const asked = new Set<string>();
  const answered = new Set<string>();
  const dismissed = new Set<string>();
  const ended = new Set<string>();
  for (const event of events) {
    if (event.type === 'child.requested') {
      expect(asked.has(event.id), `${at}: ${event.id} twice`).toBe(false);
      asked.add(event.id);
    }
    if (event.type === 'child.added' || event.type === 'child.refused') {
      expect(answered.has(event.id), `${at}: ${event.id} answered twice`).toBe(false);
      answered.add(event.id);
    }
    if (event.type === 'child.cancelling') dismissed.add(event.task);
    if (event.type === 'attempt.started')
      expect(dismissed.has(event.task) || ended.has(event.task), `${at}: ${event.task} started`).toBe(false);
    if (event.type === 'task.finished') {
      expect(ended.has(event.task), `${at}: ${event.task} ended twice`).toBe(false);
      ended.add(event.task);
      if (event.task === 'build')
        expect(
          [...asked].every((id) => answered.has(id)),
          at,
        ).toBe(true);
    }
  }
}

it('keeps a family together, wherever the engine is killed', { timeout: 900_000 }, async () => {
  let next = 1;
  let isPast = false;
  let reached = 0;
  const worker = async (): Promise<void> => {
    while (!isPast && next < POINTS_MAX) {
      if ((await crashAt(next++)) === 'past the end') isPast = true;
      else reached++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(isPast).toBe(true);
  expect(reached).toBeGreaterThan(5);
});
