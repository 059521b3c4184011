/** A change that an agent asks a person for, longer than a question shows: all of it can be read before the answer. */
import { expect, it } from 'vitest';
import { bosun } from '../fixtures/cli.ts';
import { makeRepository } from '../fixtures/repository.ts';
import { openTerminal } from '../fixtures/terminal.ts';

const LINES = Array.from({ length: 300 }, (_, n) => `+line ${n + 1} of what is wanted`);
const CHANGE = `diff --git a/docs/d.md b/docs/d.md\n--- a/docs/d.md\n+++ b/docs/d.md\n@@ -1 +1,301 @@\n d\n${LINES.join('\n')}\n`;

it('is shown by a key of the live view, and by bosun diff', { timeout: 120_000 }, async () => {
  const asks = 'bosun agent request-access docs/d.md --patch "$PWD/change.diff"';
  const workflow = `name: asks\ntasks: { asker: { scope: { write: [src/**], grant: owner }, run: '${asks}' } }\n`;
  await using repository = await makeRepository({
    files: { 'docs/d.md': 'd\n', 'src/a.ts': 'a\n', 'change.diff': CHANGE, 'bosun.yaml': workflow },
  });
  await using terminal = await openTerminal(['run'], { cwd: repository.path });
  await terminal.shows('d shows all of the diff');
  const { stdout } = await bosun(repository.path, 'status');
  expect(stdout).toContain('| … (more; all of it: bosun diff asks-1 --task asker --wanted)');
  const shown = await bosun(repository.path, 'diff', 'asks-1', '--task', 'asker', '--wanted');
  expect(shown).toEqual({ code: 0, stdout: CHANGE, stderr: '' });
  const stat = await bosun(repository.path, 'diff', '--task', 'asker', '--wanted', '--stat');
  expect(stat.stdout).toBe('  docs/d.md  +300 -0\n1 file, +300 -0\n');
  await terminal.press('d');
  await terminal.shows(/asker {2}wanted[^]*\+line 1 of what is wanted/);
  for (let n = 0; n < 40; n++) await terminal.press('NPage');
  await terminal.shows('+line 300 of what is wanted');
  await terminal.press('d');
  await terminal.shows('asker  log');
  await terminal.press('Escape');
  await terminal.shows('d shows all of the diff');
  await terminal.press('n');
  await terminal.shows(/exit \d/);
  const none = await bosun(repository.path, 'diff', '--wanted');
  expect(none.stderr).toContain('--wanted belongs to a task: name it with --task');
});
