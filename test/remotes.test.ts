/** Remotes over HTTP: a real git server with a login; clone, fetch, branch, commit, push, status and diff. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { askIn } from './fixtures/ask-operation.ts';
import { BOSUN, startProgram } from './fixtures/cli.ts';
import { startGitServer, type GitServer } from './fixtures/git-server.ts';
import { processesWith } from './fixtures/processes.ts';
import { gitIn, makeRepository, type TestRepository } from './fixtures/repository.ts';

const TOKEN = 'tok-5f2c9a';

let scratch: string;
let tokenFile: string;
let server: GitServer;
let repository: TestRepository;
let bosun: Bosun;
let run: string;

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'bosun-remotes-'));
  tokenFile = path.join(scratch, 'token');
  await writeFile(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
  server = await startGitServer({ token: TOKEN });
  repository = await makeRepository();
  await repository.git('remote', 'add', 'origin', server.url());
  bosun = new Bosun(repository.path);
  const live = await bosun.run(workflow({ name: 'add', tasks: { add: { run: 'echo one > one.txt' } } }));
  expect((await live.finished).state).toBe('done');
  run = live.id;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await repository[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true });
});
beforeEach(() => {
  vi.stubEnv('BOSUN_CHECK_OUTPUT', '1');
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
  vi.stubEnv('XDG_CONFIG_HOME', path.join(scratch, 'config'));
});
afterEach(() => vi.unstubAllEnvs());

const ask = askIn(() => repository.path);

async function cloned(...more: string[]): Promise<TestRepository['git']> {
  const directory = path.join(await mkdtemp(path.join(scratch, 'clone-')), 'here');
  await gitIn(scratch)('clone', '--quiet', ...more, server.at(), directory);
  return gitIn(directory);
}

/** git, with a few lines of shell before it; `$GIT` is the real one. */
async function withGit(lines: string): Promise<void> {
  const directory = await mkdtemp(path.join(scratch, 'bin-'));
  const script = `#!/bin/sh\nGIT=$(PATH=\${PATH#*:} command -v git)\n${lines}\nexec "$GIT" "$@"\n`;
  await writeFile(path.join(directory, 'git'), script, { mode: 0o755 });
  vi.stubEnv('PATH', `${directory}:${process.env.PATH}`);
}

