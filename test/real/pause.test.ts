/** Real agents that are paused in the middle of their work, or of their first answer, and go on later. */
import { describe, expect, it } from 'vitest';
import type { Paused } from '../../src/contract/outputs.ts';
import { processesWith, told } from '../fixtures/fenced-run.ts';
import { NOTHING_LEFT, RealWorld, SLOW_MS, until, type Script } from '../fixtures/real-world.ts';

const NAP = 'tail -f /dev/null';
/** What is written before the pause is to be there afterwards. */
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

describe('real agents that are paused', { timeout: 2 * SLOW_MS }, () => {
  it.each([[['claude', 'codex']], [['claude-acp']]])(
    'stop, ask no model meanwhile, and go on in their conversations: %s',
    async (agents) => {
      await using world = await RealWorld.make(BUSY);
      await world.write({ concurrency: agents.length, tasks: tasksOf(agents) });
      await using started = world.bosun('run', '--json');
      await world.running(NAP, agents);
      await using pause = world.bosun('pause', '--json');
      const paused = JSON.parse((await pause.finished).stdout) as Paused;
      expect(Object.fromEntries(paused.attempts.map(({ task, how }) => [task, how]))).toEqual(
        Object.fromEntries(agents.map((agent) => [agent, 'stop'])),
      );
      expect(await world.left()).toEqual([]);
      const before = world.asks.length;
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(world.asks).toHaveLength(before);
      await using resume = world.bosun('resume');
      expect((await resume.finished).code).toBe(0);
      const { code, ended } = told(await started.finished);
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
    },
  );

  it('in the middle of their first answer get it, and stop then', async () => {
    await using world = await RealWorld.make({
      rules: [{ when: { conversation: 'You were interrupted' }, text: 'all done' }],
      answers: [{ run: 'echo PART-ONE > one.txt', delay: '6s' }, { text: 'too early' }],
    });
    await world.write({ tasks: tasksOf(['codex']) });
    await using started = world.bosun('run', '--json');
    await until(() => world.asks.length > 0);
    await using pause = world.bosun('pause', '--json');
    const paused = JSON.parse((await pause.finished).stdout) as Paused;
    expect(paused.attempts).toMatchObject([{ task: 'codex', how: 'hold' }]);
    await until(() => processesWith(world.marker).length === 0);
    expect(await world.left()).toEqual([]);
    await using resume = world.bosun('resume');
    expect((await resume.finished).code).toBe(0);
    const { code, ended, events } = told(await started.finished);
    expect(events.filter(({ type }) => type === 'attempt.pausing')).toMatchObject([
      { how: 'hold' },
      { how: 'stop', because: 'it continues its conversation after the pause' },
    ]);
    expect(ended('codex')).toMatchObject({ outcome: { kind: 'done' }, output: 'all done' });
    expect(code).toBe(0);
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });

  it('hear afterwards what they were told before, and have the output that they gave', async () => {
    const agents = ['claude', 'codex'];
    await using world = await RealWorld.make({
      rules: [
        { when: { conversation: 'Mind the QUAGGA' }, text: 'I do' },
        { when: { conversation: 'You were interrupted' }, text: 'nobody said anything' },
      ],
      answers: [
        { run: `bosun agent done '"given before"'` },
        { run: NAP },
        { text: 'well rested', delay: '10m' },
      ],
    });
    await world.write({ concurrency: agents.length, tasks: tasksOf(agents) });
    await using started = world.bosun('run', '--json');
    await world.running(NAP, agents);
    for (const agent of agents) {
      await using steer = world.bosun('steer', agent, 'Mind the QUAGGA.');
      expect((await steer.finished).code).toBe(0);
    }
    await using pause = world.bosun('pause', '--json');
    expect((JSON.parse((await pause.finished).stdout) as Paused).attempts).toHaveLength(agents.length);
    expect(await world.left()).toEqual([]);
    await using resume = world.bosun('resume');
    expect((await resume.finished).code).toBe(0);
    const { code, ended, events } = told(await started.finished);
    expect(agents.map((agent) => ended(agent))).toMatchObject(
      agents.map(() => ({ attempt: 2, outcome: { kind: 'done' }, output: 'given before' })),
    );
    expect(code).toBe(0);
    const heard = world.asks.filter(({ body }) => JSON.stringify(body).includes('QUAGGA'));
    expect(new Set(heard.map(({ dialect }) => dialect))).toEqual(new Set(['anthropic', 'openai']));
    const read = events.filter((event) => event.type === 'attempt.steered');
    expect(read.map(({ task }) => task).toSorted()).toEqual(agents);
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });
});
