/** Attacks on what the engine does before, while and after an attempt runs: whole runs, as a person starts them. */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { EventOf } from '../../src/contract/event.ts';
import { removeTree } from '../../src/system/files/remove-tree.ts';
import { bosun, eventsIn } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const SECRET = 'a-secret-that-nobody-may-see';
const run = promisify(execFile);

interface Scene extends AsyncDisposable {
  repository: TestRepository;
  /** Beside the repository, open to everybody: the fence alone is on trial. */
  outside: string;
}

async function makeScene(workflow: string, files: Record<string, string> = {}): Promise<Scene> {
  const repository = await makeRepository({
    files: { 'docs/a.md': 'as it was\n', 'src/a.js': '1\n', ...files },
  });
  const root = path.dirname(repository.path);
  const outside = path.join(root, 'outside');
  await mkdir(outside);
  await Promise.all([chmod(root, 0o755), chmod(outside, 0o777)]);
  await writeFile(path.join(outside, 'secret.txt'), `${SECRET}\n`, { mode: 0o666 });
  await repository.write({
    'bosun.yaml': workflow.replaceAll('OUTSIDE', outside).replaceAll(': TOP', `: ${repository.path}`),
  });
  await repository.git('add', '--all');
  await repository.git('commit', '--quiet', '-m', 'A workflow');
  return { repository, outside, [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose]() };
}

/** How its tasks ended, and all that was written down about them. */
async function runAll({
  repository,
}: Scene): Promise<{ attempts: EventOf<'attempt.finished'>[]; said: string }> {
  const { stdout, stderr } = await bosun(repository.path, 'run', '--json');
  const attempts = eventsIn(stdout).flatMap((event) => (event.type === 'attempt.finished' ? [event] : []));
  return { attempts, said: stdout + stderr };
}

/** The same command with nothing around it, in a plain copy of the repository. */
async function runUnfenced(
  { repository, outside }: Scene,
  command: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const copy = path.join(path.dirname(outside), 'copy');
  await run('cp', ['-a', repository.path, copy]);
  const { PATH } = process.env;
  const { stdout } = await run('/bin/sh', ['-c', command], { cwd: copy, env: { PATH, ...env } });
  return stdout;
}

describe('a directory that may be written and is a link in the repository', () => {
  const WORKFLOW = `
name: link
tasks:
  work: { run: 'echo attacked > data/new.txt', scope: { write: ['data/**'] } }
`;
  test.each([
    ['to a directory outside', (outside: string) => outside],
    ['to another directory of it', () => 'docs'],
  ])('%s is refused and not opened', async (_where, target) => {
    await using scene = await makeScene(WORKFLOW);
    const { repository, outside } = scene;
    await symlink(target(outside), path.join(repository.path, 'data'));
    await repository.git('add', '--all');
    await repository.git('commit', '--quiet', '-m', 'A link');
    await runUnfenced(scene, 'echo attacked > data/new.txt && rm data/new.txt');
    const { attempts } = await runAll(scene);
    expect(attempts.at(-1)?.outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('data, which is a symbolic link') as string,
    });
    expect(await readdir(outside)).toEqual(['secret.txt']);
    expect(attempts.at(-1)?.collected?.changedCount ?? 0).toBe(0);
  });

  test('is refused also where an earlier task made it', async () => {
    await using scene = await makeScene(`
name: link
tasks:
  plant: { run: 'ln -s docs data' }
  work: { needs: [plant], run: 'echo attacked > data/a.md', scope: { write: ['data/**'] } }
`);
    const { attempts } = await runAll(scene);
    expect(attempts.map(({ outcome }) => outcome.kind)).toEqual(['done', 'failed']);
    expect(attempts.at(-1)?.outcome).toMatchObject({
      message: expect.stringContaining('symbolic link') as string,
    });
  });
});

