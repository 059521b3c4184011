/** A run of real agents once more, from its cassette alone. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { WorkflowSource } from '../../src/contract/workflow.ts';
import type { Recorded } from '../../src/contract/event.ts';
import { journalHash } from '../../src/report/journal-hash.ts';
import type { ModelScriptSource as Script } from '../../src/model-server/script.ts';
import { baseUrls, KEYS, NOTHING_LEFT, RealWorld, SLOW_MS } from '../fixtures/real-world.ts';

const WORKFLOW = {
  concurrency: 3,
  tasks: {
    plan: { agent: 'claude', prompt: 'Write the plan.' },
    left: { agent: 'codex', needs: ['plan'], prompt: 'Do the left part.' },
    right: { agent: 'claude', needs: ['plan'], prompt: 'Do the right part.' },
    middle: { agent: 'codex', needs: ['plan'], prompt: 'Do the middle part.' },
  },
};
const SCRIPT = {
  rules: [
    {
      when: { conversation: 'Write the plan.' },
      answers: [{ write: { path: 'plan.md', content: 'a plan\n' } }, { text: 'planned' }],
    },
  ],
  answers: [
    { run: 'cat plan.md' },
    { run: 'mkdir -p parts && echo "$BOSUN_TASK" > parts/$BOSUN_TASK.txt && pwd' },
    { text: 'all done' },
  ],
};
const NO_MODELS = Object.fromEntries(
  [...Object.keys(KEYS), ...Object.keys(baseUrls(''))].map((name) => [name, undefined]),
);

function journalIn(stdout: string): Recorded[] {
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Recorded);
}

async function treeOf({ repository }: RealWorld): Promise<string> {
  const git = path.join(repository.path, '.git/bosun/git');
  return repository.git('--git-dir', git, 'ls-tree', '-r', 'refs/heads/bosun/real-1');
}

/** What each ACP agent says by the way differs from time to time, and a rate limit is no part of the work. */
const BUSY_WORKFLOW = {
  concurrency: 2,
  agents: {
    'claude-acp': { runtime: 'acp', command: ['claude-agent-acp'], model: 'claude-sonnet-5' },
    'codex-acp': { runtime: 'acp', command: ['codex-acp'] }, // its default model has tools of another shape
  },
  tasks: {
    claude: { agent: 'claude-acp', prompt: 'Do the first part.' },
    codex: { agent: 'codex-acp', prompt: 'Do the second part.' },
    gemini: { agent: 'gemini-acp', prompt: 'Do the third part.' },
  },
} satisfies Omit<WorkflowSource, 'name'>;
const BUSY_SCRIPT = {
  answers: [
    { fault: 429, 'retry-after': '1s', times: 2 },
    { run: 'mkdir -p parts && echo "$BOSUN_TASK" > parts/$BOSUN_TASK.txt && pwd' },
    { fault: 500, times: 2 },
    { text: 'all done' },
  ],
};

describe('a cassette of real agents', { timeout: 2 * SLOW_MS }, () => {
  it.each<[string, Script, Omit<WorkflowSource, 'name'>, number]>([
    ['and the same tree, in another place, with no key and no server', SCRIPT, WORKFLOW, 11],
    ['also after waits for a provider, and for agents that speak ACP', BUSY_SCRIPT, BUSY_WORKFLOW, 10],
  ])('ends in the same journal %s', async (_, script, workflow, asksMin) => {
    await using before = await RealWorld.make(script);
    const cassette = path.join(before.home, 'run.cassette');
    await before.write(workflow);
    await using recording = before.bosun('run', '--json', '--record', cassette);
    const recorded = await recording.finished;
    expect([recorded.code, recorded.stderr]).toEqual([0, '']);
    const asked = before.asks.length;
    // Claude's agent would try the model first, and not be patient with a rate limit.
    const tries = before.server.requests.filter(
      ({ body }) => (body as { max_tokens?: number }).max_tokens === 1,
    );
    expect(tries).toEqual([]);
    await before.server[Symbol.asyncDispose]();
    const tape = await readFile(cassette, 'utf8');
    expect(Object.values(KEYS).filter((key) => tape.includes(key))).toEqual([]);
    expect(await before.remains()).toEqual(NOTHING_LEFT);

    await using after = await RealWorld.make({ rules: [{ fault: 500 }] }, { env: NO_MODELS });
    // The marker is a variable of the workflow, which is a part of the journal.
    await after.repository.write({
      'bosun.yaml': await readFile(path.join(before.repository.path, 'bosun.yaml'), 'utf8'),
    });
    await using replaying = after.bosun('run', '--json', '--replay', cassette);
    const replayed = await replaying.finished;
    expect([replayed.code, replayed.stderr]).toEqual([0, '']);
    expect(asked).toBeGreaterThanOrEqual(asksMin); // how many are refused depends on who asks first
    expect(after.asks).toEqual([]);
    expect(await treeOf(after)).toBe(await treeOf(before));
    expect(journalHash(journalIn(replayed.stdout))).toBe(journalHash(journalIn(recorded.stdout)));
  });
});
