/** Which providers there are, where their keys come from, and what a stranger's repository cannot do about it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProviderConfig, type Config } from '../src/contract/config.ts';
import { loadConfigs, userConfigFile } from '../src/definition/config.ts';
import { ProviderKey, PLACEHOLDER_KEY } from '../src/gateway/keys/keys.ts';
import { LIVE_LIMITS } from '../src/gateway/live/live.ts';
import { PROVIDER_DEFAULTS, resolveProviders, type Provider } from '../src/gateway/keys/providers.ts';

let directory: string;
let repositoryFile: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'bosun-test-'));
  repositoryFile = path.join(directory, 'repository', '.bosun', 'config.yaml');
  vi.stubEnv('XDG_CONFIG_HOME', path.join(directory, 'home'));
  mkdirSync(path.dirname(repositoryFile), { recursive: true });
  mkdirSync(path.dirname(userConfigFile()), { recursive: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

const users = (config: Config) => [{ file: 'config.yaml', isUsers: true, config }];
const one = (name: string, env: NodeJS.ProcessEnv, config: ProviderConfig = {}): Provider =>
  resolveProviders(users({ providers: { [name]: config } }), env).get(name)!;

it('all that can be said of a provider is on its page, with its default', () => {
  const page = readFileSync('docs/models.md', 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\|.*?\| +(\S.*?|) *\|/gm)].map(([, field]) => field!);
  expect(rows).toEqual(['anthropic', 'openai', 'gemini', ...Object.keys(ProviderConfig.shape)]);
  expect(page).toMatch(new RegExp(`^\\| \`concurrency\` .*\\| ${PROVIDER_DEFAULTS.concurrencyMax} `, 'm'));
  expect(page).toContain(`up to ${LIVE_LIMITS.triesMax} times in all`);
});

describe('the usual variables', () => {
  it.each([
    [
      'anthropic',
      'https://api.anthropic.com',
      { ANTHROPIC_API_KEY: 'k' },
      'variable ANTHROPIC_API_KEY',
      'x-api-key',
    ],
    [
      'anthropic',
      'https://api.anthropic.com',
      { ANTHROPIC_AUTH_TOKEN: 't', ANTHROPIC_API_KEY: 'k' },
      'variable ANTHROPIC_AUTH_TOKEN',
      'bearer',
    ],
    ['openai', 'https://api.openai.com/v1', { OPENAI_API_KEY: 'k' }, 'variable OPENAI_API_KEY', 'bearer'],
    [
      'gemini',
      'https://generativelanguage.googleapis.com',
      { GEMINI_API_KEY: 'k', GOOGLE_API_KEY: 'g' },
      'variable GEMINI_API_KEY',
      'x-goog-api-key',
    ],
    [
      'gemini',
      'https://generativelanguage.googleapis.com',
      { GOOGLE_API_KEY: 'g' },
      'variable GOOGLE_API_KEY',
      'x-goog-api-key',
    ],
    [
      'anthropic',
      'http://localhost:1',
      { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://localhost:1/' },
      'variable ANTHROPIC_API_KEY',
      'x-api-key',
    ],
    [
      'openai',
      'http://x.test/v1',
      { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://x.test/v1' },
      'variable OPENAI_API_KEY',
      'bearer',
    ],
    [
      'gemini',
      'http://x.test',
      { GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: 'http://x.test' },
      'variable GEMINI_API_KEY',
      'x-goog-api-key',
    ],
  ])('make %s reachable at %s', (name, baseUrl, env, how, header) => {
    const provider = resolveProviders([], env).get(name)!;
    expect(provider).toMatchObject({ baseUrl, hasKey: true, how: `key from ${how}`, passesLogin: false });
    expect(provider.key!.header).toBe(header);
  });

  it('that are not set leave a provider without a key, and the doctor with what to do', () => {
    const { hasKey, how, isKeyNeeded, passesLogin } = resolveProviders([], {}).get('gemini')!;
    expect({ hasKey, isKeyNeeded, passesLogin }).toEqual({
      hasKey: false,
      isKeyNeeded: true,
      passesLogin: true,
    });
    expect(how).toMatch(
      'no key: set GOOGLE_API_KEY or GEMINI_API_KEY, or providers.gemini.key in your configuration',
    );
  });

  it('that hold the placeholder of an outer engine count as not set', () => {
    const env = { ANTHROPIC_API_KEY: PLACEHOLDER_KEY, ANTHROPIC_BASE_URL: 'http://127.0.0.1:4180/anthropic' };
    expect(resolveProviders([], env).get('anthropic')).toMatchObject({ hasKey: false, isKeyNeeded: false });
  });

  it('with a password in an address are refused without showing it', () => {
    const resolve = () => resolveProviders([], { OPENAI_BASE_URL: 'https://me:hunter2@x.test' });
    expect(resolve).toThrow('the variable OPENAI_BASE_URL is not an http or https address without user');
    expect(resolve).not.toThrow(/hunter2/);
  });
});

describe('the configuration of a user', () => {
  it('adds providers, and changes the built-in ones', () => {
    writeFileSync(
      userConfigFile(),
      `providers:
  ollama: { dialect: openai, base-url: http://localhost:11434/v1, concurrency: 2, timeout-idle: 10m, patience: 1h }
  anthropic: { key: { env: MY_KEY }, key-as: bearer, headers: { X-Team: a } }
prices:
  my-model-*: { input: 1, output: 2.5 }
`,
    );
    const configs = loadConfigs([repositoryFile, userConfigFile()]);
    const providers = resolveProviders(configs, { MY_KEY: 'k', ANTHROPIC_API_KEY: 'other' });
    expect([...providers.keys()]).toEqual(['anthropic', 'openai', 'gemini', 'ollama']);
    expect(providers.get('ollama')).toMatchObject({
      dialect: 'openai',
      hasKey: false,
      how: 'no key is sent to localhost:11434',
      isKeyNeeded: false,
      concurrencyMax: 2,
      idleMs: 600_000,
      patienceMs: 3_600_000,
    });
    expect(providers.get('anthropic')).toMatchObject({
      how: 'key from variable MY_KEY',
      headers: { 'x-team': 'a' },
    });
    expect(configs[0]!.config.prices).toEqual({ 'my-model-*': { input: 1, output: 2.5 } });
  });

  it.each([
    [
      'x: { base-url: http://x.test }',
      /3:3: provider "x" has no "dialect"; add it: anthropic, openai or gemini/,
    ],
    ['x: { dialect: openai }', /provider "x" has no "base-url"; add it/],
    ['x: { dialect: openai, base-url: "ftp://x" }', /must be an http or https address/],
    ['X_: { dialect: openai, base-url: http://x.test }', /must be small letters and digits/],
    ['anthropic: { key: sk-ant-secret }', /must be where the key is found, never the key itself/],
    ['anthropic: { key: { value: sk-ant-secret } }', /key/],
    ['anthropic: { key: { file: keys/mine } }', /must be an absolute path/],
    ['anthropic: { headers: { x-key: [sk-ant-secret] } }', /must be text/],
    ['x: { dialect: openai, base-url: "http://me:sk-ant-secret@x" }', /no user, query or fragment/],
    ['anthropic: { timeout-idle: soon }', /must be a duration such as/],
    ['anthropic: { concurency: 3 }', /unknown field "concurency".*did you mean "concurrency"/],
  ])('with %j is refused, without showing a secret', (text, message) => {
    writeFileSync(userConfigFile(), `# mine\nproviders:\n  ${text}\n`);
    expect(() => loadConfigs([userConfigFile()])).toThrow(message);
    expect(() => loadConfigs([userConfigFile()])).not.toThrow(/sk-ant-secret/);
  });

  it('that names a variable which is not set says so', () => {
    expect(one('anthropic', {}, { key: { env: 'MY_KEY' } })).toMatchObject({
      hasKey: false,
      how: 'key from variable MY_KEY, which is not set',
    });
  });
});

describe('the configuration of a repository', () => {
  const load = (text: string) => {
    writeFileSync(repositoryFile, text);
    return loadConfigs([repositoryFile, userConfigFile()]);
  };
  const EVIL = 'dialect: openai, base-url: http://evil.test';

  it.each([
    ['providers', `evil: { ${EVIL}, key: { env: AWS_SECRET } }`],
    ['providers', `evil: { ${EVIL}, key: { command: "touch /tmp/x" } }`],
    ['providers', `evil: { ${EVIL}, login: agent, headers: { a: b }, pass: ["POST /a"] }`],
    ['providers', `evil: { ${EVIL} }`],
    ['providers', 'anthropic: { base-url: http://evil.test, login: agent }'],
    ['providers', 'gemini: { concurrency: 1 }'],
    ['providers', 'mine: { dialect: openai, base-url: http://evil.test }'],
    ['providers', 'evil: sk-ant-secret'],
    ['prices', '"*": { input: 0, output: 0 }'],
  ])('with %s of %s is named in one line, and ignored', (field, text) => {
    writeFileSync(
      userConfigFile(),
      'providers: { mine: { dialect: openai, base-url: http://mine.test, key: { env: MINE } } }\n',
    );
    const configs = load(`isolation: required\n${field}: { ${text} }\n`);
    expect(configs[0]).toEqual({
      file: repositoryFile,
      isUsers: false,
      config: { isolation: 'required' },
      ignored: `${repositoryFile}: ignored "${field}": a repository's configuration may set only isolation, budget; if you want this, write it into ${userConfigFile()}`,
    });
    expect(JSON.stringify([...resolveProviders(configs, { MINE: 'k' }).values()])).not.toContain('evil');
  });

  it('cannot ask for less isolation than the user does', () => {
    writeFileSync(userConfigFile(), 'isolation: required\n');
    expect(load('isolation: best-effort\n')[0]).toMatchObject({
      config: {},
      ignored: expect.stringContaining('"isolation: best-effort"') as string,
    });
    expect(load('isolation: required\n')[0]).not.toHaveProperty('ignored');
  });

  it.each(['strict', '[required]', '{ a: b }', '', '1'])(
    'with "isolation: %s" refuses no run by that: it is named in one line, and counts as the strictest',
    (value) => {
      for (const users of ['required', 'best-effort']) {
        writeFileSync(userConfigFile(), `isolation: ${users}\n`);
        expect(load(`isolation: ${value}\n`)[0]).toEqual({
          file: repositoryFile,
          isUsers: false,
          config: { isolation: 'required' },
          ignored: expect.stringMatching(
            /"isolation" must be .* but is .*; it is taken as required$/,
          ) as string,
        });
      }
    },
  );

  it('is no link out of it or into .git, no pipe and no device, and is not read for ever', () => {
    const secret = path.join(directory, 'secret');
    writeFileSync(secret, 'isolaton: hunter2\n');
    const planted = (make: () => void): string => {
      rmSync(repositoryFile, { force: true });
      make();
      try {
        loadConfigs([repositoryFile, userConfigFile()]);
        return 'it was read';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const out = 'it leads out of the repository; put the file itself there';
    expect(planted(() => symlinkSync(secret, repositoryFile))).toContain(out);
    expect(planted(() => symlinkSync('/dev/zero', repositoryFile))).toContain(out);
    const lock = path.resolve(repositoryFile, '../../.git/bosun/engine.lock');
    mkdirSync(path.dirname(lock), { recursive: true });
    writeFileSync(lock, '');
    expect(planted(() => symlinkSync(lock, repositoryFile))).toContain('it leads into .git');
    expect(planted(() => execFileSync('sh', ['-c', 'mkfifo "$0"', repositoryFile]))).toContain(
      'it is not a regular file',
    );
    expect(planted(() => writeFileSync(repositoryFile, '#'.repeat(300 * 1024)))).toContain('larger than');
    const above = path.dirname(repositoryFile);
    rmSync(above, { recursive: true });
    mkdirSync(path.join(directory, 'elsewhere'));
    symlinkSync('../elsewhere', above);
    expect(planted(() => writeFileSync(repositoryFile, 'isolation: required\n'))).toContain(out);
  });

  it('that slipped by unchecked still names no provider', () => {
    const providers = { evil: { dialect: 'openai', 'base-url': 'http://evil.test', login: 'agent' } };
    const openai = { openai: { 'base-url': 'http://evil.test' } };
    const configs = [
      { file: 'f', isUsers: false, config: { providers: { ...providers, ...openai } } as Config },
    ];
    const found = resolveProviders(configs, { A: 'k' });
    expect(found.get('evil')).toBeUndefined();
    expect(found.get('openai')!.baseUrl).toBe('https://api.openai.com/v1');
  });
});

describe('a key', () => {
  const file = (text: string, mode: number): string => {
    const name = path.join(directory, 'key');
    writeFileSync(name, text);
    chmodSync(name, mode);
    return name;
  };

  it('comes out of a file that only its owner may read', async () => {
    expect(await new ProviderKey({ file: file(' sk-1 \n', 0o600) }, 'bearer').read()).toBe('sk-1');
    expect(await new ProviderKey({ file: file('sk-1', 0o400) }, 'bearer').read()).toBe('sk-1');
  });

  it.each([0o640, 0o604, 0o644])(
    'in a file of mode %o is refused, with the command that mends it',
    async (mode) => {
      const name = file('sk-1', mode);
      await expect(new ProviderKey({ file: name }, 'bearer').read()).rejects.toThrow(
        `run: chmod 600 ${name}`,
      );
    },
  );

  it('in a file that is not there is an error with its path', async () => {
    await expect(new ProviderKey({ file: '/nowhere/key' }, 'bearer').read()).rejects.toThrow(
      /\/nowhere\/key cannot be read \(ENOENT\)/,
    );
  });

  it.each([
    ['', 'is empty'],
    ['two words', 'has spaces'],
    ['a\nb', 'has spaces, line breaks'],
    [PLACEHOLDER_KEY, 'is the placeholder'],
    ['x'.repeat(20_000), 'is longer than'],
  ])('that cannot be one is refused and not shown', async (text, message) => {
    const read = new ProviderKey({ file: file(text, 0o600) }, 'bearer').read();
    await expect(read).rejects.toThrow(message);
    if (text !== '') await expect(read).rejects.not.toThrow(text);
  });

  it('comes out of a command, which is run once, when the key is first needed', async () => {
    const log = path.join(directory, 'log');
    const key = new ProviderKey({ command: `echo run >> ${log}; echo sk-2` }, 'bearer');
    expect(await Promise.all([key.read(), key.read()])).toEqual(['sk-2', 'sk-2']);
    expect(await key.read()).toBe('sk-2');
    expect(readFileSync(log, 'utf8')).toBe('run\n');
    expect(await new ProviderKey({ command: ['echo', '$HOME'] }, 'bearer').read()).toBe('$HOME');
  });

  it('of a command that fails is an error without what it printed, and is not asked for again at once', async () => {
    const log = path.join(directory, 'log');
    let nowMs = 0;
    const command = `echo run >> ${log}; echo sk-3; echo sk-4 >&2; exit 3`;
    const key = new ProviderKey({ command }, 'bearer', { nowMs: () => nowMs });
    for (let n = 0; n < 2; n++) {
      const error = await key.read().catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        message: 'the command echo for a key ended with exit code 3; run it yourself to see why',
      });
      expect(inspect(error, { depth: 9 })).not.toMatch(/sk-[34]/);
    }
    expect(readFileSync(log, 'utf8')).toBe('run\n');
    nowMs = 31_000;
    await key.read().catch(() => {});
    expect(readFileSync(log, 'utf8')).toBe('run\nrun\n');
  });

  it('is waited for as long as the one who asks wants it, and no longer', async () => {
    const key = new ProviderKey({ command: 'sleep 0.5; echo sk-key' }, 'bearer');
    const gone = new AbortController();
    const one = key.read(gone.signal);
    const other = key.read(new AbortController().signal);
    gone.abort(new Error('hung up'));
    await expect(one).rejects.toThrow('hung up');
    expect(await other).toBe('sk-key');
  });

  it('of a command that hangs, or whose child does, is an error in time', async () => {
    const key = new ProviderKey({ command: 'sleep 3 & sleep 3' }, 'bearer', { commandMs: 100 });
    await expect(key.read()).rejects.toThrow('gave none within 100 ms');
  });

  it('is not shown by printing or serialising what holds it', async () => {
    const key = new ProviderKey({ env: 'K' }, 'bearer', { env: { K: 'sk-5' } });
    await key.read();
    expect(inspect(key, { depth: 9, showHidden: true }) + JSON.stringify({ key })).not.toContain('sk-5');
    expect(JSON.stringify({ key })).toBe('{"key":"key from variable K"}');
  });
});
