/** What the doctor says of agents: programs of our own stand for them, on a PATH and in a home of the test's own. */
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../src/operations/doctor/finding.ts';
import { removeTree } from '../src/system/files/remove-tree.ts';
import { chatgptLogin } from './fixtures/chatgpt-login.ts';
import { BOSUN, startProgram } from './fixtures/cli.ts';

const SECRET = 'sk-this-must-never-be-shown';
/** What a version may take, and the rest of the doctor, on a machine that has other things to do. */
const DOCTOR_MS_MAX = 10_000;

describe('bosun doctor', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'bosun-doctor-test-'));
    await mkdir(path.join(root, 'bin'));
  });
  afterEach(() => removeTree(root));

  const write = async (name: string, text: string, mode = 0o644): Promise<void> => {
    const file = path.join(root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
    await chmod(file, mode);
  };
  const program = (name: string, script: string): Promise<void> =>
    write(`bin/${name}`, `#!/bin/sh\n${script}\n`, 0o755);
  const doctor = async (env: Record<string, string> = {}, ...args: string[]) => {
    const own = { PATH: `${path.join(root, 'bin')}:/usr/bin:/bin`, HOME: root, XDG_CONFIG_HOME: root };
    return startProgram([BOSUN, 'doctor', ...args], root, { ...own, ...env }).finished;
  };
  const findings = async (env: Record<string, string> = {}): Promise<Record<string, Finding>> => {
    const { stdout } = await doctor(env, '--json');
    expect(stdout).not.toContain(SECRET);
    return Object.fromEntries((JSON.parse(stdout) as Finding[]).map((finding) => [finding.name, finding]));
  };

  it('names every runtime, and what to install of those that are not there, which is no failure', async () => {
    const { stdout, code } = await doctor();
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/^none +claude-code +its Agent SDK is not installed$/m);
    expect(stdout).toMatch(
      /^none +codex +not installed\n +→ if you want it: npm install -g @openai\/codex$/m,
    );
    expect(stdout).toMatch(/^none +opencode +not installed$/m);
    expect(stdout).toMatch(/^none +acp /m);
    expect(stdout).toMatch(/^ok +cli /m);
  });

  it('tells where an agent is, its version, and where its key comes from, but no key', async () => {
    await program('codex', 'echo "codex-cli 1.2.3"');
    const { codex } = await findings({ OPENAI_API_KEY: SECRET });
    expect(codex!.level).toBe('ok');
    expect(codex!.runtime).toEqual({
      isInstalled: true,
      program: path.join(root, 'bin/codex'),
      version: '1.2.3',
      keys: ['openai: key from variable OPENAI_API_KEY'],
    });
  });

  it('gives an agent that it asks for its version nothing of its own environment', async () => {
    await program('codex', 'echo "1.0.0-${OPENAI_API_KEY:-none}"');
    const { codex } = await findings({ OPENAI_API_KEY: SECRET });
    expect(codex!.runtime!.version).toBe('1.0.0-none');
  });

  it('tells of a login without reading it, and what to set where there is nothing but that', async () => {
    await program('codex', 'echo 1.2.3');
    await write('.codex/auth.json', SECRET, 0o000);
    const { codex } = await findings();
    expect(codex).toMatchObject({
      level: 'warn',
      found: expect.stringContaining('no key; a login of its own in'),
    });
    expect(codex!.advice).toContain('set OPENAI_API_KEY');
    expect(codex!.runtime!.login).toBe(path.join(root, '.codex/auth.json'));
  });

  it('tells that Codex asks with its ChatGPT login, and that others need a key', async () => {
    await program('codex', 'echo 1.2.3');
    await program('opencode', 'echo 1.2.3');
    const { auth, secrets } = chatgptLogin();
    await write('.codex/auth.json', JSON.stringify(auth), 0o600);
    const { codex, opencode } = await findings();
    const file = path.join(root, '.codex/auth.json');
    const way = `openai: the login of Codex in ${file} with ChatGPT, for what agents that are Codex ask models; others need a key: set OPENAI_API_KEY`;
    expect(codex).toMatchObject({ level: 'ok', runtime: { keys: [way], login: file } });
    expect(opencode).toMatchObject({ level: 'warn', runtime: { keys: [] } });
    const told = JSON.stringify([codex, opencode]);
    expect(secrets.filter((secret) => told.includes(secret))).toEqual([]);
  });

  it('finds the SDK of Claude Code where the variable says', async () => {
    await write('sdk/package.json', '{ "name": "sdk", "main": "sdk.mjs" }');
    await write('sdk/sdk.mjs', '');
    const env = { BOSUN_CLAUDE_AGENT_SDK: path.join(root, 'sdk'), ANTHROPIC_API_KEY: SECRET };
    const { 'claude-code': claude } = await findings(env);
    expect(claude).toMatchObject({
      level: 'ok',
      runtime: { isInstalled: true, sdk: path.join(root, 'sdk') },
    });
    expect(claude!.found).toContain('with a claude of its own');
  });

  it('takes the version of a package from the package, and does not wait for those that say none', async () => {
    await write('node_modules/opencode-ai/package.json', '{ "version": "9.8.7" }');
    await write('node_modules/opencode-ai/bin/opencode', '#!/bin/sh\nexec sleep 60\n', 0o755);
    await program('codex', 'exec sleep 60');
    const beganMs = performance.now();
    const bin = path.join(root, 'node_modules/opencode-ai/bin');
    const { opencode, codex } = await findings({ PATH: `${bin}:${path.join(root, 'bin')}:/usr/bin:/bin` });
    expect(performance.now() - beganMs).toBeLessThan(DOCTOR_MS_MAX);
    expect(opencode!.runtime!.version).toBe('9.8.7');
    expect(codex!.runtime).not.toHaveProperty('version');
    expect(codex!.found).toContain('version unknown');
  });

  it('knows agents that speak the Agent Client Protocol, each with its key', async () => {
    await program('gemini', 'exit 0');
    await program('claude-agent-acp', 'exit 0');
    await program('codex-acp', 'exit 0');
    const { acp } = await findings({ GEMINI_API_KEY: SECRET });
    expect(acp).toMatchObject({ level: 'ok' });
    expect(acp!.found).toContain('`gemini --acp` (gemini: key from variable GEMINI_API_KEY)');
    expect(acp!.found).toContain('`claude-agent-acp` (no key)');
    expect(acp!.found).toContain('`codex-acp` (no key)');
  });

  it('fails where the address of a provider is none', async () => {
    const { stdout, code } = await doctor({ OPENAI_BASE_URL: 'not an address' });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail +models +the variable OPENAI_BASE_URL is not/m);
  });
});
