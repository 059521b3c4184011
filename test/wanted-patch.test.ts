/** The diff with which an agent asks an owner for a change: only text, only in the files that are asked for. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readWantedPatch } from '../src/collect/wanted-patch.ts';
import { applyInside } from '../src/system/git/apply-inside.ts';

const HUNK = '@@ -1 +1 @@\n-a\n+b\n';
const of = (file: string): string => `--- a/${file}\n+++ b/${file}\n${HUNK}`;
const full = (file: string): string =>
  `diff --git a/${file} b/${file}\nindex 7898192..6178079 100644\n${of(file)}`;

describe('a diff that is asked for', () => {
  const good: [what: string, patch: string, globs: string[], files: string[]][] = [
    ['as git makes it', full('src/a.ts'), ['src/**'], ['modified src/a.ts']],
    ['as diff -u makes it, with dates', of('src/a.ts').replaceAll('a.ts\n', 'a.ts\t2026-01-01 10:00:00 +0000\n'), ['src/a.ts'], ['modified src/a.ts']],
    ['with a new file', 'diff --git a/n b/n\nnew file mode 100644\nindex 0000000..6178079\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+b\n', ['n'], ['added n']],
    ['with a file that goes', 'diff --git a/o b/o\ndeleted file mode 100644\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n', ['o'], ['deleted o']],
    ['with a file that moves', 'diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n', ['o', 'n'], ['deleted o', 'added n']],
    ['without a line end at its end', `${of('a').trimEnd()}\n\\ No newline at end of file\n`, ['a'], ['modified a']],
    ['with lines that look like headers', '--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n--- a/.git/config\n+++ b/.git/config\n context\n', ['a'], ['modified a']],
    ['of several files, with empty lines between', `${full('a')}\n${full('b')}`, ['a', 'b'], ['modified a', 'modified b']],
  ]; // prettier-ignore
  it.each(good)('is understood %s', (_, patch, globs, files) =>
    expect(readWantedPatch(patch, globs).map(({ path: file, change }) => `${change} ${file}`)).toEqual(files),
  );

  const bad: [what: string, patch: string, why: RegExp][] = [
    ['another file', full('other/x'), /"other\/x", which is not among the files/],
    ['a file that a rename leads to', 'diff --git a/src/a b/other\nsimilarity index 100%\nrename from src/a\nrename to other\n', /"other", which is not/],
    ['a path that goes up', full('src/../../x'), /is no path in the repository/],
    ['an absolute path', full('/etc/passwd'), /is no path/],
    ["git's own files", full('src/.git/config'), /a name that git keeps for itself/],
    ["what is like git's own files", full('src/.GIT/config'), /a name that git keeps for itself/],
    ["bosun's own settings", full('.bosun/config.yaml'), /own settings/],
    ['a link', 'diff --git a/src/l b/src/l\nnew file mode 120000\n--- /dev/null\n+++ b/src/l\n@@ -0,0 +1 @@\n+/etc\n', /a link or a submodule/],
    ['a binary file', 'diff --git a/src/b b/src/b\nindex 1234567..7654321 100644\nGIT binary patch\nliteral 3\n', /a binary file/],
    ['a binary file without its content', 'diff --git a/src/b b/src/b\nBinary files a/src/b and b/src/b differ\n', /a binary file/],
    ['a name in quotes', 'diff --git "a/src/\\303\\244" "b/src/\\303\\244"\n', /quotes/],
    ['a rename of what git reads in quotes', 'diff --git a/src/x.md b/src/n.md\nsimilarity index 100%\nrename from "LICENSE.md"/src/x.md\nrename to src/n.md\n', /quotes/],
    ['a set-user-ID bit', 'diff --git a/src/x b/src/x\nold mode 100644\nnew mode 104755\n', /no part of a unified diff/],
    ['a copy', 'diff --git a/src/x b/src/y\ncopy from src/x\ncopy to src/y\n', /no part of a unified diff/],
    ['what drives a terminal', full('src/a').replace('+b', '+\x1b[2J'), /does not show/],
    ['what turns the direction of a line', full('src/a').replace('+b', '+\u202Eb'), /does not show/],
    ['a NUL character', full('src/a').replace('+b', '+\0'), /does not show/],
    ['nothing', '\n\n', /changes no file/],
    ['other words', 'please change it\n', /line 1 is no part of a unified diff/],
    ['a change that is cut off', '--- a/src/a\n+++ b/src/a\n@@ -1,9 +1,9 @@\n-a\n', /ends in the middle/],
    ['a second file in the first one', `--- a/src/a\n+++ b/src/a\n@@ -1,3 +1,3 @@\n-a\n+b\ndiff --git a/x b/x\n`, /no part of a unified diff/],
    ['10 MB', full('src/a') + 'x'.repeat(10e6), /more than 64 KB/],
    ['too many files', Array.from({ length: 101 }, (_, n) => `diff --git a/src/${n} b/src/${n}\n`).join(''), /more than 100 files/],
  ]; // prettier-ignore
  it.each(bad)('may not hold %s', (_, patch, why) => {
    expect(() => readWantedPatch(patch, ['src/**', '.bosun/**'])).toThrow(why);
  });

  it('never names fewer files than git would change', async () => {
    const place = await mkdtemp(path.join(tmpdir(), 'bosun-wanted-'));
    const lines = [
      'diff --git a/src/a b/src/a', 'diff --git a/x b/x', '--- a/src/a', '+++ b/src/a', '--- a/x', '+++ b/x', '--- /dev/null',
      '+++ /dev/null', '@@ -1 +1 @@', '@@ -0,0 +1 @@', '@@ -1,2 +1 @@', '-a', '+b', ' a', '', 'new file mode 100644',
      'deleted file mode 100644', 'rename from src/a', 'rename to x', 'index 1234567..7654321', '\\ No newline', '-- ',
      'diff --git a/src/a b/x b/src/a b/x', 'old mode 100644', 'new mode 100755', 'similarity index 90%',
    ]; // prettier-ignore
    let read = 0;
    for (const picked of fc.sample(fc.array(fc.nat(lines.length - 1), { minLength: 2, maxLength: 9 }), {
      numRuns: 1200,
      seed: 7,
    })) {
      const patch = `${picked.map((n) => lines[n]).join('\n')}\n`;
      let known: string[];
      try {
        known = readWantedPatch(patch, ['**']).map((file) => file.path);
      } catch {
        continue;
      }
      if (!/^(@@|rename|new file|deleted|new mode)/m.test(patch)) continue;
      read++;
      const file = path.join(place, 'p');
      await writeFile(file, patch);
      const told = await promisify(execFile)('git', ['apply', '--numstat', '-z', file], { cwd: place }).catch(
        () => undefined,
      );
      for (const entry of told?.stdout.split('\0').filter(Boolean) ?? [])
        expect(known, patch).toContain(entry.split('\t').at(-1));
    }
    expect(read).toBeGreaterThan(10);
    await rm(place, { recursive: true });
  });
});

describe('what is applied', () => {
  it('is nothing where git reads more in it than was checked', async () => {
    const place = await mkdtemp(path.join(tmpdir(), 'bosun-apply-'));
    await writeFile(path.join(place, 'a'), 'a\n');
    await writeFile(path.join(place, 'p'), full('a'));
    expect(await applyInside(place, path.join(place, 'p'), ['b'])).toMatch(/it would change a, which/);
    expect(await readFile(path.join(place, 'a'), 'utf8')).toBe('a\n');
    expect(await applyInside(place, path.join(place, 'p'), ['a'])).toBeUndefined();
    expect(await readFile(path.join(place, 'a'), 'utf8')).toBe('b\n');
    await rm(place, { recursive: true });
  });
});
