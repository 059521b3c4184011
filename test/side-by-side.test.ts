/** Patches of several candidates in one terminal. */
import { expect, test } from 'vitest';
import { sideBySide } from '../src/doors/cli/side-by-side.ts';

const plain = (_: unknown, text: string): string => text;
const patch = (file: string, ...lines: string[]): string =>
  [
    `diff --git a/${file} b/${file}`,
    'index 1..2 100644',
    `--- a/${file}`,
    `+++ b/${file}`,
    ...lines,
    '',
  ].join('\n');
const COLUMNS = [
  { title: 'write[1] (done)', patch: patch('a.txt', '@@ -1 +1 @@', '-old', '+one') },
  {
    title: 'write[2] (done)',
    patch:
      patch('a.txt', '@@ -1 +1,2 @@', '-old', '+two', '+\t2\u001b[2J') +
      patch('b.txt', '@@ -0,0 +1 @@', '+b'),
  },
];

test('patches are shown file by file, with a column for each and nothing that a terminal would act on', () => {
  const lines = sideBySide(COLUMNS, 83, plain)
    .split('\n')
    .map((line) => line.split(' │ ').map((cell) => cell.trim()));
  const line = '─'.repeat(40);
  expect(lines).toEqual([
    ['write[1] (done)', 'write[2] (done)'],
    [line, line],
    ['a.txt'],
    ['@@ -1 +1 @@', '@@ -1 +1,2 @@'],
    ['-old', '-old'],
    ['+one', '+two'],
    ['', '+    2\\x1b[2J'],
    [line, line],
    ['b.txt'],
    ['(unchanged)', '@@ -0,0 +1 @@'],
    ['', '+b'],
    [''],
  ]);
});

test('where there is no room for columns patches stand under each other', () => {
  const lines = sideBySide(COLUMNS, 60, plain).split('\n');
  expect(lines[0]).toBe('── write[1] (done)');
  expect(lines).toContain('── write[2] (done)');
  expect(lines).toContain('+two');
  expect(lines.join('')).not.toContain('\u001b');
});
