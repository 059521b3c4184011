/** A stranger's repository through the real command: what is refused, what a person is asked, and what is remembered. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BOSUN, startProgram, type Finished } from '../fixtures/cli.ts';
import { withoutBubblewrap } from '../fixtures/poor-machine.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';
import { openTerminal } from '../fixtures/terminal.ts';

let state: string;
beforeEach(() => {
  state = mkdtempSync(path.join(tmpdir(), 'bosun-state-'));
});
afterEach(() => rmSync(state, { recursive: true }));

const untrusting = (): Record<string, string> => ({ BOSUN_TRUST: '', XDG_STATE_HOME: state });
const bosun = ({ path: at }: TestRepository, ...args: string[]): Promise<Finished> =>
  startProgram([BOSUN, ...args], at, untrusting()).finished;

const asking = (...hosts: string[]): string =>
  `name: planted\ntasks:\n  a: { run: 'true', scope: { network: [${hosts.join(', ')}] } }\n`;
const REFUSED = 'bosun: nothing was started: bosun.yaml asks for more than this repository:\n  - ';

test('a planted workflow is refused in a few lines until it is trusted, and asks again for what is new', async () => {
  await using repository = await makeRepository({
    files: {
      'bosun.yaml': asking('a.test'),
      '.bosun/config.yaml': 'prices: { "*": { input: 0, output: 0 } }\n',
    },
  });
  const refused = await bosun(repository, 'run');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toBe(
    `${REFUSED}reach a.test\n  If you trust it: bosun trust bosun.yaml, or add --trust for this time only\n`,
  );
  const checked = await bosun(repository, 'check');
  expect(checked.stdout).toContain('asks for more than this repository:\n  reach a.test\n');
  expect(checked.stderr).toMatch(/^warning: .*config\.yaml: ignored "prices": a repository's/);
  expect((await bosun(repository, 'run', '--trust')).code).toBe(0);
  expect((await bosun(repository, 'trust')).stderr).toBe('trusted: reach a.test\n');
  expect((await bosun(repository, 'trust')).stderr).toBe(
    'bosun.yaml is already trusted with all that it asks for\n',
  );
  const ran = await bosun(repository, 'run');
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('ignored "prices"');
  await repository.write({ 'bosun.yaml': asking('a.test', 'b.test') });
  expect((await bosun(repository, 'run')).stderr).toContain(`${REFUSED}reach b.test\n`);
  expect((await bosun(repository, 'trust', '--list')).stdout).toBe(
    `${repository.path}/.git\n  reach a.test\n`,
  );
  expect((await bosun(repository, 'trust', '--remove')).stderr).toContain('is no longer trusted');
});

test('code is not run before it is trusted, not even by a check', async () => {
  await using repository = await makeRepository({
    files: {
      'flow.ts': `import { writeFileSync } from 'node:fs';\nwriteFileSync('ran', '');\nexport default ${JSON.stringify({ name: 'x', tasks: { a: { run: 'true' } } })};\n`,
    },
  });
  for (const words of [['check'], ['run']]) {
    const { code, stderr } = await bosun(repository, ...words, 'flow.ts');
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /run flow\.ts as code of bosun itself, with no fence, as it is now \([0-9a-f]{16}\)\n {2}If/,
    );
  }
  expect(existsSync(path.join(repository.path, 'ran'))).toBe(false);
  expect((await bosun(repository, 'trust', 'flow.ts')).code).toBe(0);
  expect((await bosun(repository, 'check', 'flow.ts')).code).toBe(0);
});

test('what runs with no fence is agreed to one by one, also where everything is trusted', async () => {
  const hooked = `name: x\nhooks: [{ on: run-ended, command: touch ran }]\ntasks: { a: { run: 'true' } }\n`;
  const code = `export default ${JSON.stringify({ name: 'x', tasks: { a: { run: 'true' } } })};\n`;
  await using repository = await makeRepository({
    files: {
      'bosun.yaml': hooked,
      'release.yaml': hooked,
      'flow.ts': `import './lib.ts';\n${code}`,
      'lib.ts': '',
    },
  });
  const hasRun = (): boolean => existsSync(path.join(repository.path, 'ran'));
  expect((await bosun(repository, 'trust', '--all')).code).toBe(0);
  expect((await bosun(repository, 'run')).code).toBe(0); // no agent can change a bosun.yaml
  expect(hasRun()).toBe(true);
  rmSync(path.join(repository.path, 'ran'));
  const refused = await bosun(repository, 'run', 'release.yaml');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('run the hook touch ran (run-ended)');
  expect(hasRun()).toBe(false);
  expect((await bosun(repository, 'trust', 'release.yaml')).code).toBe(0);
  expect((await bosun(repository, 'run', 'release.yaml')).code).toBe(0);
  expect(hasRun()).toBe(true);
  // code is what it was, with what it imports
  expect((await bosun(repository, 'check', 'flow.ts')).code).toBe(2);
  expect((await bosun(repository, 'trust', 'flow.ts')).code).toBe(0);
  expect((await bosun(repository, 'check', 'flow.ts')).code).toBe(0);
  await repository.write({ 'lib.ts': 'export const changed = true;\n' });
  expect((await bosun(repository, 'check', 'flow.ts')).code).toBe(2);
});

test('a stranger’s commands do not run where nothing can fence them in', async () => {
  await using repository = await makeRepository({
    files: { 'bosun.yaml': "name: x\ntasks: { a: { run: 'true' } }\n" },
  });
  const poor = (...args: string[]): Promise<Finished> =>
    startProgram(withoutBubblewrap([BOSUN, ...args]), repository.path, untrusting()).finished;
  expect((await poor('run')).stderr).toContain(
    `${REFUSED}run commands with no fences, which this machine cannot make\n  If you trust it: bosun trust`,
  );
  expect((await poor('exec', '--', 'true')).code).toBe(0);
  expect((await poor('trust')).stderr).toContain('trusted: run commands with no fences');
  expect((await poor('run')).code).toBe(0);
});

test('a person in a terminal is asked, once', async () => {
  await using repository = await makeRepository({ files: { 'bosun.yaml': asking('a.test') } });
  const open = () => openTerminal(['run'], { cwd: repository.path, env: untrusting() });
  for (const [keys, shown] of [
    [['n', 'Enter'], 'nothing was started: you do not trust bosun.yaml'],
    [['y', 'Enter'], 'exit 0'],
  ] as const) {
    await using terminal = await open();
    const question = await terminal.shows('Trust it with this, now and from now on? [y/N]');
    expect(question).toContain('bosun.yaml asks for more than this repository:\n  reach a.test\n');
    await terminal.press(...keys);
    await terminal.shows(shown);
  }
});