describe('a run', () => {
  test('is pushed as a branch of its own; a second time there is nothing to push', async () => {
    const pushed = await bosun.push(run, { tokenFile });
    expect(pushed).toMatchObject({ run, remote: 'origin', branch: `bosun/${run}`, kind: 'created' });
    expect(await server.git('rev-parse', `bosun/${run}`)).toBe(pushed.commit);
    expect(await server.git('show', `bosun/${run}:one.txt`)).toBe('one');
    expect(await bosun.push(undefined, { tokenFile })).toMatchObject({ kind: 'nothing' });
    // nothing of the user's has changed, and nothing of the token is left
    expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    expect(await readdir(path.join(repository.path, '.git/bosun/tmp'))).toEqual([]);
    expect(await readFile(path.join(repository.path, '.git/config'), 'utf8')).not.toContain('tok-');
  });

  test('is pushed under another name, to a remote by its address', async () => {
    const pushed = await bosun.push(run, { branch: 'feature/one', remote: server.url(), tokenFile });
    expect(pushed).toMatchObject({ remote: server.url(), branch: 'feature/one', kind: 'created' });
  });

  test('never overwrites what somebody else pushed', async () => {
    await bosun.push(run, { branch: 'shared', tokenFile });
    const theirs = await cloned('--branch=shared');
    await theirs('commit', '--allow-empty', '--quiet', '-m', 'theirs');
    await theirs('push', '--quiet', '--force', 'origin', 'HEAD~2:refs/heads/rewound', 'shared');
    const commit = await theirs('rev-parse', 'HEAD');
    await expect(bosun.push(run, { branch: 'shared', tokenFile })).rejects.toMatchObject({
      code: 'rejected',
      message: expect.stringMatching(/somebody pushed there; nothing was overwritten.*--branch/),
    });
    expect(await server.git('rev-parse', 'shared')).toBe(commit);
    // a branch that is behind is brought forward
    expect(await bosun.push(run, { branch: 'rewound', tokenFile })).toMatchObject({ kind: 'updated' });
  });

  test('goes to the address for pushes, where there is one', async () => {
    await using other = await startGitServer();
    await repository.git('config', 'remote.origin.pushurl', other.url());
    expect(await bosun.push(run)).toMatchObject({ kind: 'created' });
    // a repository that came from elsewhere could send a token anywhere
    for (const operation of ['push', 'gitPush'] as const)
      await expect(ask(operation, { tokenFile })).rejects.toMatchObject({
        code: 'usage',
        message: `the remote origin is fetched from ${new URL(server.url()).host}, but this repository sends pushes to ${new URL(other.url()).host}, which would get your token; if that is meant, name the address: --remote ${other.url()}`,
      });
    expect(await bosun.push(run, { remote: other.url(), tokenFile })).toMatchObject({ kind: 'nothing' });
    await expect(ask('fetch', {})).rejects.toMatchObject({ code: 'auth' });
    await repository.git('config', '--unset', 'remote.origin.pushurl');
    expect(await other.git('for-each-ref', '--format=%(refname:short)')).toBe(`bosun/${run}`);
  });

  test('is refused with the words of the server, which cannot steer a terminal', async () => {
    await server.hook('pre-receive', String.raw`printf 'protected \033[2J branch\n' >&2; exit 1`);
    const refused = await ask('push', { run, branch: 'guarded', tokenFile }).catch((error: unknown) => error);
    await rm(path.join(server.at(), 'hooks/pre-receive'));
    expect(refused).toMatchObject({
      code: 'rejected',
      message: expect.stringContaining(
        'refused the branch guarded: pre-receive hook declined (it says: protected  [2J branch)',
      ),
    });
  });

  test('that changed nothing, is still at work, or is not there is not pushed', async () => {
    const asks = workflow({ name: 'asks', tasks: { ship: { approve: 'Ship it?' } } });
    const asked = Promise.withResolvers<void>();
    const live = await bosun.run(asks, {
      seen: (events) => events.some(({ event }) => event.type === 'question.asked') && asked.resolve(),
    });
    await asked.promise;
    await expect(bosun.push(live.id, { tokenFile })).rejects.toMatchObject({ code: 'wrong-state' });
    live.answer('ship', 'yes');
    await live.finished;
    await expect(bosun.push(live.id, { tokenFile })).rejects.toThrow('changed nothing');
    await expect(bosun.push('other', { tokenFile })).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('a login', () => {
  test('that is missing or wrong is told apart, and the token stands in no message', async () => {
    await expect(ask('push', { run })).rejects.toMatchObject({
      code: 'auth',
      message: expect.stringContaining('asks for a login and there is none'),
    });
    const wrong = path.join(scratch, 'wrong');
    await writeFile(wrong, 'wr0ng-token\n', { mode: 0o600 });
    const refused = (await ask('push', { run, tokenFile: wrong }).catch((error: unknown) => error)) as Error;
    expect(refused).toMatchObject({ code: 'auth', message: expect.stringContaining(`file ${wrong}`) });
    expect(`${refused.message}${JSON.stringify(refused)}`).not.toContain('wr0ng-token');
  });

  test('is found in the configuration of the user, and only there', async () => {
    vi.stubEnv('PUSH_TOKEN', TOKEN);
    const config = `remotes: { '${server.host}': { token: { env: PUSH_TOKEN }, user: anna } }\n`;
    await repository.write({ '.bosun/config.yaml': config });
    await expect(ask('push', { run })).rejects.toMatchObject({ code: 'auth' });
    await rm(path.join(repository.path, '.bosun'), { recursive: true });
    const file = path.join(scratch, 'config/bosun/config.yaml');
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, config);
    try {
      expect(await ask('push', { run, branch: 'configured' })).toMatchObject({ kind: 'created' });
      const { login } = server.requests.at(-1)!;
      expect(Buffer.from(login!.slice(6), 'base64').toString()).toBe(`anna:${TOKEN}`);
      await writeFile(file, config.replace('{ env: PUSH_TOKEN }', TOKEN));
      const told = (await ask('push', { run }).catch((error: unknown) => error)) as Error;
      expect(told).toMatchObject({ code: 'invalid-workflow' });
      expect(told.message).toContain('never the key itself');
      expect(told.message).not.toContain(TOKEN);
    } finally {
      await rm(file);
    }
  });

  test('in a file that others may read, or for ssh, is refused', async () => {
    const open = path.join(scratch, 'open');
    await writeFile(open, `${TOKEN}\n`, { mode: 0o644 });
    await expect(ask('push', { run, tokenFile: open })).rejects.toThrow('chmod 600');
    const remote = 'git@example.com:o/r';
    await expect(ask('push', { run, remote, tokenFile })).rejects.toThrow('takes keys and no token');
  });

  test("of the user's own git counts where no token is given, and else never sees it", async () => {
    const asked = path.join(scratch, 'asked');
    const helper = `!f() { echo $1 >> ${asked}; cat >> ${asked}; echo username=u; echo password=${TOKEN}; }; f`;
    const file = path.join(scratch, 'gitconfig');
    await writeFile(file, `[credential]\n\thelper = "${helper}"\n`);
    vi.stubEnv('GIT_CONFIG_GLOBAL', file);
    expect(await ask('push', { run, branch: 'token', tokenFile })).toMatchObject({ kind: 'created' });
    expect(existsSync(asked)).toBe(false);
    expect(await ask('push', { run, branch: 'helped' })).toMatchObject({ kind: 'created' });
    expect(existsSync(asked)).toBe(true);
  });
});

describe('a connection', () => {
  test('that fails before anything was sent is tried again, a bounded number of times', async () => {
    expectTypeOf<NonNullable<Parameters<Bosun['push']>[1]>>().not.toHaveProperty('waitsMs'); // a test's alone
    let refusals = 2;
    await using shaky = await startGitServer({
      instead: (_, response) => refusals-- > 0 && response.writeHead(503).end() !== undefined,
    });
    const remote = shaky.url();
    expect(await ask('push', { run, remote }, { waitsMs: [1, 1] })).toMatchObject({ kind: 'created' });
    refusals = 100;
    await expect(ask('push', { run, remote }, { waitsMs: [1, 1] })).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('overloaded'),
    });
    expect(refusals).toBe(97);
  });

  test('that is refused, or leads to no repository, says so', async () => {
    const remote = 'http://127.0.0.1:1/x.git';
    await expect(ask('push', { run, remote })).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('cannot be reached'),
    });
    const gone = server.url('gone');
    await expect(ask('push', { run, remote: gone, tokenFile })).rejects.toMatchObject({ code: 'not-found' });
    await expect(ask('push', { run, remote: 'upstream' })).rejects.toThrow(
      'no remote upstream; there are: origin',
    );
  });

  test('that hangs ends with the signal, and all that was started with it', async () => {
    const came = Promise.withResolvers<void>();
    await using silent = await startGitServer({ instead: () => (came.resolve(), true) });
    const enough = new AbortController();
    const pushing = ask('push', { run, remote: silent.url() }, { signal: enough.signal });
    await came.promise;
    enough.abort(new Error('enough'));
    await expect(pushing).rejects.toThrow('enough');
    expect(processesWith(silent.host)).toEqual([]);
  });
});

