import { expect, test } from 'vitest';
import { patchOf } from './fixtures/report.ts';

test('a patch is counted whatever its pieces, and only its beginning is kept', () => {
  const head = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n';
  const small = Buffer.from(`${head}@@ -1,2 +1,3 @@\n one\n-two\n+diff --git a/y b/y\n++++\n\\ No newline\n`);
  const counts = { files: 1, linesAdded: 2, linesRemoved: 1 };
  expect(patchOf([...small].map((byte) => Buffer.from([byte])))).toMatchObject({ ...counts, lines: 9 });
  expect(patchOf([small]).text).toBe(small.toString());
  const large = Buffer.from(`${head}@@ -0,0 +1,600000 @@\n${'+x\n'.repeat(600_000)}`);
  const patch = patchOf([large]);
  expect(patch).toMatchObject({ files: 1, linesAdded: 600_000, linesRemoved: 0, lines: 600_004 });
  expect(patch.text.length).toBeLessThanOrEqual(1024 * 1024);
  expect(patch.text.endsWith('+x\n')).toBe(true);
});

test('of a line that is too long the beginning is kept, and how long it is', () => {
  const { text, lines } = patchOf([Buffer.from(`@@ -0,0 +1,2 @@\n+${'y'.repeat(5_000_000)}\n+z\n`)]);
  expect(lines).toBe(3);
  expect(text).toMatch(/\n\+y{1959}… \(4998041 more characters\)\n$/);
});
