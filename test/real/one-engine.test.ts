/** Two runs with agents at the same time, driven by one engine: one gateway, one set of keys. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Event } from '../../src/contract/event.ts';
import { Bosun, workflow, type LiveRun } from '../../src/index.ts';
import { RealWorld, SLOW_MS, until } from '../fixtures/real-world.ts';

/** Of gpt-5.1: two cents. */
const DEAR = { input: 8000, output: 1000 };
const CHEAP = { input: 800, output: 100 };

interface Watched {
  run: LiveRun;
  events: Event[];
}

/** The tasks and agents of both runs have the same names. */
async function start(bosun: Bosun, name: string, usd: number): Promise<Watched> {
  const events: Event[] = [];
  const run = await bosun.run(
    workflow({
      name,
      budget: { usd },
      agents: { dev: { runtime: 'codex', model: 'gpt-5.1' } },
      tasks: { work: { agent: 'dev', prompt: `You are ${name}.` } },
    }),
    { seen: (recorded) => events.push(...recorded.map(({ event }) => event)) },
  );
  return { run, events };
}

function of<T extends Event['type']>({ events }: Watched, type: T): Extract<Event, { type: T }>[] {
  return events.filter((event): event is Extract<Event, { type: T }> => event.type === type);
}

describe('two runs of one engine', { timeout: SLOW_MS }, () => {
  it('keep money, questions, waits and sockets apart; one is cancelled, and the other goes on', async () => {
    await using world = await RealWorld.make({
      rules: [
        {
          when: { conversation: 'You are poor' },
          answers: [
            { run: 'echo poor > who.txt', usage: DEAR },
            { text: 'done', usage: DEAR },
          ],
        },
        { when: { conversation: 'You are rich', turn: 0 }, fault: 429, 'retry-after': '1s', times: 1 },
        {
          when: { conversation: 'You are rich' },
          answers: [
            { run: 'echo rich > who.txt; sleep 2', usage: CHEAP },
            { text: 'done', usage: CHEAP },
          ],
        },
      ],
      answers: [{ text: 'unexpected' }],
    });
    for (const [name, value] of Object.entries(world.env)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    await using bosun = new Bosun(world.repository.path);
    const poor = await start(bosun, 'poor', 0.01);
    await until(() => of(poor, 'question.asked').length > 0);
    const rich = await start(bosun, 'rich', 5);
    await until(() => of(rich, 'model.used').length > 0);
    const state = path.join(world.repository.path, '.git/bosun');
    const engines = readdirSync(path.join(state, 'engines')).filter((name) => name.endsWith('.lock'));
    expect(engines).toHaveLength(1);
    expect(readdirSync(path.join(state, 'sandbox/s')).length).toBeGreaterThanOrEqual(2);

    poor.run.cancel('now');
    expect((await poor.run.finished).state).toBe('cancelled');
    expect((await rich.run.finished).state).toBe('done');

    expect(of(poor, 'question.asked').map(({ id }) => id)).toEqual(['run+budget']);
    expect(of(rich, 'question.asked')).toEqual([]);
    expect(of(rich, 'model.waiting').length).toBeGreaterThan(0);
    expect(of(poor, 'model.waiting')).toEqual([]);
    expect(of(poor, 'model.used').map(({ tokens }) => tokens.input)).toEqual([DEAR.input]);
    expect(of(rich, 'model.used').map(({ tokens }) => tokens.input)).toEqual([CHEAP.input, CHEAP.input]);
    expect((await world.merged('who.txt', rich.run.id)).trim()).toBe('rich');
    const asked = (name: string): number =>
      world.asks.filter(({ body }) => JSON.stringify(body).includes(`You are ${name}`)).length;
    expect([asked('poor'), asked('rich')]).toEqual([1, 3]);
  });
});
