/** `bosun init --mcp`: what it adds to the settings of agents, and what it leaves alone. */
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { perform } from '../src/operations/perform.ts';
import { bosun, startProgram, BOSUN } from './fixtures/cli.ts';
import { makeRepository } from './fixtures/repository.ts';

const COMMAND = BOSUN;
const ANNA = { kind: 'person', name: 'anna' } as const;
const ALL = ['claude-code', 'codex', 'opencode', 'gemini'];

describe('bosun init --mcp', () => {
  it('writes the entry where each agent reads it, once, and says so', async () => {
    await using repository = await makeRepository();
    const at = repository.path;
    const typed = ['init', '--mcp', ...ALL.flatMap((name) => ['--for', name])];
    const first = await bosun(at, ...typed);
    const files = ['.mcp.json', '.codex/config.toml', 'opencode.json', '.gemini/settings.json'];
    expect(first).toMatchObject({ code: 0, stdout: `${files.join('\n')}\n` });
    const texts = await Promise.all(files.map((file) => readFile(path.join(at, file), 'utf8')));
    const [claude, codex, opencode, gemini] = texts.map((text, n) =>
      n === 1 ? parse(text) : (JSON.parse(text) as object),
    );
    expect(claude).toEqual({ mcpServers: { bosun: { type: 'stdio', command: COMMAND, args: ['mcp'] } } });
    expect(codex).toMatchObject({
      mcp_servers: { bosun: { command: COMMAND, args: ['mcp'], tool_timeout_sec: 120 } },
    });
    expect(opencode).toMatchObject({
      mcp: { bosun: { type: 'local', command: [COMMAND, 'mcp'], enabled: true } },
    });
    expect(gemini).toMatchObject({ mcpServers: { bosun: { command: COMMAND, args: ['mcp'] } } });
    expect(texts.join('')).not.toMatch(/sk-|KEY"?\s*[:=]/);
    const again = await bosun(at, ...typed);
    expect(again).toMatchObject({ code: 0, stdout: '' });
    expect(again.stderr).toContain('.codex/config.toml has the entry for codex already');
    expect(await Promise.all(files.map((file) => readFile(path.join(at, file), 'utf8')))).toEqual(texts);
  });

  it("keeps what is in the user's own settings, comments and links too", async () => {
    const home = await mkdtemp(path.join(tmpdir(), 'bosun-home-'));
    await mkdir(path.join(home, '.codex'));
    await writeFile(
      path.join(home, 'dotfile.toml'),
      '# mine\nmodel = "x"\n[mcp_servers.other]\ncommand = "y"',
    );
    await symlink('../dotfile.toml', path.join(home, '.codex/config.toml'));
    await writeFile(
      path.join(home, '.claude.json'),
      '{\n\t"theme": "dark",\n\t"mcpServers": {"a": {"command": "b"}}\n}\n',
      { mode: 0o600 },
    );
    const started = startProgram(
      [BOSUN, 'init', '--mcp', '--user', '--for', 'codex', '--for', 'claude-code'],
      home,
      { HOME: home },
    );
    expect(await started.finished).toMatchObject({ code: 0 });
    const toml = await readFile(path.join(home, 'dotfile.toml'), 'utf8');
    expect(toml).toMatch(
      /^# mine\nmodel = "x"\n\[mcp_servers\.other\]\ncommand = "y"\n\n\[mcp_servers\.bosun\]\n/,
    );
    const claude = await readFile(path.join(home, '.claude.json'), 'utf8');
    expect(claude).toMatch(/^\{\n\t"theme": "dark",\n\t"mcpServers": \{/);
    expect(JSON.parse(claude)).toMatchObject({
      theme: 'dark',
      mcpServers: { a: { command: 'b' }, bosun: { args: ['mcp'] } },
    });
  });

  it('vouches for no entry that starts bosun in another way', async () => {
    await using repository = await makeRepository();
    const file = path.join(repository.path, '.mcp.json');
    const around = { cwd: repository.path, by: ANNA };
    const look = async (entry: object): Promise<string> => {
      await writeFile(file, JSON.stringify({ mcpServers: { bosun: entry } }));
      return (await perform('initMcp', { clients: ['claude-code'] }, around)).entries[0]!.did;
    };
    const { entries } = await perform('initMcp', { clients: ['claude-code'] }, around);
    const { mcpServers } = JSON.parse(entries[0]!.entry) as { mcpServers: { bosun: object } };
    const written = mcpServers.bosun;
    expect(await look(written)).toBe('kept');
    for (const more of [{ env: { NODE_OPTIONS: '--require ./evil.cjs' } }, { cwd: '/tmp' }, { type: 'sse' }])
      expect(await look({ ...written, ...more })).toBe('left');
  });

  it('leaves alone what it cannot add to, and what would lead out of the repository', async () => {
    const away = await mkdtemp(path.join(tmpdir(), 'bosun-away-'));
    const files = {
      '.mcp.json': '{"mcpServers": {"bosun": {"command": "evil"}}}',
      'opencode.json': '{ // mine\n}',
    };
    await using repository = await makeRepository({ files });
    await symlink(away, path.join(repository.path, '.gemini'));
    await mkdir(path.join(repository.path, '.codex'));
    await symlink(path.join(away, 'toml'), path.join(repository.path, '.codex/config.toml'));
    const { entries } = await perform('initMcp', { clients: ALL }, { cwd: repository.path, by: ANNA });
    expect(entries.map(({ did, why }) => [did, why?.split(' (')[0]])).toEqual([
      ['left', 'it has another entry of that name, which is not what bosun writes'],
      ['left', '.codex/config.toml is a link, which may lead anywhere'],
      ['left', 'it cannot be read as it is'],
      ['left', '.gemini is a link, which may lead anywhere'],
    ]);
    for (const [file, text] of Object.entries(files))
      expect(await readFile(path.join(repository.path, file), 'utf8')).toBe(text);
    const { code, stderr } = await bosun(repository.path, 'init', '--mcp', '--for', 'gemini');
    expect(code).toBe(1);
    expect(stderr).toContain('"command": ');
    await expect(readFile(path.join(away, 'settings.json'))).rejects.toThrow('ENOENT');
  });
});