describe('a hidden file', () => {
  /** Every object that git can find, by whatever way, and the files themselves. */
  const SEARCH = `
{ git cat-file --batch-all-objects --batch; git log --all -p; git reflog --all; git stash list -p
  git show HEAD:secrets/key.txt; git show HEAD~1:secrets/key.txt; git show stash@{0}:secrets/key.txt; git fsck --lost-found
  cat secrets/key.txt; cat $(cat .git/objects/info/alternates)/../packed-refs
  for store in $(cat .git/objects/info/alternates) $REPOSITORY/.git/objects $REPOSITORY/.git/bosun/git/objects; do
    GIT_OBJECT_DIRECTORY=$store git cat-file --batch-all-objects --batch
  done
} 2>/dev/null | grep -a -c ${SECRET.replace('a-', 'a[-]')}; true`;

  test('is not found through git, in history, reflog, stash or borrowed objects', async () => {
    const workflow = (hide: string): string => `
name: hide
agents: { dev: { runtime: cli, command: ['/bin/sh', search.sh], scope: { hide: [${hide}], env: { REPOSITORY: TOP } } } }
tasks: { work: { agent: dev, prompt: 'Find it.' } }
`;
    await using scene = await makeScene('name: x', {
      'search.sh': SEARCH,
      'secrets/key.txt': `older ${SECRET}\n`,
    });
    const { repository } = scene;
    await repository.write({ 'secrets/key.txt': `stashed ${SECRET}\n` });
    await repository.git('stash');
    await repository.write({
      'secrets/key.txt': `newer ${SECRET}\n`,
      'bosun.yaml': workflow("'secrets/**'").replace('TOP', repository.path),
    });
    await repository.git('commit', '--all', '--quiet', '-m', 'A newer one');
    expect(Number(await runUnfenced(scene, SEARCH, { REPOSITORY: repository.path }))).toBeGreaterThan(3);
    const { attempts, said } = await runAll(scene);
    expect(attempts.at(-1)).toMatchObject({ outcome: { kind: 'done' }, output: '0' });
    expect(said).not.toContain(SECRET);
    await repository.write({ 'bosun.yaml': workflow('').replace('TOP', repository.path) });
    await repository.git('commit', '--all', '--quiet', '-m', 'In the open');
    expect(
      Number((await runAll(scene)).attempts.at(-1)?.output),
      'the search itself must work',
    ).toBeGreaterThan(3);
  });
});

describe('the output file', () => {
  const COMMANDS = {
    'a link to a secret': 'ln -s OUTSIDE/secret.txt "$BOSUN_OUTPUT"',
    'a hard link to a secret': 'ln OUTSIDE/secret.txt "$BOSUN_OUTPUT" || mkdir "$BOSUN_OUTPUT"',
    'a link to the journal': 'ln -s ../../journal.db "$BOSUN_OUTPUT"',
    'a pipe that nobody writes to': 'mkfifo "$BOSUN_OUTPUT"',
    'a device': 'ln -s /dev/zero "$BOSUN_OUTPUT"',
    'a directory of links': 'mkdir "$BOSUN_OUTPUT" && ln -s OUTSIDE "$BOSUN_OUTPUT/link"',
    'a huge file': 'truncate -s 8T "$BOSUN_OUTPUT"',
  };

  test('is refused where it is no plain small file, and nothing of it is kept', async () => {
    await using scene = await makeScene(manyTasks(Object.values(COMMANDS)));
    const { attempts, said } = await runAll(scene);
    for (const [index, what] of Object.keys(COMMANDS).entries())
      expect(endOf(attempts, index)?.outcome, what).toMatchObject({ kind: 'failed', reason: 'output' });
    expect(said).not.toContain(SECRET);
    expect(await readFile(path.join(scene.outside, 'secret.txt'), 'utf8')).toBe(`${SECRET}\n`);
    expect(await readdir(path.join(scene.repository.path, '.git/bosun/sandbox/attempts'))).toEqual([]);
  });

  test('beside which everything became a link is written by the engine to nowhere else', async () => {
    await using scene = await makeScene(`
name: output
agents:
  dev:
    runtime: cli
    command: |
      cd "$(dirname "$BOSUN_OUTPUT")" || exit 1
      rm -f prompt; ln -s OUTSIDE/secret.txt prompt; ln -s OUTSIDE/secret.txt check
      cd - && ! rm -rf "$(dirname "$BOSUN_OUTPUT")" && exit 0
tasks: { work: { agent: dev, prompt: attacked, attempts: 2, check: 'false' } }
`);
    const { attempts } = await runAll(scene);
    expect(attempts.length).toBe(2);
    expect(await readFile(path.join(scene.outside, 'secret.txt'), 'utf8')).toBe(`${SECRET}\n`);
  });

  test('that an artifact links to stays where it is', async () => {
    await using scene = await makeScene(`
name: artifacts
tasks: { work: { run: 'mkdir out && ln -s OUTSIDE/secret.txt out/a.txt && ln -s OUTSIDE out/b', artifacts: ['out/**'] } }
`);
    await runAll(scene);
    const found = await run('grep', ['-rl', SECRET, path.join(scene.repository.path, '.git/bosun')]).catch(
      () => undefined,
    );
    expect(found?.stdout).toBeUndefined();
  });
});

