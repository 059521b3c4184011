/** Codex with the ChatGPT login of this machine: the gateway sends it, and it is nowhere else. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACCOUNT, chatgptLogin, type ChatgptLogin } from '../fixtures/chatgpt-login.ts';
import { NOTHING_LEFT, RealWorld, SLOW_MS } from '../fixtures/real-world.ts';

const LOOK_AROUND =
  'for each in /proc/[0-9]*; do cat $each/environ $each/cmdline; done > seen.txt; cat ~/.codex/auth.json "$CODEX_HOME"/* >> seen.txt 2>&1; grep -rhs eyJ /run /home /tmp >> seen.txt; true';
const SCRIPT = {
  answers: [
    {
      write: { path: 'hello.txt', content: 'hi\n' },
      usage: { input: 1000, output: 100, cacheRead: 0, cacheWrite: 0 },
    },
    { run: LOOK_AROUND },
    { text: 'all done' },
  ],
};
const WORKFLOW = { tasks: { hello: { agent: 'codex', prompt: 'Say hello.' } } };

/** The server stands for the provider: a login goes to another address than the provider's where the user says so. */
async function loggedIn({ auth }: ChatgptLogin): Promise<RealWorld & { login: string }> {
  const world = await RealWorld.make(SCRIPT, {
    config: { providers: { openai: { login: 'agent' } } },
    env: { OPENAI_API_KEY: undefined },
  });
  const login = path.join(world.home, '.codex/auth.json');
  await mkdir(path.dirname(login));
  await writeFile(login, JSON.stringify(auth), { mode: 0o600 });
  return Object.assign(world, { login });
}

describe('Codex that is logged in with ChatGPT', { timeout: SLOW_MS }, () => {
  it('works with that login, which no sandbox, journal, log, cassette, report or command line has', async () => {
    const chatgpt = chatgptLogin();
    await using world = await loggedIn(chatgpt);
    const cassette = path.join(world.home, 'run.cassette');
    const { code, stderr, events, ended } = await world.run(WORKFLOW, '--record', cassette);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(ended('hello')).toMatchObject({ outcome: { kind: 'done' }, output: 'all done' });
    expect(await world.merged('hello.txt')).toBe('hi');
    expect(world.server.requests.map(({ method, path: asked }) => `${method} ${asked}`)).toEqual(
      Array<string>(3).fill('POST /v1/responses'),
    );
    for (const { headers, body } of world.server.requests) {
      expect(headers).toMatchObject({
        authorization: `Bearer ${chatgpt.token}`,
        'chatgpt-account-id': ACCOUNT,
        originator: 'codex_exec',
        'user-agent': expect.stringMatching(/^codex_exec\/\d/) as string,
        version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      });
      expect(body).toMatchObject({ model: 'gpt-5.1', store: false, stream: true });
    }
    const used = events.filter((event) => event.type === 'model.used');
    expect(used.map(({ ownLogin }) => ownLogin)).toEqual([true, true, true]);
    expect(used[0]).toMatchObject({ provider: 'openai', tokens: { input: 1000, output: 100 } });
    expect(used[0]!.usd).toBeGreaterThan(0);
    await using report = world.bosun('report');
    const { stdout } = await report.finished;
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain("3 requests metered, paid by the agent's own login");
    const seen = await world.merged('seen.txt');
    expect(seen).toContain(world.marker);
    const told = [seen, stdout, JSON.stringify(events), await readFile(cassette, 'utf8')].join('\n');
    expect(chatgpt.secrets.filter((secret) => told.includes(secret))).toEqual([]);
    expect(world.filesWith(chatgpt.secrets)).toEqual([]);
    expect(JSON.parse(await readFile(world.login, 'utf8'))).toEqual(chatgpt.auth);
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });

  it('is told at once how to renew one that has expired, and asks nobody', async () => {
    const chatgpt = chatgptLogin({ expiresMs: Date.now() - 60_000 });
    await using world = await loggedIn(chatgpt);
    const { ended, events } = await world.run(WORKFLOW);
    expect(ended('hello')).toMatchObject({
      outcome: { kind: 'failed' },
      error: { kind: 'auth', message: expect.stringContaining('has expired; run `codex` once') as string },
    });
    expect(world.server.requests).toEqual([]);
    expect(chatgpt.secrets.filter((secret) => JSON.stringify(events).includes(secret))).toEqual([]);
    expect(world.filesWith(chatgpt.secrets)).toEqual([]);
    expect(JSON.parse(await readFile(world.login, 'utf8'))).toEqual(chatgpt.auth);
  });
});
