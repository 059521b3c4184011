/** Real agents outside of bosun that drive it over `bosun mcp`, with the entries that `bosun init --mcp` writes for them. */
import { globSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProgram } from '../fixtures/cli.ts';
import { RealWorld, SLOW_MS } from '../fixtures/real-world.ts';
import { REAL_BIN } from '../fixtures/runtime-job.ts';

const WORKFLOW = { name: 'driven', tasks: { a: { run: 'echo made-by-a-run > made.txt' } } };
/** The agent's model calls one tool after the other, and reads what each gives. */
const SCRIPT = {
  answers: [
    { tools: [{ name: 'engine_execute', input: { workflow: WORKFLOW, key: 'once' } }] },
    { tools: [{ name: 'engine_status', input: { waitSeconds: 60 } }] },
    { tools: [{ name: 'engine_diff', input: { run: 'driven-1' } }] },
    { tools: [{ name: 'engine_merge', input: { run: 'driven-1' } }] },
    { text: 'It is merged.' },
  ],
};

const CLAUDE =
  globSync(path.resolve(REAL_BIN, '../@anthropic-ai/claude-agent-sdk-linux-*/claude'))[0] ?? 'claude';

const AGENTS: Record<string, (url: string) => string[]> = {
  'claude-code': () => [
    CLAUDE,
    '--print',
    '--mcp-config',
    '.mcp.json',
    '--strict-mcp-config',
    '--allowedTools',
    'mcp__bosun',
    '--',
    'Make the file, and merge it.',
  ],
  codex: (url) => [
    path.join(REAL_BIN, 'codex'),
    'exec',
    '--dangerously-bypass-approvals-and-sandbox',
    '--model=gpt-5.1',
    ...['model_provider="scripted"', 'model_providers.scripted.name="scripted"'].flatMap((set) => [
      '-c',
      set,
    ]),
    ...[`base_url="${url}/v1"`, 'wire_api="responses"', 'env_key="OPENAI_API_KEY"'].flatMap((set) => [
      '-c',
      `model_providers.scripted.${set}`,
    ]),
    'Make the file, and merge it.',
  ],
};

describe('a real agent', { timeout: SLOW_MS }, () => {
  it.each(Object.keys(AGENTS))('starts, follows, reads and merges a run over MCP: %s', async (agent) => {
    // The script knows no search for tools, and has the first answer at once.
    const env = {
      ENABLE_TOOL_SEARCH: 'false',
      MCP_CONNECTION_NONBLOCKING: 'false',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
    await using world = await RealWorld.make(SCRIPT, { env });
    await using init = world.bosun('init', '--mcp', '--for', agent, ...(agent === 'codex' ? ['--user'] : []));
    expect(await init.finished).toMatchObject({ code: 0 });
    const { finished } = startProgram(AGENTS[agent]!(world.server.url), world.repository.path, world.env);
    const { code, stdout, stderr } = await finished;
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain('It is merged.');
    const bodies = world.asks.map(({ body }) => JSON.stringify(body));
    expect(bodies.at(-1)).toContain('+made-by-a-run');
    expect(bodies.at(-1)).toContain('fast-forward');
    expect(await world.repository.git('show', 'HEAD:made.txt')).toBe('made-by-a-run');
  });
});
