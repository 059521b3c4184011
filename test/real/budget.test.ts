/** Twenty real agents against one cap. */
import { describe, expect, it } from 'vitest';
import type { Recorded } from '../../src/contract/event.ts';
import { NOTHING_LEFT, RealWorld, SLOW_MS, until } from '../fixtures/real-world.ts';

const AGENTS = 20;
const CAP_USD = 0.05;
/** Of gpt-5.1, at $1.25 and $10 for a million. */
const ANSWER = { usage: { input: 800, output: 100 }, delay: '150ms' };
const ANSWER_USD = 0.002;
const QUIET_MS = 1500;

describe('a cap of five cents', { timeout: SLOW_MS }, () => {
  it('holds twenty agents with one question, and lets the very same requests go on', async () => {
    await using world = await RealWorld.make({
      answers: [
        { run: 'echo hi > $BOSUN_TASK.txt', ...ANSWER },
        { text: 'all done', ...ANSWER },
      ],
    });
    await world.write({
      budget: { usd: CAP_USD },
      concurrency: AGENTS,
      tasks: {
        all: {
          agent: 'codex',
          'for-each': Array.from({ length: AGENTS }, (_, n) => n),
          prompt: 'Number ${{ each }}.',
        },
      },
    });
    await using started = world.bosun('run', '--json');
    await started.prints('"question.asked"');
    // All agents have come as far as they can once nothing was sent for a while.
    const sinceMs = (): number => Date.now() - Math.max(...world.asks.map(({ atMs }) => atMs));
    await until(() => world.asks.length >= AGENTS && sinceMs() > QUIET_MS);
    const atPause = world.asks.length;
    expect(atPause).toBeLessThan(2 * AGENTS);
    await using budget = world.bosun('budget', '--usd', '5');
    expect((await budget.finished).code).toBe(0);
    const { code, stdout } = await started.finished;
    const journal = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Recorded);
    const raisedMs = journal.find(({ event }) => event.type === 'budget.set')!.atMs;
    const uses = journal.flatMap(({ atMs, event }) =>
      event.type === 'model.used' ? [{ atMs, usd: event.usd! }] : [],
    );
    const spentBy = (ms: number): number =>
      uses.filter(({ atMs }) => atMs < ms).reduce((sum, { usd }) => sum + usd, 0);
    // At every admission there was money left, so no more is overspent than what was under way then.
    for (const { atMs } of world.asks.slice(0, atPause)) expect(spentBy(atMs)).toBeLessThan(CAP_USD);
    const underWay = Math.max(
      ...world.asks
        .slice(0, atPause)
        .map(({ atMs }, n) => n + 1 - uses.filter((use) => use.atMs < atMs).length),
    );
    expect(spentBy(raisedMs)).toBeLessThanOrEqual(CAP_USD + underWay * ANSWER_USD);
    expect(spentBy(raisedMs)).toBeGreaterThanOrEqual(CAP_USD - ANSWER_USD);
    expect(journal.filter(({ event }) => event.type === 'question.asked')).toHaveLength(1);
    // Each of its two requests was sent once.
    const asked = world.asks.map(
      ({ body, turn }) => `${/Number \d+/.exec(JSON.stringify(body))![0]} ${turn}`,
    );
    expect(asked.toSorted()).toEqual(
      Array.from({ length: AGENTS }, (_, n) => [`Number ${n} 0`, `Number ${n} 1`])
        .flat()
        .toSorted(),
    );
    expect(code).toBe(0);
    const attempts = journal.flatMap(({ event }) =>
      event.type === 'attempt.finished' ? [event.outcome.kind] : [],
    );
    expect(attempts).toEqual(Array.from({ length: AGENTS }, () => 'done'));
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });
});

describe('bosun exec --usd', { timeout: SLOW_MS }, () => {
  const exec = ['exec', '--runtime', 'codex', '--model', 'gpt-5.1', '--usd', '0.001', 'Work.'];
  const script = {
    answers: [
      { run: 'true', ...ANSWER },
      { text: 'all done', ...ANSWER },
    ],
  };

  it('goes on when the budget of the run is raised', async () => {
    await using world = await RealWorld.make(script);
    await using started = world.bosun(...exec, '--json');
    await started.prints('"question.asked"');
    await using budget = world.bosun('budget', '--usd', '1');
    expect((await budget.finished).code).toBe(0);
    expect((await started.finished).code).toBe(0);
    expect(world.asks).toHaveLength(2);
  });

  it('ends as stopped by its budget where nobody raises it', async () => {
    await using world = await RealWorld.make(script);
    await using started = world.bosun(...exec, '--json');
    await started.prints('"question.asked"');
    await using answer = world.bosun('answer', 'run+budget', 'no');
    expect((await answer.finished).code).toBe(0);
    expect((await started.finished).code).toBe(4);
    expect(world.asks).toHaveLength(1);
  });
});
