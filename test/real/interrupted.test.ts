/** Real agents that are cancelled, spoken to, or whose engine is killed in the middle of their work. */
import { describe, expect, it } from 'vitest';
import { told } from '../fixtures/fenced-run.ts';
import { NOTHING_LEFT, RealWorld, SLOW_MS, type Script } from '../fixtures/real-world.ts';

const NAP = 'tail -f /dev/null';
const CANCELLED_WITHIN_MS = 15_000;
/** What is written before is to be there afterwards. Codex asks the model again while a long command runs. */
const BUSY: Script = {
  rules: [
    { when: { conversation: 'You were interrupted', 'tool-result': 'PART-ONE' }, text: 'all done' },
    { when: { conversation: 'You were interrupted' }, run: 'cat $BOSUN_TASK.txt' },
  ],
  answers: [{ run: 'echo PART-ONE > $BOSUN_TASK.txt' }, { run: NAP }, { text: 'well rested', delay: '10m' }],
};

function tasksOf(agents: readonly string[]): Record<string, object> {
  return Object.fromEntries(agents.map((agent) => [agent, { agent, prompt: `FIRST-WORDS for ${agent}` }]));
}

describe('real agents at work', { timeout: SLOW_MS }, () => {
  it('end with all that they started when the run is cancelled', async () => {
    const agents = ['claude', 'codex', 'opencode', 'claude-acp', 'codex-acp'];
    await using world = await RealWorld.make(BUSY);
    await world.write({ concurrency: agents.length, tasks: tasksOf(agents) });
    await using started = world.bosun('run', '--json');
    await world.running(NAP, agents);
    const fromMs = performance.now();
    await using cancel = world.bosun('cancel');
    expect((await cancel.finished).code).toBe(0);
    const { code, ended } = told(await started.finished);
    expect(performance.now() - fromMs).toBeLessThan(CANCELLED_WITHIN_MS);
    expect(code).toBe(3);
    expect(agents.map((agent) => ended(agent).outcome.kind)).toEqual(agents.map(() => 'cancelled'));
    expect(agents.map((agent) => ended(agent).collected?.changed[0]?.path)).toEqual(
      agents.map((agent) => `${agent}.txt`),
    );
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });

  it('go on in the same conversation after their engine was killed', async () => {
    const agents = ['claude', 'codex', 'opencode', 'claude-acp', 'codex-acp'];
    await using world = await RealWorld.make(BUSY);
    await world.write({ concurrency: agents.length, tasks: tasksOf(agents) });
    await using started = world.bosun('run', '--json');
    await world.running(NAP, agents);
    started.child.kill('SIGKILL');
    await started.finished;
    expect(await world.left()).toEqual([]);
    const before = world.asks.length;
    await using resumed = world.bosun('resume', '--json');
    const { code, ended } = told(await resumed.finished);
    expect(agents.map((agent) => [agent, ended(agent).outcome.kind, ended(agent).output])).toEqual(
      agents.map((agent) => [agent, 'done', 'all done']),
    );
    expect(code).toBe(0);
    for (const agent of agents) {
      const first = world.asks
        .slice(before)
        .map(({ body }) => JSON.stringify(body))
        .find((body) => body.includes(`FIRST-WORDS for ${agent}`));
      const words = ['FIRST-WORDS', 'echo PART-ONE', NAP, 'You were interrupted'];
      expect([agent, ...words.filter((word) => first?.includes(word))]).toEqual([agent, ...words]);
      expect(await world.merged(`${agent}.txt`)).toBe('PART-ONE');
    }
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });

  it('are told what a person says to them', async () => {
    const agents = ['claude', 'codex'];
    await using world = await RealWorld.make({
      rules: [{ when: { conversation: 'Mind the QUAGGA' }, text: 'I do' }],
      answers: [{ run: `timeout 8 ${NAP}; true` }, { text: 'done' }],
    });
    await world.write({ tasks: tasksOf(agents) });
    await using started = world.bosun('run', '--json');
    for (const agent of agents) {
      await world.running(NAP, [agent]);
      await using steer = world.bosun('steer', agent, 'Mind the QUAGGA.');
      expect((await steer.finished).code).toBe(0);
    }
    const { code, events, ended } = told(await started.finished);
    expect(code).toBe(0);
    expect(agents.map((agent) => ended(agent).output)).toEqual(['I do', 'I do']);
    expect(events.filter(({ type }) => type === 'task.steered')).toHaveLength(2);
    const heard = world.asks.filter(({ body }) => JSON.stringify(body).includes('QUAGGA'));
    expect(new Set(heard.map(({ dialect }) => dialect))).toEqual(new Set(['anthropic', 'openai']));
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });
});
