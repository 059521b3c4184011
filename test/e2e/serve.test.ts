/** `bosun serve` as a user starts it, as the machine ends it, and as systemd would. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bosun, BOSUN, startProgram, type Started } from '../fixtures/cli.ts';
import { askAt, listenTo, type Answered } from '../fixtures/http.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const AT = '/api/repositories/shop';
const FAR =
  'name: far\ntasks:\n  a: { agent: { runtime: cli, command: "true", scope: { network: [example.com] } }, prompt: x }\n';
const FILES = {
  'bosun.yaml':
    'name: slow\ntasks: { a: { run: sleep 3; echo a > a.txt }, b: { needs: [a], run: "true" } }\n',
  'quick.yaml': 'name: quick\ntasks: { a: { run: "true" } }\n',
  'far.yaml': FAR,
};

let state: string;
let repository: TestRepository;
let env: Record<string, string>;
beforeAll(async () => {
  state = await mkdtemp(path.join(tmpdir(), 'bosun-served-'));
  repository = await makeRepository({ files: FILES, name: 'shop' });
  env = { XDG_STATE_HOME: state, BOSUN_TRUST: '1' };
});
afterAll(async () => {
  await repository[Symbol.asyncDispose]();
  await rm(state, { recursive: true });
});

interface Served extends AsyncDisposable {
  started: Started;
  url: string;
  token: string;
  ask(method: string, at: string, body?: unknown, token?: string): Promise<Answered>;
}

async function serve(...args: string[]): Promise<Served> {
  const started = startProgram([BOSUN, 'serve', '--port', '0', '--json', ...args], repository.path, env);
  let text = '';
  started.child.stdout!.on('data', (piece: Buffer) => (text += piece.toString()));
  await started.prints('Ctrl-C ends the server');
  const { url, token } = JSON.parse(text) as { url: string; token: string };
  return {
    started,
    url,
    token,
    ask: (method, at, body, own = token) => askAt(url, method, at, { token: own, body }),
    async [Symbol.asyncDispose]() {
      started.child.kill('SIGKILL');
      await started.finished;
    },
  };
}

async function until(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 50));
}

const typed = (...args: string[]) => startProgram([BOSUN, ...args], repository.path, env).finished;

describe('bosun serve', { timeout: 120_000 }, () => {
  it('gives no trust for a variable of its own, whoever asks', async () => {
    await using served = await serve();
    await served.started.prints('serving shop');
    const made = JSON.parse((await typed('token', 'add', 'works', '--role', 'run', '--json')).stdout) as {
      token: string;
    };
    for (const token of [made.token, served.token])
      expect(await served.ask('POST', `${AT}/runs`, { file: 'far.yaml' }, token)).toMatchObject({
        status: 403,
        json: { code: 'not-trusted' },
      });
    expect(
      await served.ask('POST', `${AT}/runs`, { file: 'far.yaml', trust: true }, made.token),
    ).toMatchObject({ status: 403 });
  });

  it('drives at once what is queued in a terminal', async () => {
    await using served = await serve();
    const { stdout, stderr } = await typed('run', '--queue', 'quick.yaml');
    const run = stdout.trim();
    expect(run, stderr).toMatch(/^quick-\d+$/);
    await until(async () => (await served.ask('GET', `${AT}/runs/${run}`)).json.run.state === 'done');
  });

  it('loses no run when it is killed, and its streams end when it is told to end', async () => {
    const killed = await serve();
    const { id } = (await killed.ask('POST', `${AT}/runs`, {})).json as { id: string };
    await until(async () => (await killed.ask('GET', `${AT}/runs/${id}`)).json.run.counts.running === 1);
    await using other = await makeRepository({ name: 'other' });
    const second = await typed('serve', '--port', '0', other.path);
    expect(second).toMatchObject({ code: 2, stdout: '' });
    expect(second.stderr).toMatch(
      new RegExp(`another bosun serve \\(process ${killed.started.child.pid}, at ${killed.url}\\)`),
    );
    // What did not start has not given its repository to the one that is there.
    expect((await typed('repositories')).stdout).not.toContain('other');
    await killed[Symbol.asyncDispose]();
    await using next = await serve();
    await using stream = listenTo(next.url, `${AT}/runs/${id}/events`, { token: next.token });
    await stream.until(({ data }) => data?.event.type === 'run.finished');
    expect((await next.ask('GET', `${AT}/runs/${id}`)).json.run).toMatchObject({ state: 'done' });
    await using open = listenTo(next.url, '/api/events', { token: next.token });
    await open.status;
    next.started.child.kill('SIGTERM');
    expect(await next.started.finished).toMatchObject({ code: 0 });
    await open.ended;
  });
});

it('its unit is one that systemd takes', { timeout: 60_000 }, async () => {
  const { stdout } = await bosun(repository.path, 'serve', '--print-unit');
  const unit = path.join(state, 'bosun.service');
  await writeFile(unit, stdout);
  expect(verified(unit)).toBe('');
  await writeFile(unit, stdout.replace('KillMode=process', 'KillMode=nobody'));
  expect(verified(unit)).toContain('kill mode');
});

/** What systemd says against it. */
function verified(unit: string): string {
  const command = `systemd-analyze verify --man=no ${unit} 2>&1 || echo "code $?"`;
  return execFileSync('sh', ['-c', command], { encoding: 'utf8' });
}
