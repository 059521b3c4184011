/** Each folder of examples/, copied into a repository of its own and run as its README says. */
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RunReport } from '../../src/contract/report.ts';
import { bosun, eventsIn } from '../fixtures/cli.ts';
import { RealWorld, SLOW_MS } from '../fixtures/real-world.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

async function copied(name: string): Promise<TestRepository> {
  const repository = await makeRepository();
  cpSync(path.resolve('examples', name), repository.path, { recursive: true });
  await repository.git('add', '-A');
  await repository.git('commit', '-qm', 'the example');
  return repository;
}

async function ran(repository: TestRepository): Promise<RunReport> {
  const { code, stdout, stderr } = await bosun(repository.path, 'run', '--json');
  expect(code, stderr + stdout.slice(-2000)).toBe(0);
  expect(await bosun(repository.path, 'merge')).toMatchObject({ code: 0 });
  return JSON.parse((await bosun(repository.path, 'report', '--json')).stdout) as RunReport;
}

const file = (repository: TestRepository, name: string): string =>
  readFileSync(path.join(repository.path, name), 'utf8');

it('there is a test and a page for every example', () => {
  const tests = readFileSync(import.meta.filename, 'utf8');
  const names = globSync('examples/*/').map((directory) => path.basename(directory));
  expect(names).toHaveLength(7);
  expect(names.filter((name) => !tests.includes(`'${name}'`))).toEqual([]);
  expect(names.filter((name) => !existsSync(`examples/${name}/README.md`))).toEqual([]);
});

it(
  'calculator: a check goes back to the agent, three reviews run at once',
  { timeout: SLOW_MS },
  async () => {
    await using repository = await copied('calculator');
    const { tasks } = await ran(repository);
    expect(tasks.find(({ id }) => id === 'implement')?.attempts).toHaveLength(2);
    expect(tasks.filter(({ parent }) => parent === 'review')).toHaveLength(3);
    expect(file(repository, 'src/calculator.js')).toContain('a - b');
  },
);

it('handoff: the reviewer sends the work back to the developer', { timeout: SLOW_MS }, async () => {
  await using repository = await copied('handoff');
  const { tasks } = await ran(repository);
  expect(tasks.map(({ label }) => label)).toContain('slugs[developer 2]');
  expect(file(repository, 'src/slug.js')).toContain('toLowerCase');
});

it('reviews: one verdict of three reviews', { timeout: SLOW_MS }, async () => {
  await using repository = await copied('reviews');
  await ran(repository);
  expect(file(repository, 'REVIEW.md')).toMatch(/^# rejected\n[^]*Security: the password is in the log\n$/);
});

it('race: the better score is merged, the other kept', { timeout: SLOW_MS }, async () => {
  await using repository = await copied('race');
  await ran(repository);
  expect(file(repository, 'src/sort.js')).toContain('middle');
  expect((await bosun(repository.path, 'diff', '--task', 'sort[quick]')).stdout).toContain('for (let i = 0');
});

it('roadmap: a plan is refused, a part of the next one is planned again', { timeout: SLOW_MS }, async () => {
  await using repository = await copied('roadmap');
  const { tasks } = await ran(repository);
  expect(tasks.find(({ id }) => id === 'plan')?.attempts.map(({ outcome }) => outcome)).toEqual([
    'failed',
    'done',
    'done',
  ]);
  expect(file(repository, 'src/page.txt')).toBe('a simple page\n');
});

it('six-agents: who waits for whom, who owns what, who ends last', { timeout: SLOW_MS }, async () => {
  await using repository = await copied('six-agents');
  const { stdout } = await bosun(repository.path, 'run', '--json');
  const events = eventsIn(stdout);
  const at = (match: (event: (typeof events)[number]) => boolean): number => events.findIndex(match);
  const started = (task: string): number =>
    at((event) => event.type === 'attempt.started' && event.task === task);
  const finished = (task: string): number =>
    at((event) => event.type === 'task.finished' && event.task === task);
  expect(events.at(-1)).toMatchObject({ type: 'run.finished', state: 'done' });
  expect(finished('orchestrator')).toBeLessThan(Math.min(started('capture'), started('storage')));
  expect(started('analysis')).toBeLessThan(finished('storage')); // it was only published
  expect(started('analysis')).toBeLessThan(started('surfaces'));
  const answers = events.flatMap((event) => (event.type === 'access.answered' ? [event.answer] : []));
  expect(answers).toEqual(['no', 'yes']);
  expect(finished('finalization')).toBeGreaterThan(Math.max(finished('surfaces'), finished('capture')));
  expect(await bosun(repository.path, 'merge')).toMatchObject({ code: 0 });
  expect(file(repository, 'ValidationChecklist.md')).toMatch(
    /^# Validation checklist \(final\)\n(- \[x\] .*\n){4}$/,
  );
  expect(file(repository, '.github/workflows/ci.yml')).toContain('# builds src-tauri/src/memory');
});

it(
  'feature: a real agent, a check that it fails first, and a scripted model',
  { timeout: 2 * SLOW_MS },
  async () => {
    const directory = path.resolve('examples', 'feature');
    const script = parse(readFileSync(path.join(directory, 'model.yaml'), 'utf8')) as object;
    await using world = await RealWorld.make(script);
    cpSync(directory, world.repository.path, { recursive: true });
    await world.repository.git('add', '-A');
    await world.repository.git('commit', '-qm', 'the example');
    await using started = world.bosun('run', '--json');
    const { code, stdout, stderr } = await started.finished;
    expect(code, stderr + stdout.slice(-2000)).toBe(0);
    expect(await world.merged('src/greet.js', 'feature-1')).toContain('HELLO');
    expect(await world.merged('CHANGELOG.md', 'feature-1')).toContain('shout');
    const attempts = eventsIn(stdout).filter(({ type }) => type === 'attempt.finished');
    expect(attempts).toHaveLength(2);
  },
);
