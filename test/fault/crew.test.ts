/**
 * An engine whose crew does all that one can, and that is killed at every boundary of its journal: nothing that was
 * said, published, asked, handed over, picked or summed up is lost, and nothing of it counts twice.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Event, EventOf } from '../../src/contract/event.ts';
import { killEverywhere } from '../fixtures/kill-everywhere.ts';
import type { TestRepository } from '../fixtures/repository.ts';

/** How many there are depends on what happens at the same time. */
const BOUNDARIES_MIN = 40;

type Of = <T extends Event['type']>(type: T) => EventOf<T>[];

async function check(repository: TestRepository, events: readonly Event[], at: string): Promise<void> {
  const of: Of = (type) => events.filter((event) => event.type === type) as never;
  checkEnds(of, at);
  checkMessages(events, of, at);
  checkPublications(events, of, at);
  checkFamily(events, of, at);
  checkService(events, of, at);
  const asked = existsSync(path.join(repository.path, '.git/asked'));
  const outside = of('child.requested').filter(({ key }) => key !== undefined).length;
  expect(asked ? [1] : [0, 1], `${at}: asked for from outside`).toContain(outside);
  await checkBranch(repository, at);
}

/** Whatever is decided once in the life of a run. */
function checkEnds(of: Of, at: string): void {
  unique(
    of('task.finished').map(({ task }) => task),
    `${at}: ended twice`,
  );
  unique(
    of('task.merged').map(({ task, attempt }) => `${task}@${attempt}`),
    `${at}: merged twice`,
  );
  expect(
    of('task.handed').map(({ agent }) => agent),
    at,
  ).toEqual(['developer', 'reviewer', 'developer', 'reviewer']);
  expect(
    of('task.picked').map(({ candidate }) => candidate),
    at,
  ).toEqual(['race.2']);
  const rounds = of('task.round').map(({ why }) => why);
  expect(rounds.indexOf('final'), `${at}: the final round`).toBe(rounds.length - 1);
  expect(
    of('task.again').filter(({ why }) => why === 'replan'),
    at,
  ).toHaveLength(1);
  const summaries = of('task.finished').filter(({ task }) => task.includes('/summary-'));
  expect(
    summaries.map(({ outcome }) => outcome.kind),
    at,
  ).toEqual(['done']);
  for (const { task, prompt } of of('attempt.started'))
    if (task === 'build') expect(prompt, at).toMatch(/^It is long\.\n\(This is a summary by the agent brief/);
  const requests = of('access.requested').map(({ id }) => id);
  expect(
    of('access.answered')
      .map(({ id }) => id)
      .toSorted(),
    at,
  ).toEqual(requests.toSorted());
  const questions = of('question.asked').map(({ id }) => id);
  unique(questions, `${at}: asked twice under one name`);
  unique(
    of('attempt.answered').map(({ id }) => id),
    `${at}: answered twice`,
  );
  const given = of('attempt.answered').filter(({ by }) => by.startsWith('program'));
  expect(given.at(-1), at).toMatchObject({ task: 'build', answer: 'yes' });
}

/** As the journal has it, and as the reader printed it. */
function checkMessages(events: readonly Event[], of: Of, at: string): void {
  const decided = [...of('message.delivered'), ...of('message.refused')].map(({ id }) => id);
  unique(
    of('message.sent').map(({ id }) => id),
    `${at}: sent twice`,
  );
  unique(decided, `${at}: decided twice`);
  expect(decided.toSorted(), `${at}: one was lost`).toEqual(
    of('message.sent')
      .map(({ id }) => id)
      .toSorted(),
  );
  const acknowledged = new Set<string>();
  const readBy = new Map<string, number[]>();
  for (const { ids, attempt, task, acknowledged: before = [] } of of('message.read')) {
    for (const id of ids) {
      expect(acknowledged.has(`${task} ${id}`), `${at}: ${id} after it was acknowledged`).toBe(false);
      expect(readBy.get(`${task} ${id}`) ?? [], `${at}: ${id} twice to one attempt`).not.toContain(attempt);
      readBy.set(`${task} ${id}`, [...(readBy.get(`${task} ${id}`) ?? []), attempt]);
    }
    for (const id of before) acknowledged.add(`${task} ${id}`);
  }
  const last = of('attempt.started').findLast(({ task }) => task === 'use')!.attempt;
  const printed = events
    .filter((event) => event.type === 'attempt.output' && event.task === 'use' && event.attempt === last)
    .map((event) => (event as EventOf<'attempt.output'>).text)
    .join('');
  expect(printed, `${at}: the news of the second version`).toMatch(/started on two|two/);
}

function checkPublications(events: readonly Event[], of: Of, at: string): void {
  const versions = of('publication.made').map(({ version }) => version);
  expect(versions.length, at).toBeGreaterThan(1);
  expect(versions, at).toEqual(versions.map((_, n) => n + 1));
  const news = of('message.sent').filter(({ publication }) => publication);
  unique(
    news.map(({ publication }) => String(publication!.version)),
    `${at}: told twice`,
  );
  const merged = events.filter((event) => event.type === 'task.merged').map(({ task }) => task);
  expect(merged.indexOf('use'), `${at}: merged before its publisher`).toBeGreaterThan(
    merged.indexOf('build'),
  );
}

function checkFamily(events: readonly Event[], of: Of, at: string): void {
  const answered = [...of('child.added'), ...of('child.refused')].map(({ id }) => id);
  unique(
    of('child.requested').map(({ id }) => id),
    `${at}: asked for twice`,
  );
  unique(answered, `${at}: answered twice`);
  expect(answered.toSorted(), at).toEqual(
    of('child.requested')
      .map(({ id }) => id)
      .toSorted(),
  );
  const over = new Set<string>();
  for (const event of events) {
    if (event.type === 'child.cancelling') over.add(event.task);
    if (event.type === 'attempt.started')
      expect(over.has(event.task), `${at}: ${event.task} started`).toBe(false);
    if (event.type === 'task.finished') over.add(event.task);
  }
}

function checkService(events: readonly Event[], of: Of, at: string): void {
  let serving: number | undefined;
  let attempt = 0;
  for (const event of events) {
    if (event.type === 'attempt.started' && event.task === 'site')
      [attempt, serving] = [event.attempt, undefined];
    if (event.type !== 'service.announced') continue;
    expect([serving, event.attempt], `${at}: announced twice, or by one that has ended`).toEqual([
      undefined,
      attempt,
    ]);
    serving = event.attempt;
  }
  const served = of('service.announced').map((event) => `of ${event.attempt}`);
  const visited = of('attempt.output').findLast(
    ({ task, text }) => task === 'visit' && text?.startsWith('of '),
  );
  expect(served, `${at}: who answered`).toContain(visited?.text);
}

/** What the branch has in the end, wherever the engine was killed. */
async function checkBranch(repository: TestRepository, at: string): Promise<void> {
  const git = (...args: string[]): Promise<string> => repository.git('--git-dir=.git/bosun/git', ...args);
  const show = async (file: string): Promise<string> => (await git('show', `bosun/crew-1:${file}`)).trim();
  const contents = {
    'spec.txt': 'two',
    'shipped.txt': 'yes',
    'one.txt': 'one',
    'two.txt': 'two',
    'code.txt': 'line\nline',
    'raced.txt': 'a\nb',
    'part.txt': 'part',
  };
  for (const [file, text] of Object.entries(contents)) expect(await show(file), `${at}: ${file}`).toBe(text);
  expect(await show('seen.txt'), at).toMatch(/^(one|two)$/);
  expect(['hello', 'hello\nwanted'], at).toContain(await show('README.md'));
  expect((await show('list.txt')).split('\n'), at).toContain('all.txt');
}

function unique(all: readonly string[], why: string): void {
  expect(all.toSorted(), why).toEqual([...new Set(all)].toSorted());
}

it(
  'loses nothing and counts nothing twice of all that a crew does, wherever the engine is killed',
  { timeout: 1_800_000 },
  async () => {
    expect(await killEverywhere('crew', check)).toBeGreaterThan(BOUNDARIES_MIN);
  },
);
