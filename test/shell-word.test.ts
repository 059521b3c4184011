import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { shellQuoted, shellWord } from '../src/base/shell-word.ts';

it('a shell reads every word back as it was', () => {
  const words = fc.array(fc.string({ unit: 'grapheme' }).map((word) => word.replaceAll('\0', '')));
  fc.assert(
    fc.property(words, (all) => {
      const line = [...all.map(shellQuoted), ...all.map(shellWord)].join(' ');
      const read = execFileSync('/bin/sh', ['-c', `printf '%s\\0' x ${line}`], { encoding: 'utf8' });
      expect(read.split('\0').slice(1, -1)).toEqual([...all, ...all]);
    }),
    { numRuns: 50, examples: [[['', "'", "it's $HOME `x` \\ \n", '-n', '*', '~', 'a/b.c']]] },
  );
});

it('a word is quoted for people only where it must be', () => {
  expect(['src/a.ts', 'a b', ''].map(shellWord)).toEqual(['src/a.ts', "'a b'", "''"]);
});
