/** The package as npm packs it, put where `npm install -g` puts it: nothing of a checkout is around it. */
import { execFile } from 'node:child_process';
import { globSync, readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProgram, type Finished } from '../fixtures/cli.ts';
import { AS_USER, giveAll } from '../fixtures/ordinary-user.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const exec = promisify(execFile);
const SYSTEM = '/usr/bin:/bin';
const TYPED = `import { workflow } from 'bosun';
const words: string[] = ['one', 'two'];
export default workflow({ name: 'typed', tasks: Object.fromEntries(words.map((word) => [word, { run: 'echo > ' + word }])) });
`;

let prefix: string;
let bosun: string;

beforeAll(async () => {
  prefix = await mkdtemp(path.join(tmpdir(), 'bosun-prefix-'));
  const installed = path.join(prefix, 'lib/node_modules/bosun');
  await Promise.all([mkdir(installed, { recursive: true }), mkdir(path.join(prefix, 'bin'))]);
  await exec('npm', ['pack', '--silent', '--pack-destination', prefix]);
  const [tarball] = globSync('bosun-*.tgz', { cwd: prefix });
  await exec('tar', ['-xzf', path.join(prefix, tarball!), '-C', installed, '--strip-components=1']);
  // What npm would fetch; and no script of the package was run.
  await symlink(path.resolve('node_modules'), path.join(installed, 'node_modules'));
  bosun = path.join(prefix, 'bin/bosun');
  await symlink('../lib/node_modules/bosun/bin/bosun', bosun);
  await chmod(prefix, 0o755);
}, 120_000);

afterAll(() => rm(prefix, { recursive: true, force: true }));

test('it starts from a link, with an empty environment', async () => {
  const { stdout } = await exec(bosun, ['--version'], { env: {} });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.runIf(process.getuid?.() === 0)(
  'compiled code is cached only where nobody else could have put it',
  async () => {
    const [own, others] = [path.join(prefix, 'own'), path.join(prefix, 'others')];
    for (const directory of [own, others]) await mkdir(directory);
    await giveAll(others);
    for (const XDG_CACHE_HOME of [own, others])
      await startProgram([bosun, 'history'], prefix, { PATH: SYSTEM, XDG_CACHE_HOME }).finished;
    expect(readdirSync(own)).toEqual(['bosun']);
    expect(readdirSync(others)).toEqual([]);
  },
);

test('a workflow in TypeScript finds bosun in a repository that has no packages', async () => {
  await using repository = await makeRepository();
  const run = (...args: string[]): Promise<Finished> =>
    startProgram([bosun, ...args], repository.path, userOf(prefix)).finished;
  await initAndRun(repository, run);
  const doctor = await run('doctor', '--json');
  const native = (JSON.parse(doctor.stdout) as { name: string }[]).find(({ name }) => name === 'native');
  expect(native).toMatchObject({
    found: expect.stringContaining('npm skipped the install script') as string,
    advice: `run: sh ${prefix}/lib/node_modules/bosun/scripts/build-native.sh`,
  });
});

test.runIf(process.getuid?.() === 0)('it does so for an ordinary user, too', async () => {
  await using repository = await makeRepository();
  const home = path.join(path.dirname(repository.path), 'home');
  await mkdir(home);
  await giveAll(path.dirname(repository.path));
  await initAndRun(
    repository,
    (...args) => startProgram([...AS_USER, bosun, ...args], repository.path, userOf(home)).finished,
  );
});

test('with an older Node alone, it says what it needs and where that comes from', async () => {
  const bare = path.join(prefix, 'bare');
  await mkdir(path.join(bare, 'bin'), { recursive: true });
  await exec('cp', [path.join(prefix, 'lib/node_modules/bosun/bin/bosun'), path.join(bare, 'bin')]);
  await writeFile(path.join(bare, 'node'), '#!/bin/sh\necho 20\n', { mode: 0o755 });
  const failed = await startProgram([path.join(bare, 'bin/bosun'), 'status'], '/', {
    PATH: `${bare}:${SYSTEM}`,
  }).finished;
  expect(failed).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^bosun: .*bare\/node is Node 20\. bosun needs Node 24 .*--include=optional/s,
    ) as string,
  });
});

/** Who has nothing but a home and an address, which is that of the repository's commits, and trusts nothing yet. */
function userOf(home: string): Record<string, string> {
  return {
    PATH: SYSTEM,
    HOME: home,
    GIT_AUTHOR_EMAIL: 'tester@example.com',
    XDG_STATE_HOME: path.join(home, 'state'),
    BOSUN_TRUST: '0',
  };
}

async function initAndRun(
  repository: TestRepository,
  run: (...args: string[]) => Promise<Finished>,
): Promise<void> {
  const init = await run('init');
  expect(init.code, init.stderr).toBe(0);
  const check = await run('check');
  expect(check.code, check.stderr).toBe(0);
  await writeFile(path.join(repository.path, 'typed.ts'), TYPED);
  const untrusted = await run('run', 'typed.ts');
  expect(untrusted.code, 'a module is agreed to by itself').toBe(2);
  expect((await run('trust', 'typed.ts')).code).toBe(0);
  const typed = await run('run', 'typed.ts');
  expect(typed.code, typed.stderr).toBe(0);
  const status = await run('status', '--json');
  expect(JSON.parse(status.stdout)).toMatchObject({ run: { name: 'typed', state: 'done' } });
}