describe('a repository of the user', () => {
  test('is cloned, worked on and pushed, and the other one fetches it', async () => {
    const made = await bosun.gitPush({ tokenFile });
    expect(made).toMatchObject({ remote: 'origin', branch: 'main', kind: 'created' });
    const directory = path.join(scratch, 'cloned');
    const clone = await Bosun.clone(server.url(), directory, { tokenFile, depth: 1 });
    expect(clone).toEqual({ directory, url: server.url(), branch: 'main', head: made.commit });
    const config = await readFile(path.join(directory, '.git/config'), 'utf8');
    expect(config).toContain(`url = ${server.url()}\n`);
    expect(await readdir(directory)).toEqual(['.git', 'README.md']);
    const there = new Bosun(directory);
    expect(await there.branch()).toEqual({ name: 'main', head: made.commit, made: false });
    expect(await there.branch('topic')).toMatchObject({ name: 'topic', made: true });
    await writeFile(path.join(directory, 'new.txt'), 'new\n');
    await writeFile(path.join(directory, 'README.md'), 'changed\n');
    expect(await there.gitStatus()).toMatchObject({
      branch: 'topic',
      files: [
        { path: 'README.md', state: ' M' },
        { path: 'new.txt', state: '??' },
      ],
    });
    const diff = await there.gitDiff();
    expect(diff.files.map(({ path: file }) => file)).toEqual(['README.md', 'new.txt']);
    expect(diff.patch.toString()).toContain('+changed');
    const commit = await there.commit('Change it\n\nAll of it.');
    expect(commit).toMatchObject({ branch: 'topic', files: 2 });
    const git = gitIn(directory);
    expect((await git('log', '-1', '--format=%s|%b', 'topic')).trim()).toBe('Change it|All of it.');
    expect(await git('status', '--porcelain')).toBe('');
    expect(await there.commit('Again')).toBeNull();
    expect(await there.gitPush({ tokenFile })).toMatchObject({ branch: 'topic', kind: 'created' });
    const fetched = await bosun.fetch({ tokenFile, branch: 'topic' });
    expect(fetched).toEqual({ remote: 'origin', branches: [{ name: 'topic', commit: commit!.commit }] });
    expect(await repository.git('show', 'origin/topic:new.txt')).toBe('new');
    expect((await bosun.fetch({ tokenFile })).branches.map(({ name }) => name)).not.toContain('topic');
    expect(await repository.git('fsck', '--connectivity-only')).not.toContain('missing');
  });

  test('knows how far it is from what it fetched', async () => {
    await bosun.gitPush({ tokenFile });
    await repository.commit('more', { 'more.txt': 'more\n' });
    expect((await bosun.gitStatus()).upstream).toEqual({ name: 'origin/main', ahead: 1, behind: 0 });
  });

  test('is not cloned over what is there, and leaves nothing where that fails', async () => {
    const before = server.requests.length;
    await expect(
      ask('clone', { url: server.url(), directory: repository.path, tokenFile }),
    ).rejects.toMatchObject({
      code: 'wrong-state',
    });
    expect(server.requests.length).toBe(before); // it was told before anything was asked
    const into = await mkdtemp(path.join(scratch, 'into-'));
    const url = server.url();
    const around = { cwd: into };
    await expect(ask('clone', { url }, around)).rejects.toMatchObject({ code: 'auth' });
    await expect(ask('clone', { url, branch: 'no-such', tokenFile }, around)).rejects.toMatchObject({
      code: 'not-found',
    });
    await expect(ask('clone', { url: server.url('gone'), tokenFile }, around)).rejects.toMatchObject({
      code: 'not-found',
    });
    expect(await readdir(into)).toEqual([]);
    expect((await ask('clone', { url, tokenFile }, around)).directory).toBe(path.join(into, 'project'));
    expect(await readdir(into)).toEqual(['project']);
  });

  test('that was cloned and cannot get its name is not said to be there already', async () => {
    await bosun.gitPush({ tokenFile });
    const parent = path.join(await mkdtemp(path.join(scratch, 'parent-')), 'parent');
    await withGit(`case "$*" in *'reset --hard'*) "$GIT" "$@"; mv ${parent} ${parent}-moved; exit;; esac`);
    const cloning = ask('clone', { url: server.url(), directory: path.join(parent, 'new'), tokenFile });
    await expect(cloning).rejects.toMatchObject({
      code: 'system',
      message: expect.stringMatching(/cannot get its name .*ENOENT/),
    });
  });

  test('gets no branch or commit that it should not have', async () => {
    for (const name of ['-x', 'a b', 'a..b', 'HEAD', 'a~1', 'x.lock', 'a\u001b'])
      await expect(ask('branch', { name }), name).rejects.toMatchObject({ code: 'usage' });
    await expect(ask('branch', { name: 'main' })).rejects.toMatchObject({ code: 'wrong-state' });
    await expect(ask('commit', { message: '  \n' })).rejects.toMatchObject({ code: 'usage' });
    await expect(ask('gitPush', { branch: 'nowhere' })).rejects.toMatchObject({ code: 'not-found' });
    await expect(ask('push', { run, branch: '--mirror' })).rejects.toMatchObject({ code: 'usage' });
    await writeFile(path.join(repository.path, '.git/index.lock'), '');
    await expect(ask('commit', { message: 'x' })).rejects.toMatchObject({ code: 'busy' });
    expect((await stat(path.join(repository.path, '.git/index.lock'))).size).toBe(0);
    await rm(path.join(repository.path, '.git/index.lock'));
    await writeFile(path.join(repository.path, '.git/MERGE_HEAD'), '');
    await expect(ask('commit', { message: 'x' })).rejects.toThrow('in the middle of something');
    await rm(path.join(repository.path, '.git/MERGE_HEAD'));
  });

  test('loses no lock of another git that begins once its commit is in the index', async () => {
    await using here = await makeRepository();
    await writeFile(path.join(here.path, 'new.txt'), 'new\n');
    const lock = path.join(here.path, '.git/index.lock');
    await withGit(`case "$*" in *update-ref*) set -C; echo theirs > '${lock}' || exit 1;; esac`);
    expect(await new Bosun(here.path).commit('Mine')).toMatchObject({ files: 1 });
    expect(await readFile(lock, 'utf8')).toBe('theirs\n');
  });

  test('gets its commit on top of one that is made while it begins', async () => {
    await using here = await makeRepository();
    await writeFile(path.join(here.path, 'new.txt'), 'new\n');
    const once = path.join(scratch, 'once');
    const theirs = `"$GIT" commit --quiet --allow-empty -m Theirs`;
    await withGit(
      `case "$*" in *'HEAD^{commit}') [ -e ${once} ] || { : > ${once}; "$GIT" "$@"; ${theirs}; exit; };; esac`,
    );
    expect(await new Bosun(here.path).commit('Mine')).toMatchObject({ files: 1 });
    expect(await here.git('log', '--format=%s')).toBe('Mine\nTheirs\nStart');
    expect(await here.git('status', '--porcelain')).toBe('');
  });

  test.each([
    ['commit', 'write-tree', '-m', 'Mine'],
    ['diff', 'write-tree'],
    ['status', 'status'],
  ])('is left as it was by a %s that Ctrl-C stops', async (name, verb, ...more) => {
    const held = path.join(scratch, 'held');
    await writeFile(path.join(repository.path, 'mine.txt'), 'mine\n');
    await withGit(`case "$*" in *${verb}*) : > ${held}; while [ -e ${held} ]; do sleep 0.01; done;; esac`);
    const { child, finished } = startProgram([BOSUN, 'git', name, ...more], repository.path);
    while (!existsSync(held)) await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill('SIGINT');
    await finished;
    await rm(held);
    expect(child.signalCode).toBe('SIGINT');
    expect(existsSync(path.join(repository.path, '.git/index.lock'))).toBe(false);
    expect(await readdir(path.join(repository.path, '.git/bosun/tmp'))).toEqual([]);
  });

  test('that is a partial clone is left to git itself to fetch into', async () => {
    const partial = path.join(repository.path, '.git/objects/pack/pack-1.promisor');
    await mkdir(path.dirname(partial), { recursive: true });
    await writeFile(partial, '');
    await expect(ask('fetch', { tokenFile })).rejects.toThrow('git fetch origin');
    await rm(partial);
  });
});
