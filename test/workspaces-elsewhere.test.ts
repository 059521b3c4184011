/** Workspaces in a directory of the user's choice: on another disk too, never where others could get at them. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { workflow } from '../src/definition/builder.ts';
import { Bosun } from '../src/doors/library.ts';
import { Home } from '../src/store/home.ts';
import { findGit, makeStateDirectory } from '../src/system/files/state-directory.ts';
import { pointSandbox } from '../src/system/files/sandbox-elsewhere.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

/** Another file system than that of the repository, where there is one. */
const BELOW = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const two = workflow({
  name: 'two',
  tasks: { a: { run: 'echo a > a.txt' }, b: { needs: ['a'], run: 'cat a.txt README.md > b.txt' } },
});

let repository: TestRepository;
let root: string;
let place: string;

beforeEach(async () => {
  root = mkdtempSync(path.join(BELOW, 'bosun-test-place-'));
  place = path.join(root, 'deep', 'workspaces');
  repository = await makeRepository();
  vi.stubEnv('BOSUN_WORKSPACES', place);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await repository[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

const homeOf = (directory: string): Home => new Home(findGit(directory)!);
const run = async (): Promise<{ state: string; notes: string[] }> => {
  const live = await new Bosun(repository.path).run(two);
  return { state: (await live.finished).state, notes: live.notes };
};

it('lie where they are configured, and go back when they no longer are', async () => {
  const home = homeOf(repository.path);
  expect(await run()).toMatchObject({ state: 'done' });
  expect(path.dirname(home.sandbox)).toBe(place);
  expect(existsSync(path.join(home.directory, 'sandbox'))).toBe(false);
  expect(readdirSync(path.join(home.sandbox, 'bases')).length).toBeGreaterThan(0);
  const { patch } = await new Bosun(repository.path).diff();
  expect(patch.toString()).toContain('+hello');

  vi.stubEnv('BOSUN_WORKSPACES', '');
  expect(await run()).toMatchObject({ state: 'done' });
  expect(home.sandbox).toBe(path.join(home.directory, 'sandbox'));
  expect(readdirSync(place)).toEqual([]);
});

it('are not moved while a run may still need one, and a note says so', async () => {
  const home = homeOf(repository.path);
  vi.stubEnv('BOSUN_WORKSPACES', '');
  await run();
  mkdirSync(path.join(home.layers, 'kept'));
  vi.stubEnv('BOSUN_WORKSPACES', place);
  const { state, notes } = await run();
  expect(state).toBe('done');
  expect(notes.join()).toContain(`workspaces stay in ${home.directory}/sandbox for now`);
  rmSync(path.join(home.layers, 'kept'), { recursive: true });
  expect((await run()).notes.join()).not.toContain('workspaces stay');
  expect(path.dirname(home.sandbox)).toBe(place);
});

it('are made again where their disk came back empty', async () => {
  const home = homeOf(repository.path);
  makeStateDirectory(home.directory);
  pointSandbox(home.directory, place, 'repository');
  const before = home.sandbox;
  rmSync(root, { recursive: true });
  makeStateDirectory(home.directory);
  expect(home.sandbox).toBe(before);
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(statSync(before).mode & 0o777).toBe(0o755);
});

it('of a repository are not those of its copy', async () => {
  await run();
  const copy = path.join(path.dirname(repository.path), 'copy');
  cpSync(repository.path, copy, { recursive: true });
  expect(homeOf(copy).sandbox).toBe(path.join(copy, '.git/bosun/sandbox'));
  expect(path.dirname(homeOf(repository.path).sandbox)).toBe(place);
});

it.each<[string, () => string, string]>([
  [
    'others can enter',
    () => opened(path.join(root, 'open'), 0o755),
    'other users can look into it (mode 755)',
  ],
  [
    "is everybody's",
    () => opened(path.join(root, 'tmp'), 0o1777),
    'other users can look into it (mode 1777)',
  ],
  [
    'others could replace',
    () => path.join(opened(path.join(root, 'shared'), 0o777), 'mine'),
    'other users can write to',
  ],
  ['is part of the repository', () => path.join(repository.path, 'build'), 'it is part of the repository'],
  ['leads into the repository', () => linked(path.join(root, 'link')), 'it is part of the repository'],
  ['is a file', () => filed(path.join(root, 'file')), 'EEXIST'],
])('never lie in a directory that %s', async (_, make, message) => {
  vi.stubEnv('BOSUN_WORKSPACES', make());
  await expect(run()).rejects.toThrow(message);
  expect(existsSync(path.join(repository.path, 'build'))).toBe(false);
  vi.stubEnv('BOSUN_WORKSPACES', '');
  expect(homeOf(repository.path).sandbox).toBe(path.join(homeOf(repository.path).directory, 'sandbox'));
});

function opened(directory: string, mode: number): string {
  mkdirSync(directory);
  chmodSync(directory, mode);
  return directory;
}

function linked(file: string): string {
  symlinkSync(path.join(repository.path, '.git'), file);
  return file;
}

function filed(file: string): string {
  writeFileSync(file, '');
  return file;
}
