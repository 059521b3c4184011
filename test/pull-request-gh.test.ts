/** Pull requests through the real `gh`, which is led to a stand-in for GitHub's API on loopback. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { makeBare, startGitServer, type GitServer } from './fixtures/git-server.ts';
import { startGithubApi, type GithubApi } from './fixtures/github-api.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';

const HOST = 'github.test';
const TOKEN = ['ghp', 'made-up'].join('_');
const AT = '/api/v3/repos/owner/project';
const PAGE = `https://${HOST}/owner/project/pull/7`;
const COMMENT = { author: { __typename: 'User', login: 'anna' }, authorAssociation: 'MEMBER' };
const THREADS = [
  { isResolved: false, path: 'a.txt', line: 1, comments: { nodes: [{ ...COMMENT, body: 'Say “two”.' }] } },
];

let scratch: string;
let server: GitServer;
let api: GithubApi;
let repository: TestRepository;
let bosun: Bosun;
let run: string;
let opened: { number: number; html_url: string }[];

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), 'bosun-gh-'));
  server = await startGitServer();
  await makeBare(server.at('owner/project'));
  api = await startGithubApi(HOST, {
    scratch,
    git: server.host,
    answer({ method, path: at, body, authorization }) {
      if (authorization !== `token ${TOKEN}`) return [401, { message: 'Bad credentials' }];
      if (at === AT) return [200, { default_branch: 'trunk' }];
      if (at.startsWith(`${AT}/pulls?state=open`)) return [200, opened];
      if (at === `${AT}/collaborators/anna/permission`) return [200, { permission: 'write' }];
      if (at === '/api/graphql') {
        const nodes = String(body.query).includes('reviewThreads(') ? THREADS : [];
        const part = /\b(reviewThreads|reviews|comments)\(first: 100/.exec(String(body.query))![1]!;
        return [200, { data: { repository: { pullRequest: { [part]: { nodes } } } } }];
      }
      if (method !== 'POST' || at !== `${AT}/pulls`) return [404, { message: 'Not Found' }];
      opened = [{ number: 7, html_url: PAGE }];
      return [201, opened[0]];
    },
  });
  repository = await makeRepository();
  await repository.git('remote', 'add', 'origin', `https://${HOST}/owner/project.git`);
  bosun = new Bosun(repository.path);
  const agent = { runtime: 'cli' as const, command: 'cat >> a.txt', scope: { write: ['*.txt'] } };
  const tasks = { write: { agent, prompt: 'Write one\n' } };
  const live = await bosun.run(workflow({ name: 'write', tasks }), { trust: true });
  expect(await live.finished).toMatchObject({ state: 'done' });
  run = live.id;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await api[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await repository[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true });
});

beforeEach(async () => {
  opened = [];
  api.calls.length = 0;
  const config = path.join(scratch, 'config');
  await mkdir(path.join(config, 'bosun'), { recursive: true });
  await writeFile(path.join(config, 'bosun/config.yaml'), `remotes: { ${HOST}: { forge: github } }\n`);
  const env = {
    ...api.env,
    no_proxy: '',
    NO_PROXY: '',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    XDG_CONFIG_HOME: config,
    GH_CONFIG_DIR: path.join(scratch, 'gh'),
    GH_ENTERPRISE_TOKEN: TOKEN,
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
});

it('one is opened, found again and updated, and its review comments go back to the agent', async () => {
  expect(await bosun.pr(run, { draft: true })).toMatchObject({ kind: 'opened', url: PAGE });
  const made = api.calls.at(-1)!;
  expect(made.body).toMatchObject({ head: `bosun/${run}`, base: 'trunk', draft: true });
  expect(made.body.body).toContain(`Work of the bosun run \`${run}\``);
  expect(await bosun.pr(run)).toMatchObject({ kind: 'updated', url: PAGE });
  const live = await bosun.prFeedback(run, { trust: true });
  expect(await live.finished).toMatchObject({ state: 'done' });
  const { patch } = await bosun.diff(live.id);
  expect(patch.toString()).toContain('+Comment 1, by anna on a.txt:1:\n+> Say “two”.');
});

it('a login that the host refuses leaves the branch pushed, the link, and what to type', async () => {
  vi.stubEnv('GH_ENTERPRISE_TOKEN', 'expired');
  const made = await bosun.pr(run, { base: 'trunk' });
  expect(made).toMatchObject({
    kind: 'link',
    url: expect.stringContaining('/compare/trunk...bosun/') as string,
  });
  expect(made.note).toMatch(/Bad credentials.*gh auth status --hostname github\.test/s);
});
