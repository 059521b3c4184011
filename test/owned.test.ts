/** What bosun believes must be its own: nobody else's, no link, and closed to the pens of others. */
import {
  linkSync,
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openJournal } from '../src/run/journal.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { inspectRepository } from '../src/system/git/repository.ts';
import { assertOurs, assertRootsAlone, userName, whyNotOurs } from '../src/system/files/owned.ts';
import { makeStateDirectory } from '../src/system/files/state-directory.ts';
import { makeRepository } from './fixtures/repository.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'bosun-owned-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;

test('what is ours alone, or is not there, may be used', () => {
  const file = path.join(directory, 'journal.db');
  expect(whyNotOurs(file)).toBeUndefined();
  writeFileSync(file, '', { mode: 0o600 });
  expect(whyNotOurs(directory)).toBeUndefined();
  expect(whyNotOurs(file)).toBeUndefined();
  expect(() => assertOurs(directory, file)).not.toThrow();
});

test('what belongs to somebody else is refused, and whose it is is said', () => {
  const other = lstatSync(directory).uid + 1;
  expect(whyNotOurs(directory, other)).toBe(
    `the directory ${directory} belongs to ${userName(other - 1)}, and bosun runs as ${userName(other)}; run bosun as ${userName(other - 1)}, or move it away`,
  );
});

test.runIf(isRoot)('root believes nothing that belongs to another user', () => {
  const file = path.join(directory, 'journal.db');
  writeFileSync(file, '', { mode: 0o600 });
  chownSync(file, 4321, 4321);
  expect(() => assertOurs(directory, file)).toThrow(/belongs to user 4321, and bosun runs as root/);
});

test('a link is refused, wherever it leads', () => {
  mkdirSync(path.join(directory, 'real'));
  const link = path.join(directory, 'link');
  symlinkSync('real', link);
  expect(whyNotOurs(link)).toMatch(/link is not a plain file or directory/);
  rmSync(link);
  symlinkSync('nowhere', link);
  expect(whyNotOurs(link)).toMatch(/link is not a plain file or directory/);
});

test('a file with a second name is refused with the remedy', () => {
  const file = path.join(directory, 'journal.db');
  writeFileSync(file, '');
  linkSync(file, path.join(directory, 'other'));
  expect(whyNotOurs(file)).toBe(
    `the file ${file} has 2 names (hard links), so whoever has another one can change it, as in an archive that was unpacked; if you trust what it holds, give it to bosun alone: cp -p '${file}' '${file}.own' && mv '${file}.own' '${file}'`,
  );
});

test.each([0o720, 0o702])('what others can write (mode %o) is refused with the remedy', (mode) => {
  chmodSync(directory, mode);
  expect(whyNotOurs(directory)).toBe(
    `other users can change the directory ${directory} (mode ${mode.toString(8)}); if you trust what it holds, run: chmod go-w '${directory}'`,
  );
});

test('a file that others could write is ours where they cannot get to it', () => {
  const file = path.join(directory, 'journal.db');
  writeFileSync(file, '');
  chmodSync(file, 0o664);
  expect(whyNotOurs(file)).toBeUndefined();
  chmodSync(directory, 0o755);
  expect(whyNotOurs(file)).toMatch(/^other users can change the file /);
});

test.runIf(isRoot)('root works in no directory that somebody else can put another in the place of', () => {
  const inner = path.join(directory, 'team', 'repository');
  mkdirSync(inner, { recursive: true });
  chmodSync(directory, 0o1777);
  expect(() => assertRootsAlone(inner)).not.toThrow();
  const team = path.dirname(inner);
  chmodSync(team, 0o777);
  expect(() => assertRootsAlone(inner)).toThrow(
    `bosun runs as root and does not work in ${inner}: other users can write to ${team} (mode 777); run bosun as an ordinary user, or, where nobody else uses this machine, take it over: chmod go-w '${team}'`,
  );
  chmodSync(team, 0o755);
  chownSync(team, 4321, 4321);
  expect(() => assertRootsAlone(inner)).toThrow(
    `${team} belongs to user 4321; run bosun as user 4321, or, where nobody else uses this machine, take it over: chown -R root: '${team}'`,
  );
});

test.runIf(isRoot)(
  'a journal of another user is neither opened nor migrated, and nothing is run in his repository',
  async () => {
    await using repository = await makeRepository();
    const state = path.join(repository.path, '.git', 'bosun');
    makeStateDirectory(state);
    const journal = path.join(state, 'journal.db');
    await openSqliteStore(journal)[Symbol.asyncDispose]();
    await (await openJournal(repository.path))[Symbol.asyncDispose]();
    chownSync(journal, 4321, 4321);
    const before = readFileSync(journal);
    await expect(openJournal(repository.path)).rejects.toThrow(
      `the file ${journal} belongs to user 4321, and bosun runs as root`,
    );
    chownSync(state, 4321, 4321);
    await expect(openJournal(repository.path)).rejects.toThrow(`the directory ${state} belongs to user 4321`);
    expect(readFileSync(journal).equals(before)).toBe(true);
    expect(readdirSync(state).toSorted()).toEqual(['journal.db', 'sandbox']);
    expect((await inspectRepository(repository.path)).top).toBe(repository.path);
    chownSync(repository.path, 4321, 4321);
    await expect(inspectRepository(repository.path)).rejects.toThrow(
      `bosun runs as root and does not work in ${repository.path}: ${repository.path} belongs to user 4321`,
    );
  },
);