describe('the environment of a scope', () => {
  /** Makes every program that is loaded with it write a file, whichever program that is. */
  const TELL = { LD_DEBUG: 'files', LD_DEBUG_OUTPUT: 'OUTSIDE/loaded' };

  test('reaches nothing that runs outside of the fence', async () => {
    const env = {
      ...TELL,
      LD_PRELOAD: './evil.so',
      PERL5OPT: '-Mevil',
      BASH_ENV: './evil.sh',
      ENV: './evil.sh',
    };
    const names = ['bwrap', 'sh', 'git', 'perl', 'socat', 'prlimit', 'setpriv', 'unshare', 'mount', 'node'];
    const evil = '#!/bin/sh\necho attacked >> OUTSIDE/proof\n';
    await using scene = await makeScene(`
name: env
agents:
  dev:
    runtime: cli
    command: ['/bin/sh', '-c', 'cat; echo ran > src/ran.txt']
    scope: { write: ['src/**'], network: [example.com], env: ${JSON.stringify({ ...env, PATH: './bin:.:/usr/bin:/bin' })} }
tasks: { work: { agent: dev, prompt: Work., check: 'test -e src/ran.txt' } }
`);
    const { repository, outside } = scene;
    await repository.write({ 'evil.sh': evil.replaceAll('OUTSIDE', outside) });
    for (const name of names) {
      await repository.write({ [`bin/${name}`]: evil.replaceAll('OUTSIDE', outside) });
      await chmod(path.join(repository.path, 'bin', name), 0o755);
    }
    await repository.git('add', '--all');
    await repository.git('commit', '--quiet', '-m', 'Programs');
    await runUnfenced(scene, 'PATH=./bin:$PATH; git', { ...TELL, LD_DEBUG_OUTPUT: `${outside}/loaded` });
    const before = await readdir(outside);
    expect(before.length, 'it works without a fence').toBeGreaterThan(2);
    await runAll(scene);
    expect(await readdir(outside)).toEqual(before);
    expect(await readFile(path.join(outside, 'proof'), 'utf8')).toBe('attacked\n');
  });
});

