/** What bosun believes must be its own: nobody else's, no link, and closed to the pens of others. */
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { assertOurs, userName, whyNotOurs } from '../src/system/owned.ts';

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

test.each([0o720, 0o702])('what others can write (mode %o) is refused with the remedy', (mode) => {
  chmodSync(directory, mode);
  expect(whyNotOurs(directory)).toBe(
    `other users can change the directory ${directory} (mode ${mode.toString(8)}); if you trust what it holds, run: chmod go-w '${directory}'`,
  );
});
