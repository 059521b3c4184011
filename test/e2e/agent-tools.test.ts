/** What an agent of a model gets from us inside its fence: tools, and no more turns than it may have. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseWorkflow } from '../../src/definition/load.ts';
import { startModelServer, type ModelServer } from '../../src/model-server/server.ts';
import { runFenced, type Told } from '../fixtures/fenced-run.ts';
import { makeRepository } from '../fixtures/repository.ts';

const FILES = {
  'agent.ts': readFileSync('test/fixtures/acp-steps-program.ts'),
  'server.ts': readFileSync('test/fixtures/mcp-look-program.ts'),
  'src/a.ts': 'a\n',
  'docs/d.md': 'd\n',
  'README.md': 'readme\n',
};
const WITH_TOOLS = { ask: { tools: [{ name: 'a' }] } };
const ASIDE = { ask: { tools: [] } };
const FAILS = { ask: { tools: [{ name: 'a' }], model: 'broken' }, mayFail: true };
const SCRIPT = {
  rules: [{ when: { model: 'broken' }, fault: 400 as const }],
  answers: [{ text: 'yes' }],
};

let server: ModelServer;
beforeEach(async () => void (server = await startModelServer({ script: SCRIPT })));
afterEach(() => server[Symbol.asyncDispose]());

/** Runs one task, `work`, with an agent that does the steps. */
async function run(steps: unknown[], agent: object = {}, more: object = {}): Promise<Told> {
  await using repository = await makeRepository({ files: FILES });
  const tasks = {
    work: {
      agent: { runtime: 'acp', command: ['node', 'agent.ts'], ...agent },
      prompt: JSON.stringify(steps),
      scope: { write: ['src/**'], grant: ['docs/**'] },
      ...more,
    },
  };
  return await runFenced(repository, `tasks: ${JSON.stringify(tasks)}\n`, {
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'sk-ant-not-for-agents',
  });
}

describe('tools of ours', () => {
  it('let an agent ask for more, and then change it', async () => {
    const told = await run([
      { call: ['bosun', 'request_access', { paths: ['README.md'] }] },
      { call: ['bosun', 'request_access', { paths: ['docs/d.md'] }] },
      { write: 'docs/d.md' },
      { call: ['bosun', 'inbox', {}] },
      { call: ['bosun', 'answer_access', { id: 'x+1', answer: 'yes' }] },
    ]);
    expect(told.ended('work')).toMatchObject({
      outcome: { kind: 'done' },
      output: [
        'refused: README.md ("grant" of its scope does not name README.md)',
        'granted: docs/d.md ("grant" of its scope names it)',
        'written',
        'no messages, and nobody asks',
        expect.stringMatching(/^not answered: no such request/),
      ],
    });
    expect(told.changed('work')).toEqual(['M docs/d.md']);
  });

  it('are there for an agent that may change everything, too', async () => {
    const told = await run([{ call: ['bosun', 'inbox', {}] }], {}, { scope: {} });
    expect(told.ended('work').output).toEqual(['no messages, and nobody asks']);
  });

  it('have a name that no other server can have', () => {
    const yaml =
      'name: a\nagents:\n  x:\n    mcp: { bosun: { command: x } }\ntasks:\n  t: { agent: x, prompt: p }';
    expect(() => parseWorkflow(yaml, 'bosun.yaml')).toThrow(
      /4:12.*agent "x" has a tool server called "bosun", which is the name of our own; give it another name/s,
    );
  });
});

describe("a tool server of the user's", () => {
  it('runs behind the fence of its agent', async () => {
    const env = { WORD: 'from the workflow', ENGINE: String(process.pid) };
    const look = { command: 'node', args: ['server.ts'], env };
    const told = await run([{ call: ['look', 'look', {}] }], { mcp: { look } });
    expect(told.ended('work').outcome).toEqual({ kind: 'done' });
    expect(JSON.parse((told.ended('work').output as [string])[0])).toEqual({
      word: 'from the workflow',
      write: 'done',
      writeElsewhere: expect.stringMatching(/^(EROFS|EACCES)$/),
      seesEngine: 'ESRCH',
    });
    expect(told.changed('work')).toEqual(['A src/by-server.txt']);
  });
});

describe('the turns of an agent', () => {
  it('are held at the gateway, and no other runtime takes over', async () => {
    const told = await run([WITH_TOOLS, WITH_TOOLS, { write: 'src/b.ts' }, WITH_TOOLS], {
      turns: 2,
      fallback: ['codex'],
    });
    const message = 'it used its 2 turns and was not done; allow more with "turns" of the agent';
    expect(told.ended('work')).toMatchObject({
      attempt: 1,
      outcome: { kind: 'failed', reason: 'limit', message },
      error: { kind: 'refused', message },
    });
    expect(told.changed('work')).toEqual(['A src/b.ts']);
    expect(server.requests).toHaveLength(2);
  });

  it('are not used up on the side or without an answer, nor counted where there is no limit', async () => {
    const turns = [ASIDE, WITH_TOOLS, FAILS, WITH_TOOLS, ASIDE];
    expect((await run(turns, { turns: 2 })).ended('work').outcome).toEqual({ kind: 'done' });
    expect((await run([...turns, WITH_TOOLS])).ended('work').outcome).toEqual({ kind: 'done' });
    expect(server.requests).toHaveLength(11);
  });
});
