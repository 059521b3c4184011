/** Remotes over ssh: a real sshd, with keys and without. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { BOSUN, startProgram } from './fixtures/cli.ts';
import { gitIn, makeRepository, type TestRepository } from './fixtures/repository.ts';
import { startSshServer, type SshServer } from './fixtures/ssh-server.ts';

let server: SshServer;
let repository: TestRepository;
let scratch: string;

beforeAll(async () => {
  server = await startSshServer();
  repository = await makeRepository();
  scratch = await mkdtemp(path.join(tmpdir(), 'bosun-remote-ssh-'));
  await repository.git('remote', 'add', 'origin', server.url);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await repository[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true });
});
beforeEach(() => {
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
});
afterEach(() => vi.unstubAllEnvs());

test("a run is pushed with the user's own key, and cloned and fetched by it", async () => {
  vi.stubEnv('GIT_SSH_COMMAND', server.commands.right);
  const bosun = new Bosun(repository.path);
  const live = await bosun.run(workflow({ name: 'add', tasks: { add: { run: 'echo one > one.txt' } } }));
  expect((await live.finished).state).toBe('done');
  const { commit } = await bosun.push();
  expect(await gitIn(server.directory)('rev-parse', `bosun/${live.id}`)).toBe(commit);
  await expect(bosun.push(live.id, { branch: 'main' })).resolves.toMatchObject({ kind: 'created' });
  const directory = path.join(scratch, 'cloned');
  expect(await Bosun.clone(server.url, directory)).toMatchObject({ branch: 'main', head: commit });
  expect((await bosun.fetch()).branches.map(({ name }) => name)).toEqual([`bosun/${live.id}`, 'main']);
});

test.each([
  ['otherKey', 'auth', 'does not accept any of your ssh keys'],
  ['unknownHost', 'auth', 'ssh does not know the server'],
] as const)('with %s it is refused at once, and nobody is asked', async (command, code, words) => {
  vi.stubEnv('GIT_SSH_COMMAND', server.commands[command]);
  const refused = new Bosun(repository.path).gitPush();
  await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
});

test('where nobody can be asked, ssh does not wait at the terminal that is there', async () => {
  const typed = `${BOSUN} git push < /dev/null`;
  const { stdout } = await startProgram(['script', '-qec', typed, '/dev/null'], repository.path, {
    GIT_SSH_COMMAND: server.commands.unknownHost,
    GIT_CONFIG_GLOBAL: '/dev/null',
  }).finished;
  expect(stdout).toContain('ssh does not know the server');
});

test('what is not there says so', async () => {
  vi.stubEnv('GIT_SSH_COMMAND', server.commands.right);
  const gone = Bosun.clone(`${server.url}-gone`, path.join(scratch, 'gone'));
  await expect(gone).rejects.toMatchObject({ code: 'not-found' });
});