describe('a workspace in which everything was planted', () => {
  const PLANT = `
for name in git sh bwrap cat true; do
  for at in . bin src; do
    mkdir -p $at; printf "#!/bin/sh\\necho attacked >> $PLACE/proof\\n" > $at/$name; chmod 755 $at/$name
  done
done
git config core.fsmonitor "$PWD/bin/cat"; git config core.hooksPath bin; git config filter.evil.clean "$PWD/bin/cat"
git config alias.status "!$PWD/bin/cat"; git config core.sshCommand "$PWD/bin/cat"; git config core.pager "$PWD/bin/cat"
echo "* filter=evil diff=evil" > .gitattributes
`;

  test('runs nothing outside, then or when the next attempt goes on in it', async () => {
    const workflow = `
name: plant
tasks:
  plant: { env: { PLACE: OUTSIDE }, run: 'sh plant.sh; echo x >> src/said.txt', attempts: 2, check: 'test $(wc -l < src/said.txt) = 2' }
  after: { needs: [plant], run: 'echo more >> src/a.js' }
`;
    await using scene = await makeScene(workflow, { 'plant.sh': PLANT });
    await runUnfenced(scene, '/bin/sh plant.sh; PATH=bin; git', { PLACE: scene.outside });
    const proof = path.join(scene.outside, 'proof');
    expect(await readFile(proof, 'utf8')).toBe('attacked\n');
    const { attempts } = await runAll(scene);
    expect(attempts.map(({ outcome }) => outcome.kind)).toEqual(['failed', 'done', 'done']);
    expect((await bosun(scene.repository.path, 'merge')).code).toBe(0);
    expect(await readFile(proof, 'utf8')).toBe('attacked\n');
  });

  const COMMANDS = {
    'a link to the user’s': 'rm -rf .git && ln -s "$TOP/.git" .git',
    'a file that names the user’s': 'rm -rf .git && echo "gitdir: $TOP/.git" > .git',
    'a link to itself': 'rm -rf .git && ln -s .git .git',
    nothing: 'rm -rf .git',
    'a pipe': 'rm -rf .git && mkfifo .git',
  };

  test('is collected all the same, whatever became of its .git', async () => {
    const commands = Object.values(COMMANDS).map((command, n) => `${command}; echo x >> src/said-${n}.txt`);
    const check = 'test $(cat src/said-* | wc -l) = 2';
    await using scene = await makeScene(
      manyTasks(commands, `attempts: 2, check: '${check}', env: { TOP: TOP }`),
    );
    const { repository } = scene;
    const before = await repository.git('for-each-ref');
    const configFile = path.join(repository.path, '.git/config');
    const config = await readFile(configFile, 'utf8');
    const { attempts } = await runAll(scene);
    for (const [index, what] of Object.keys(COMMANDS).entries()) {
      const { outcome, collected, attempt } = endOf(attempts, index)!;
      expect([outcome, attempt], what).toEqual([{ kind: 'done' }, 2]);
      expect(collected?.changed.map((file) => file.path)).toEqual([`src/said-${index}.txt`]);
    }
    expect(await repository.git('for-each-ref')).toBe(before);
    expect(await readFile(configFile, 'utf8')).toBe(config);
    expect(await repository.git('status', '--porcelain')).toBe('');
  });
});

/** Each on its own; how they ended is found by their number. */
function manyTasks(commands: string[], more = ''): string {
  const tasks = commands.map((run, n) => `  t${n}: { run: '${run}', ${more} }`);
  return `name: many\non-failure: continue\ntasks:\n${tasks.join('\n')}\n`;
}

function endOf(
  attempts: EventOf<'attempt.finished'>[],
  index: number,
): EventOf<'attempt.finished'> | undefined {
  return attempts.findLast(({ task }) => task === `t${index}`);
}

/** Nobody: a user that every system has and that owns nothing. */
const UID = 65534;

test.runIf(process.getuid?.() === 0)(
  'all of this, and what links.test.ts has, holds for an ordinary user too',
  { timeout: 180_000 },
  async () => {
    const root = path.resolve(import.meta.dirname, '../..');
    const directory = await mkdtemp(path.join(tmpdir(), 'bosun-user-'));
    await chown(directory, UID, UID);
    const ids = [`--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', '--'];
    const vitest = [path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--configLoader', 'runner'];
    const env = { PATH: process.env.PATH, HOME: directory, TMPDIR: directory };
    try {
      const argv = [
        ...ids,
        process.execPath,
        ...vitest,
        'test/attack/engine.test.ts',
        'test/attack/links.test.ts',
      ];
      const { stdout } = await run('setpriv', argv, { cwd: root, env, maxBuffer: 64 * 1024 * 1024 });
      expect(stdout).toMatch(/Tests .*passed/);
    } finally {
      await removeTree(directory);
    }
  },
);
