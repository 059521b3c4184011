/** Fences that fail in a way nobody foresaw: nothing runs without them, whatever the workflow says. */
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BOSUN, startProgram, type Finished } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'bosun-odd-'));
  chmodSync(directory, 0o755);
});
afterEach(() => rmSync(directory, { recursive: true }));

/** With a bwrap of this script first on the PATH. */
function withBwrap(script: string, { path: at }: TestRepository, ...args: string[]): Promise<Finished> {
  const file = path.join(directory, 'bwrap');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return startProgram([BOSUN, ...args], at, { PATH: `${directory}:${process.env.PATH}` }).finished;
}

const WORKFLOW = `name: x\nisolation: best-effort\ntasks: { a: { run: 'touch RAN' } }\n`;

test.each([
  ['that crashes', 'kill -SEGV $$'],
  ['that does not know our options', 'echo "bwrap: Unknown option --json-status-fd" >&2; exit 1'],
  ['that fails with words of its own', 'echo "out of cheese" >&2; exit 77'],
  ['that cannot read a file', 'echo "bwrap: Can\'t read /proc/self/ns: Input/output error" >&2; exit 1'],
  ['on a full disk', 'echo "bwrap: Can\'t mkdir /newroot/x: No space left on device" >&2; exit 1'],
  ['that may not read', 'echo "bwrap: Can\'t find source path /etc/x: Permission denied" >&2; exit 1'],
  ['that says nothing and ends well', 'exit 0'],
])('a bwrap %s ends the run before it begins', async (_, script) => {
  await using repository = await makeRepository({ files: { 'bosun.yaml': WORKFLOW } });
  const { code, stderr } = await withBwrap(script, repository, 'run');
  expect(stderr).toContain(
    'bosun: nothing was started: the fences failed in a way that bosun does not know: ',
  );
  expect(code).toBe(1);
});

test('a machine that is known not to allow them goes on, loudly; a person may do without', async () => {
  await using repository = await makeRepository({ files: { 'bosun.yaml': WORKFLOW } });
  const denied = 'echo "bwrap: Creating new namespace failed: Operation not permitted" >&2; exit 1';
  const { code, stderr } = await withBwrap(denied, repository, 'run');
  expect(stderr).toContain('WARNING: NOT FENCED: ');
  expect(code).toBe(0);
  expect((await withBwrap('kill -SEGV $$', repository, 'run', '--unfenced')).code).toBe(0);
});

test('one that breaks after the start fails the attempt, and never passes for a command that ran', async () => {
  await using repository = await makeRepository({
    files: {
      'bosun.yaml': `name: x\non-failure: continue\ntasks:\n  a: { run: 'touch RAN' }\n  b: { run: 'touch RAN', needs: [a] }\n`,
    },
  });
  const real = (process.env.PATH ?? '')
    .split(':')
    .map((each) => path.join(each, 'bwrap'))
    .find((file) => existsSync(file))!;
  // The tries at the start are the first two; what comes then ends well without having done anything.
  const script = `n=$(cat ${directory}/count 2>/dev/null || echo 0); echo $((n + 1)) > ${directory}/count; [ $n -lt 1 ] && exec ${real} "$@"; exit 0`;
  writeFileSync(path.join(directory, 'count'), '0');
  chmodSync(path.join(directory, 'count'), 0o666);
  const { code, stdout } = await withBwrap(script, repository, 'run', '--json');
  expect(code).toBe(1);
  expect(stdout).toContain('bwrap ended well, but never said that the command ran');
  expect(stdout).not.toContain('"kind":"done"');
});
