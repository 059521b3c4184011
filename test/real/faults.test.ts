/** What becomes of real agents when the model's server misbehaves; the gateway deals with it, the same for all. */
import { describe, expect, it } from 'vitest';
import { NOTHING_LEFT, RealWorld, SLOW_MS, type Script } from '../fixtures/real-world.ts';
import type { Told } from '../fixtures/fenced-run.ts';

const RUNTIMES = ['claude', 'codex', 'opencode'] as const;
const ENDED_WITHIN_MS = 60_000;
type Answer = NonNullable<Script['answers']>[number];

/** The same answers for each of them, counted apart. */
function eachGets(answers: Answer[]): Script {
  return { rules: RUNTIMES.map((name) => ({ when: { conversation: `I call you ${name}.` }, answers })) };
}

function always(answer: Answer): Script {
  return { rules: RUNTIMES.map((name) => ({ when: { conversation: `I call you ${name}.` }, ...answer })) };
}

async function ran(world: RealWorld): Promise<Told & { asked(name: string): number; tookMs: number }> {
  const fromMs = performance.now();
  const tasks = RUNTIMES.map((name) => [name, { agent: name, prompt: `I call you ${name}. Write a file.` }]);
  const told = await world.run({
    'on-failure': 'continue',
    tasks: Object.fromEntries(tasks) as Record<string, object>,
  });
  const asked = (name: string): number =>
    world.asks.filter(({ body }) => JSON.stringify(body).includes(`I call you ${name}.`)).length;
  return { ...told, asked, tookMs: performance.now() - fromMs };
}

const QUICK = {
  providers: Object.fromEntries(
    ['anthropic', 'openai'].map((name) => [name, { 'timeout-idle': '2s', patience: '6s' }]),
  ),
};

describe('a model server that misbehaves', { timeout: SLOW_MS }, () => {
  it('for a while is waited for: 429, 500, silence and a cut connection cost no agent its work', async () => {
    const answers: Answer[] = [
      { fault: 429, 'retry-after': '1s', times: 2 },
      { fault: 500 },
      { fault: 'hang' },
      { fault: 'cut-before' },
      { run: 'echo $BOSUN_TASK > $BOSUN_TASK.txt' },
      { fault: 500, times: 2 },
      { text: 'all done' },
    ];
    const config = {
      providers: Object.fromEntries(['anthropic', 'openai'].map((name) => [name, { 'timeout-idle': '2s' }])),
    };
    await using world = await RealWorld.make(eachGets(answers), { config });
    const { code, ended, asked, events, tookMs } = await ran(world);
    expect(RUNTIMES.map((name) => ended(name).outcome)).toEqual(RUNTIMES.map(() => ({ kind: 'done' })));
    expect(code).toBe(0);
    for (const name of RUNTIMES) expect(await world.merged(`${name}.txt`)).toBe(name);
    expect(RUNTIMES.map(asked)).toEqual([9, 9, 9]);
    expect(events.filter(({ type }) => type === 'model.waiting').length).toBeGreaterThan(0);
    expect(tookMs).toBeLessThan(ENDED_WITHIN_MS);
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });

  it.each([
    ['401', { fault: 401 }, 'auth', [1, 1]],
    ['500 for ever', { fault: 500 }, 'overloaded', [2, 7]],
    ['silence for ever', { fault: 'hang' }, 'timeout', [1, 7]],
    ['429 for longer than we are patient', { fault: 429, 'retry-after': '1h' }, 'rate-limit', [0, 1]],
    [
      'an answer that is cut in the middle',
      { fault: 'cut', text: 'half of this is never said' },
      'network',
      [1, 3],
    ],
  ] as const)('with %s fails the task, and says why', async (_, answer, kind, [least, most]) => {
    await using world = await RealWorld.make(always(answer), { config: QUICK });
    const { code, ended, asked, tookMs } = await ran(world);
    expect(code).toBe(1);
    expect(RUNTIMES.map((name) => [name, ended(name).outcome.kind, ended(name).error?.kind])).toEqual(
      RUNTIMES.map((name) => [name, 'failed', kind]),
    );
    for (const name of RUNTIMES) {
      expect(asked(name)).toBeGreaterThanOrEqual(least);
      expect(asked(name)).toBeLessThanOrEqual(most);
    }
    expect(tookMs).toBeLessThan(ENDED_WITHIN_MS);
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });
});
