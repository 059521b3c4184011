/** Remotes and repositories that mean harm: a token reaches its own host alone, and nothing that they name runs. */
import { existsSync } from 'node:fs';
import { constants, mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { askIn } from './fixtures/ask-operation.ts';
import { BOSUN, startProgram } from './fixtures/cli.ts';
import { startGitServer } from './fixtures/git-server.ts';
import { processesWith } from './fixtures/processes.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const TOKEN = 'tok-91e7bd04';
const ENCODED = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');

let scratch: string;
let tokenFile: string;
let repository: TestRepository;
let run: string;

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'bosun-remote-attacks-'));
  tokenFile = path.join(scratch, 'token');
  await writeFile(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
  repository = await makeRepository({
    files: { 'README.md': 'hello\n', '.gitattributes': '*.evil filter=evil\n' },
  });
  const live = await new Bosun(repository.path).run(
    workflow({ name: 'add', tasks: { add: { run: 'echo one > one.txt' } } }),
  );
  expect((await live.finished).state).toBe('done');
  run = live.id;
});
afterAll(async () => {
  await repository[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true });
});
beforeEach(() => {
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
  vi.stubEnv('XDG_CONFIG_HOME', path.join(scratch, 'config'));
});
afterEach(() => vi.unstubAllEnvs());

const ask = askIn(() => repository.path);

test.each([
  ['a file', () => ({ file: tokenFile }), /./],
  // what the engine was started with itself others of its processes have too
  ['a variable', () => ({ env: 'PUSH_TOKEN' }), /push|remote-http|askpass|backend/],
])(
  'a token from %s is in no command line, environment, trace, configuration or leftover, at any moment',
  async (_, source, watched) => {
    await using server = await startGitServer({ token: TOKEN });
    const traces = path.join(scratch, 'traces');
    const names = [
      'TRACE',
      'TRACE2',
      'TRACE2_EVENT',
      'TRACE2_PERF',
      'TRACE_CURL',
      'TRACE_PACKET',
      'TRACE_SETUP',
    ];
    for (const name of names) vi.stubEnv(`GIT_${name}`, `${traces}-${name}`);
    vi.stubEnv('GIT_CURL_VERBOSE', '1');
    vi.stubEnv('GIT_TRACE_REDACT', '0');
    if ('env' in source()) vi.stubEnv('PUSH_TOKEN', TOKEN);
    const config = path.join(scratch, 'config/bosun/config.yaml');
    await mkdir(path.dirname(config), { recursive: true });
    await writeFile(config, `remotes: { '${server.host}': { token: ${JSON.stringify(source())} } }\n`);
    await server.hook(
      'pre-receive',
      `: > ${scratch}/held; while [ ! -e ${scratch}/go ]; do sleep 0.01; done`,
    );
    const state = path.join(repository.path, '.git/bosun');
    const ended = new AbortController();
    const pushing = ask('push', { run, remote: server.url() }).finally(() => ended.abort());
    pushing.catch(() => {});
    const seen = new Set<string>();
    const files: string[] = [];
    let rounds = 0;
    while (!ended.signal.aborted) {
      for (const secret of [TOKEN, ENCODED])
        for (const one of processesWith(secret)) if (watched.test(one)) seen.add(one);
      rounds += 1;
      if ((await readdir(scratch)).includes('held') && files.length === 0) {
        for (const name of await readdir(path.join(state, 'tmp'))) {
          const directory = path.join(state, 'tmp', name);
          expect((await stat(directory)).mode & 0o077).toBe(0);
          for (const file of await readdir(directory)) {
            expect((await stat(path.join(directory, file))).mode & 0o077, file).toBe(0);
            files.push(file);
          }
        }
        expect(processesWith(server.host).length).toBeGreaterThan(1); // it is what we look at
        await writeFile(path.join(scratch, 'go'), '');
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const file of [config, path.join(scratch, 'held'), path.join(scratch, 'go')]) await rm(file);
    expect(await pushing).toMatchObject({ kind: 'created' });
    expect([...seen]).toEqual([]);
    expect(rounds).toBeGreaterThan(3);
    expect(files.toSorted()).toEqual(['askpass', 'token']);
    expect((await readdir(scratch)).filter((name) => name.startsWith('traces'))).toEqual([]);
    expect(await readdir(path.join(state, 'tmp'))).toEqual([]);
    expect(await readFile(path.join(repository.path, '.git/config'), 'utf8')).not.toContain(TOKEN);
    expect(server.requests.some(({ login }) => login === `Basic ${ENCODED}`)).toBe(true);
  },
);

test('a push that Ctrl-C stops leaves no token behind, here or at work', async () => {
  await using server = await startGitServer({ token: TOKEN });
  const held = path.join(scratch, 'held');
  await server.hook('pre-receive', `: > ${held}; while [ -e ${held} ]; do sleep 0.01; done; exit 1`);
  const words = ['push', run, '--remote', server.url(), '--token-file', tokenFile];
  const { child, finished } = startProgram([BOSUN, ...words], repository.path, {
    GIT_CONFIG_GLOBAL: '/dev/null',
  });
  while (!existsSync(held)) await new Promise((resolve) => setTimeout(resolve, 10));
  const tmp = path.join(repository.path, '.git/bosun/tmp');
  expect((await readdir(tmp)).length).toBe(1);
  child.kill('SIGINT');
  await finished;
  expect(child.signalCode).toBe('SIGINT');
  expect(await readdir(tmp)).toEqual([]);
  await rm(held);
});

test('a push that is killed outright leaves its token on no disk', async () => {
  await using server = await startGitServer({ token: TOKEN });
  const held = path.join(scratch, 'held');
  await server.hook('pre-receive', `: > ${held}; while [ -e ${held} ]; do sleep 0.01; done; exit 1`);
  const words = ['push', run, '--remote', server.url(), '--token-file', tokenFile];
  const { child, finished } = startProgram([BOSUN, ...words], repository.path, {
    GIT_CONFIG_GLOBAL: '/dev/null',
  });
  while (!existsSync(held)) await new Promise((resolve) => setTimeout(resolve, 10));
  child.kill('SIGKILL');
  await finished;
  await rm(held);
  const tmp = path.join(repository.path, '.git/bosun/tmp');
  const left = await readdir(tmp, { recursive: true });
  expect(left.map((name) => path.basename(name))).toContain('token');
  for (const name of left) {
    const file = path.join(tmp, name);
    if ((await stat(file)).isDirectory()) continue;
    // what is a pipe gives what is in it, without waiting for more
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(4096), 0, 4096, null);
    expect(buffer.toString('utf8', 0, bytesRead), name).not.toContain(TOKEN);
  }
  await rm(tmp, { recursive: true });
});

