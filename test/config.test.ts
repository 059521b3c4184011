/** The configuration: whose word counts, where a value came from, and what changes when one of them is changed. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CONFIG_SCHEMA_PATH, configSchema } from '../scripts/schema.ts';
import { CONFIG_KEYS, joinKey, splitKey } from '../src/contract/config-keys.ts';
import type { Configuration } from '../src/contract/config-outputs.ts';
import { workflow } from '../src/definition/builder.ts';
import { loadConfigs, usersConfig } from '../src/definition/config.ts';
import { parseWorkflow } from '../src/definition/load.ts';
import { perform } from '../src/operations/perform.ts';
import { takeLock } from '../src/store/lock.ts';

const ANNA = { kind: 'person', name: 'anna' } as const;

let root: string;
let top: string;
let users: string;
let repositorys: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'bosun-test-config-'));
  top = path.join(root, 'repository');
  for (const each of ['refs', 'objects']) mkdirSync(path.join(top, '.git', each), { recursive: true });
  writeFileSync(path.join(top, '.git/HEAD'), 'ref: refs/heads/main\n');
  vi.stubEnv('XDG_CONFIG_HOME', path.join(root, 'config'));
  vi.stubEnv('XDG_STATE_HOME', path.join(root, 'state'));
  vi.stubEnv('BOSUN_AGENTS', '');
  users = path.join(root, 'config/bosun/config.yaml');
  repositorys = path.join(top, '.bosun/config.yaml');
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

const write = (file: string, text: string): void => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const read = (file: string): string => readFileSync(file, 'utf8');
const around = () => ({ cwd: top, by: ANNA });
const config = (key?: string) => perform('config', key === undefined ? {} : { key }, around());
const set = (key: string, value: string, repository = false) =>
  perform('setConfig', { key, value, repository }, around());
const unset = (key: string, repository = false) => perform('unsetConfig', { key, repository }, around());
const rowOf = ({ values }: Configuration, key: string) => values.filter((each) => each.key === key);

describe('a value', () => {
  it("is the environment's, else the user's, else the default, key by key", async () => {
    write(users, 'agents: 6\ntimeout: 10m\nbudget: { usd-per-day: 20, enforce: hard }\n');
    vi.stubEnv('BOSUN_AGENTS', '3');
    vi.stubEnv('BOSUN_BUDGET_USD_PER_DAY', '2.5');
    const all = await config();
    expect(rowOf(all, 'agents')).toMatchObject([
      {
        value: 3,
        from: 'environment',
        where: 'BOSUN_AGENTS',
        over: [{ value: 6, from: 'user', where: users }],
      },
    ]);
    expect(rowOf(all, 'timeout')).toMatchObject([{ value: '10m', from: 'user', where: users, over: [] }]);
    expect(rowOf(all, 'budget.usd-per-day')).toMatchObject([{ value: 2.5, from: 'environment' }]);
    expect(rowOf(all, 'budget.enforce')).toMatchObject([{ value: 'hard', from: 'user' }]);
    expect(rowOf(all, 'runtime')).toMatchObject([{ value: 'claude-code', from: 'default' }]);
    expect(rowOf(all, 'model')).toMatchObject([{ value: null, from: 'default' }]);
    // What runs go by is the same.
    expect(usersConfig(undefined).users).toMatchObject({
      agents: 3,
      timeout: '10m',
      budget: { 'usd-per-day': 2.5, enforce: 'hard' },
    });
  });

  it('of the environment counts where there is no file at all', () => {
    vi.stubEnv('BOSUN_MODEL', 'claude-opus-4-5');
    expect(usersConfig(undefined).users).toEqual({ model: 'claude-opus-4-5' });
  });

  it.each([
    ['BOSUN_AGENTS', 'many', '"agents" must be a number, but is "many"'],
    ['BOSUN_AGENTS', '0', '"agents" must be at least 1, but is the number 0'],
    ['BOSUN_RUNTIME', 'cli', 'must be one of claude-code, opencode, codex'],
    ['BOSUN_TIMEOUT', '10', 'must be a duration'],
    ['BOSUN_WORKSPACES', 'relative/path', 'must be an absolute path'],
    ['BOSUN_WORKSPACES', '/a/../b', 'must be an absolute path'],
    ['BOSUN_ISOLATION', 'none', 'must be one of required, best-effort'],
  ])('of %s that is %s is refused by the name of the variable', (variable, text, message) => {
    vi.stubEnv(variable, text);
    expect(() => loadConfigs([])).toThrow(`${variable} in the environment: `);
    expect(() => loadConfigs([])).toThrow(message);
  });

  it("of a repository may only be stricter isolation, and a budget beside the user's", async () => {
    write(users, 'isolation: best-effort\nbudget: { usd-per-day: 20 }\n');
    write(repositorys, 'isolation: required\nbudget: { usd-per-day: 500 }\nagents: 9\nmodel: theirs\n');
    const all = await config();
    expect(rowOf(all, 'isolation')).toMatchObject([{ value: 'required', from: 'repository' }]);
    expect(rowOf(all, 'budget.usd-per-day').map(({ value, from }) => [value, from])).toEqual([
      [20, 'user'],
      [500, 'repository'],
    ]);
    expect(rowOf(all, 'agents')).toMatchObject([{ from: 'default' }]);
    expect(rowOf(all, 'model')).toMatchObject([{ from: 'default' }]);
    write(users, 'isolation: required\n');
    write(repositorys, 'isolation: best-effort\n');
    expect(rowOf(await config(), 'isolation')).toMatchObject([
      { value: 'required', from: 'user', where: users },
    ]);
    // Nor is the environment's word weakened by it.
    write(users, '');
    vi.stubEnv('BOSUN_ISOLATION', 'required');
    expect(rowOf(await config(), 'isolation')).toMatchObject([{ value: 'required', from: 'environment' }]);
    const [theirs] = loadConfigs([repositorys]);
    expect(theirs!.config.isolation).toBeUndefined();
  });

  it('is not shown where it may be a secret', async () => {
    const key = 'key: { command: [op, read, op://vault/sk-secret-1] }';
    write(users, `providers:\n  anthropic: { ${key}, headers: { Authorization: Bearer sk-secret-2 } }\n`);
    const shown = JSON.stringify(await config());
    expect(shown).not.toContain('sk-secret');
    expect(shown).toContain('op …');
  });
});

describe('the agents of a workflow', () => {
  const text = `name: w
agents:
  open: {}
  codex: { runtime: codex }
  named: { model: mine, limits: { minutes: 5 } }
tasks:
  a: { agent: open, prompt: x }
  b: { agent: codex, prompt: x, timeout: 1m }
  c: { agent: named, prompt: x }
  d: { agent: { description: inline }, prompt: x }
  e: { run: 'true' }
`;

  it('get runtime, model and time limit of the user where they leave them open', () => {
    const own = { runtime: 'opencode', model: 'theirs/one', timeout: '7m' } as const;
    const { agents, tasks } = parseWorkflow(text, 'bosun.yaml', { users: own }).workflow;
    expect(agents['open']).toMatchObject({ runtime: 'opencode', model: 'theirs/one' });
    expect(agents['codex']).toEqual({ runtime: 'codex' });
    expect(agents['named']).toMatchObject({ runtime: 'opencode', model: 'mine' });
    expect(tasks['d']!.agent).toMatchObject({ runtime: 'opencode', model: 'theirs/one' });
    const timeouts = Object.entries(tasks).map(([name, { timeout }]) => `${name} ${timeout}`);
    expect(timeouts).toEqual(['a 7m', 'b 1m', 'c undefined', 'd 7m', 'e undefined']);
  });

  it('are what the file says, where its own defaults say it', () => {
    const own = { runtime: 'codex', model: 'user', timeout: '7m' } as const;
    const written = text.replace(
      'agents:',
      'defaults: { agent: { runtime: opencode, model: file } }\nagents:',
    );
    const { agents } = parseWorkflow(written, 'bosun.yaml', { users: own }).workflow;
    expect(agents['open']).toMatchObject({ runtime: 'opencode', model: 'file' });
  });

  it('are as ever where nothing is configured', () => {
    const written = parseWorkflow(text, 'bosun.yaml').workflow;
    expect(written).toEqual(parseWorkflow(text, 'bosun.yaml', { users: {} }).workflow);
    expect(written.agents['open']).toEqual({ runtime: 'claude-code' });
    const wrong = text.replace('open: {}', 'open: { runtime: }');
    expect(() => parseWorkflow(wrong, 'bosun.yaml', { users: {} })).toThrow(/bosun\.yaml:3:\d+/);
  });

  it('that are files get them too', () => {
    write(path.join(top, '.bosun/agents/helper.md'), '---\ndescription: helps\n---\nYou help.\n');
    const tasks = 'name: w\ntasks: { a: { agent: helper, prompt: x } }\n';
    const options = { repository: top, users: { runtime: 'codex', model: 'm' } } as const;
    const { agents } = parseWorkflow(tasks, path.join(top, 'bosun.yaml'), options).workflow;
    expect(agents['helper']).toMatchObject({ runtime: 'codex', model: 'm', prompt: 'You help.' });
  });
});

describe('config set', () => {
  it('changes one key and keeps the rest as it is written, comments too', async () => {
    write(
      users,
      '# mine\nagents: 4   # not too many\n\nproviders:\n  # at home\n  local: { dialect: openai, base-url: "http://localhost:1/v1" }\n',
    );
    expect(await set('agents', '6')).toEqual({ key: 'agents', value: 6, file: users });
    await set('budget.usd-per-day', '2.50');
    await set('providers.local.concurrency', '2');
    await set('prices."gpt-5.1*"', '{ input: 1, output: 2 }');
    const text = read(users);
    for (const kept of ['# mine\n', '# not too many', '# at home', '"http://localhost:1/v1"'])
      expect(text).toContain(kept);
    expect(usersConfig(undefined).users).toMatchObject({
      agents: 6,
      budget: { 'usd-per-day': 2.5 },
      providers: { local: { concurrency: 2, dialect: 'openai' } },
      prices: { 'gpt-5.1*': { input: 1, output: 2 } },
    });
    expect(await unset('budget.usd-per-day')).toEqual({
      key: 'budget.usd-per-day',
      file: users,
      wasSet: true,
    });
    expect(read(users)).not.toContain('budget');
    expect(await unset('budget.usd-per-day')).toMatchObject({ wasSet: false });
  });

  it('makes a file that only its user can read, and leaves a link to it a link', async () => {
    await set('agents', '6');
    expect(statSync(users).mode & 0o777).toBe(0o600);
    const dotfile = path.join(root, 'dotfile.yaml');
    writeFileSync(dotfile, '# kept\n', { mode: 0o640 });
    rmSync(users);
    symlinkSync(dotfile, users);
    await set('agents', '7');
    expect(read(dotfile)).toBe('# kept\n\nagents: 7\n');
    expect(statSync(dotfile).mode & 0o777).toBe(0o640);
  });

  it.each([
    ['agents', '0', 'agents was not set: "agents" must be at least 1, but is the number 0'],
    ['agnts', '5', 'unknown field "agnts" in the configuration; did you mean "agents"?'],
    ['agents.more', '5', 'agents is not a map'],
    ['providers.local.dialect', 'openai', 'provider "local" has no "base-url"'],
    ['a..b', '5', 'is not a key'],
    ['', '5', 'is not a key'],
    ['__proto__.x', '5', 'a field cannot be named "__proto__"'],
    ['runtime', 'cli', 'must be one of claude-code, opencode, codex'],
  ])('of %s to %s is refused, and nothing changes', async (key, value, message) => {
    write(users, 'agents: 4\n');
    await expect(set(key, value)).rejects.toThrow(message);
    expect(read(users)).toBe('agents: 4\n');
  });

  it('never takes a key itself, nor repeats it', async () => {
    const secret = 'sk-ant-secret';
    const refused = await set('providers.anthropic.key', secret).catch((error: Error) => error.message);
    expect(refused).toContain('never the key itself');
    expect(refused).not.toContain(secret);
    expect(() => read(users)).toThrow('ENOENT');
  });

  it('of a file that is broken says where, and leaves it alone', async () => {
    write(users, 'agents: 4\nbudget: { usd-per-day: x }\n');
    await expect(set('agents', '5')).rejects.toThrow(`${users}:2:24: "budget.usd-per-day" must be a number`);
    write(users, 'agents: 4\n  bad\n');
    await expect(set('agents', '5')).rejects.toThrow(`${users}:`);
    expect(read(users)).toBe('agents: 4\n  bad\n');
  });

  it('does not change what an alias shares with others', async () => {
    const text = `providers:
  one: &one { dialect: openai, base-url: http://localhost:1/v1 }
  two: *one
`;
    write(users, text);
    await expect(set('providers.two.concurrency', '3')).rejects.toThrow('edit the file by hand');
    await expect(set('providers.one.concurrency', '3')).rejects.toThrow('by hand');
    expect(read(users)).toBe(text);
  });

  it('writes only what a repository may say into its file, and through no link', async () => {
    await set('isolation', 'required', true);
    expect(read(repositorys)).toBe('isolation: required\n');
    await expect(set('agents', '5', true)).rejects.toThrow(
      "agents was not set: a repository's configuration may set only isolation, budget",
    );
    expect(read(repositorys)).toBe('isolation: required\n');
    const outside = path.join(root, 'outside.yaml');
    writeFileSync(outside, 'isolation: required\n');
    rmSync(repositorys);
    symlinkSync(outside, repositorys);
    await expect(set('isolation', 'best-effort', true)).rejects.toThrow('it leads out of the repository');
    rmSync(path.join(top, '.bosun'), { recursive: true });
    symlinkSync(root, path.join(top, '.bosun'));
    await expect(set('isolation', 'required', true)).rejects.toThrow('is a symbolic link');
    expect(read(outside)).toBe('isolation: required\n');
  });

  it('goes by what it changes, not by what a repository says in vain already', async () => {
    write(repositorys, 'agents: 500\n');
    await set('isolation', 'required', true);
    expect(read(repositorys)).toBe('agents: 500\nisolation: required\n');
    await expect(set('isolation', 'maybe', true)).rejects.toThrow('must be required or best-effort');
    expect(read(repositorys)).toBe('agents: 500\nisolation: required\n');
  });

  it('shows no key that was typed in a place of its own', async () => {
    for (const value of ['{ key: sk-secret }', '{ key: sk-secret', 'sk-secret'])
      for (const key of ['providers.anthropic', 'remotes."github.com"', 'remotes."github.com".token']) {
        const refused = await set(key, value).catch((error: Error) => error.message);
        expect(refused).toContain('was not set');
        expect(refused).not.toContain('sk-secret');
      }
  });

  it('waits for whoever is changing the file, and then changes what is there by then', async () => {
    const state = path.join(root, 'state/bosun');
    mkdirSync(state, { recursive: true });
    const other = takeLock(path.join(state, 'config.lock'))!;
    const setting = set('model', 'mine');
    for (let n = 0; n < 30 && !existsSync(users); n++) await new Promise((go) => setTimeout(go, 10));
    expect(existsSync(users)).toBe(false);
    write(users, 'agents: 4\n');
    other[Symbol.dispose]();
    await setting;
    expect(usersConfig(undefined).users).toEqual({ agents: 4, model: 'mine' });
    const stop = AbortSignal.abort();
    const asked = perform('setConfig', { key: 'agents', value: '5' }, { ...around(), signal: stop });
    await expect(asked).rejects.toThrow('aborted');
  });

  it('is for people alone', async () => {
    const asked = perform('setConfig', { key: 'agents', value: '1' }, { cwd: top, by: { kind: 'program' } });
    await expect(asked).rejects.toMatchObject({ code: 'not-trusted' });
  });
});

describe('keys', () => {
  it('have a variable where they are one line, and the names of a design are known', async () => {
    expect(CONFIG_KEYS.map(({ name, variable }) => `${name} ${variable ?? '-'}`)).toEqual([
      'isolation BOSUN_ISOLATION',
      'agents BOSUN_AGENTS',
      'timeout BOSUN_TIMEOUT',
      'runtime BOSUN_RUNTIME',
      'model BOSUN_MODEL',
      'workspaces BOSUN_WORKSPACES',
      'budget.usd-per-day BOSUN_BUDGET_USD_PER_DAY',
      'budget.usd-per-month BOSUN_BUDGET_USD_PER_MONTH',
      'budget.enforce BOSUN_BUDGET_ENFORCE',
      'budget.unknown-price BOSUN_BUDGET_UNKNOWN_PRICE',
      'providers -',
      'remotes -',
      'prices -',
      'hooks -',
      'notify -',
    ]);
    await set('maxConcurrentAgents', '5');
    await set('agentTimeoutMs', '60000');
    await set('claudeModel', 'claude-opus-4-5');
    expect(usersConfig(undefined).users).toEqual({ agents: 5, timeout: '60000ms', model: 'claude-opus-4-5' });
    expect((await config('maxConcurrentAgents')).values).toMatchObject([{ key: 'agents', value: 5 }]);
    write(users, 'maxConcurrentAgents: 5\n');
    expect(() => usersConfig(undefined)).toThrow('did you mean "agents"?');
  });

  it('are split where they are joined', () => {
    for (const parts of [['a'], ['prices', 'gpt-5.1*', 'input'], ['a', 'b c', 'd']])
      expect(splitKey(joinKey(parts))).toEqual(parts);
  });

  it('are in the published schema', () => {
    expect(readFileSync(CONFIG_SCHEMA_PATH, 'utf8')).toBe(configSchema());
  });

  it('are all on the page, with their variables', () => {
    const page = readFileSync('docs/configuration.md', 'utf8');
    const rows = [...page.matchAll(/^\| `([^`]+)` +\| (?:`([^`]+)`)? *\|/gm)].map(([, key, variable]) => [
      key,
      variable,
    ]);
    expect(rows).toEqual(CONFIG_KEYS.map(({ name, variable }) => [name, variable]));
  });
});

it('a workflow that is built says all of it itself', () => {
  vi.stubEnv('BOSUN_RUNTIME', 'codex');
  const built = workflow({ name: 'w', tasks: { a: { agent: {}, prompt: 'x' } } });
  expect(built.tasks['a']!.agent).toEqual({ runtime: 'claude-code' });
});