test.each([
  ['before it has asked for a login', false],
  ['once it has the login', true],
])('a token does not follow a redirect to another host, %s', async (_, isLate) => {
  await using thief = await startGitServer({ token: 'something-else' });
  await using server = await startGitServer({
    token: TOKEN,
    instead(request, response) {
      if (isLate && request.headers.authorization === undefined) return false;
      response.writeHead(302, { location: `http://${thief.host}${request.url}` }).end();
      return true;
    },
  });
  await expect(ask('push', { run, remote: server.url(), tokenFile })).rejects.toMatchObject({ code: 'auth' });
  expect(thief.requests.length).toBeGreaterThan(0);
  expect(thief.requests.map(({ login }) => login).filter(Boolean)).toEqual([]);
});

test('a server that says the token back is not quoted with it', async () => {
  await using server = await startGitServer({ token: TOKEN });
  await server.hook('pre-receive', `echo "you are ${TOKEN}" >&2; exit 1`);
  const refused = (await ask('push', { run, remote: server.url(), tokenFile }).catch(
    (e: unknown) => e,
  )) as Error;
  expect(refused).toMatchObject({ code: 'rejected', message: expect.stringContaining('you are ***') });
  expect(JSON.stringify(refused)).not.toContain(TOKEN);
});

test('a repository gets nothing run by what its configuration names, and leads nowhere but to its address', async () => {
  await using server = await startGitServer();
  await using thief = await startGitServer();
  await using here = await makeRepository({
    files: { 'README.md': 'hello\n', '.gitattributes': '*.md diff=evil\n*.evil filter=evil\n' },
  });
  const ran = path.join(scratch, 'ran');
  const touch = `sh -c ': >> ${ran}' #`;
  const hooks = path.join(here.path, 'hooks');
  await here.git('remote', 'add', 'origin', server.url());
  await writeFile(
    path.join(here.path, '.git/included'),
    `[url "${thief.url()}"]\n\tinsteadOf = ${server.url()}\n`,
  );
  const settings: [string, string][] = [
    ['include.path', 'included'],
    ['core.sshCommand', touch],
    ['core.askPass', '/bin/false'],
    ['core.gitProxy', touch],
    ['core.hooksPath', hooks],
    ['core.fsmonitor', touch],
    ['core.alternateRefsCommand', touch],
    ['credential.helper', `!${touch}`],
    ['diff.evil.command', touch],
    ['diff.evil.textconv', touch],
    ['filter.evil.clean', touch],
    ['gpg.program', touch],
    ['commit.gpgSign', 'true'],
    ['push.gpgSign', 'true'],
    ['http.proxy', `http://${thief.host}`],
    ['http.extraHeader', 'X-Evil: 1'],
    ['protocol.allow', 'always'],
    ['protocol.ext.allow', 'always'],
    ['remote.origin.receivepack', touch],
    ['remote.origin.uploadpack', touch],
    ['remote.origin.vcs', 'ext'],
    ['remote.origin.proxy', `http://${thief.host}`],
    ['remote.origin.mirror', 'true'],
    [`url.${thief.url()}.insteadOf`, server.url()],
    [`url.ext::${touch}.pushInsteadOf`, server.url()],
    ['uploadpack.packObjectsHook', touch],
  ];
  for (const [key, value] of settings) await here.git('config', '--add', key, value);
  await mkdir(hooks);
  for (const hook of [
    'pre-push',
    'pre-commit',
    'post-commit',
    'commit-msg',
    'reference-transaction',
    'post-checkout',
  ])
    await writeFile(path.join(hooks, hook), `#!/bin/sh\n: >> ${ran}\n`, { mode: 0o755 });
  const bosun = new Bosun(here.path);
  expect(await bosun.gitStatus()).toMatchObject({ files: [{ path: 'hooks/', state: '??' }] });
  await here.write({ 'README.md': 'changed\n' });
  expect((await bosun.gitDiff()).files.map(({ path: file }) => file)).toContain('README.md');
  expect(await bosun.branch('topic')).toMatchObject({ made: true });
  expect(await bosun.commit('Change it')).toMatchObject({ branch: 'topic' });
  expect(await bosun.gitPush()).toMatchObject({ kind: 'created' });
  const live = await bosun.run(workflow({ name: 'add', tasks: { add: { run: 'echo one > one.txt' } } }));
  await live.finished;
  expect(await bosun.push()).toMatchObject({ kind: 'created' });
  expect((await bosun.fetch()).branches.map(({ name }) => name)).toEqual([`bosun/${live.id}`]);
  expect(await server.git('for-each-ref', '--format=%(refname:short)')).toBe(`bosun/${live.id}\ntopic`);
  // as it is typed, in there
  const typed = await startProgram([BOSUN, 'git', 'clone', server.url(), 'clone'], here.path, {
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  }).finished;
  expect(typed, typed.stderr).toMatchObject({ code: 0, stdout: `${path.join(here.path, 'clone')}\n` });
  expect(thief.requests).toEqual([]);
  expect(await readdir(scratch)).not.toContain('ran');
  await here.write({ 'a.evil': 'x\n' });
  await expect(bosun.commit('Evil')).rejects.toMatchObject({ code: 'wrong-state' });
  expect(await readdir(scratch)).not.toContain('ran');
});

test.each([
  'ext::sh -c "touch ran"',
  'ext::touch%20ran',
  'file:///tmp',
  '/tmp',
  '--upload-pack=touch ran',
  'ssh://-oProxyCommand=touch%20ran/x',
  'https://u:p@example.com/x',
])('a repository whose remote is %s is not talked to', async (url) => {
  await using here = await makeRepository();
  await here.git('config', 'remote.origin.url', url);
  const bosun = new Bosun(here.path);
  await expect(bosun.gitPush()).rejects.toMatchObject({ code: 'usage' });
  await expect(bosun.fetch()).rejects.toMatchObject({ code: 'usage' });
  await expect(Bosun.clone(url, path.join(scratch, 'never'))).rejects.toMatchObject({ code: 'usage' });
});

test('a remote cannot name a branch that moves what is not its own', async () => {
  await using server = await startGitServer();
  await using here = await makeRepository();
  await here.git('remote', 'add', 'origin', server.url());
  const bosun = new Bosun(here.path);
  await bosun.gitPush();
  await here.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  const main = await here.git('rev-parse', 'main');
  const other = await server.git('commit-tree', '-m', 'other', `${main}^{tree}`);
  await server.git('update-ref', 'refs/heads/HEAD', other);
  await server.git('update-ref', 'refs/heads/odd-name', other);
  expect((await bosun.fetch()).branches.map(({ name }) => name)).toEqual(['odd-name']);
  expect(await here.git('rev-parse', 'origin/main')).toBe(main);
});
