/** Where one real agent cannot go on another does, from what the first one left. */
import { describe, expect, it } from 'vitest';
import { NOTHING_LEFT, RealWorld, SLOW_MS } from '../fixtures/real-world.ts';

describe('a fallback', { timeout: SLOW_MS }, () => {
  it('goes on in the same workspace, and the journal says so', async () => {
    await using world = await RealWorld.make({
      rules: [
        { when: { dialect: 'openai', turn: 0 }, run: 'echo from codex > part.txt' },
        { when: { dialect: 'openai' }, fault: 401 },
        { when: { dialect: 'anthropic', turn: 0 }, run: 'cat part.txt > seen.txt' },
        { when: { dialect: 'anthropic' }, text: 'all done' },
      ],
    });
    const { code, events, ended } = await world.run({
      agents: { worker: { runtime: 'codex', model: 'gpt-5.1', fallback: ['claude-code'] } },
      tasks: { work: { agent: 'worker', prompt: 'Work.' } },
    });
    expect(code).toBe(0);
    expect(ended('work')).toMatchObject({ attempt: 2, output: 'all done' });
    expect(await world.merged('seen.txt')).toBe('from codex');
    const starts = events.filter((event) => event.type === 'attempt.started');
    expect(starts).toMatchObject([
      { attempt: 1 },
      {
        attempt: 2,
        continues: 1,
        fallback: {
          runtime: 'claude-code',
          because: expect.stringContaining('codex failed (auth)') as string,
        },
      },
    ]);
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });

  it('from Claude Code to Codex takes the model that is named for Codex', async () => {
    await using world = await RealWorld.make({
      rules: [
        { when: { dialect: 'anthropic' }, fault: 401 },
        { when: { dialect: 'openai' }, text: 'here I am' },
      ],
    });
    const { code, ended } = await world.run({
      agents: {
        worker: {
          runtime: 'claude-code',
          model: 'claude-opus-5-5',
          fallback: [{ runtime: 'codex', model: 'gpt-5.1' }],
        },
      },
      tasks: { work: { agent: 'worker', prompt: 'Work.' } },
    });
    expect(code).toBe(0);
    expect(ended('work')).toMatchObject({ attempt: 2, output: 'here I am' });
    expect(world.asks.find(({ dialect }) => dialect === 'openai')?.model).toBe('gpt-5.1');
  });

  it('is never to a plain command', async () => {
    await using world = await RealWorld.make({ answers: [{ text: 'ok' }] });
    await world.write({
      agents: { worker: { runtime: 'claude-code', command: ['echo'], fallback: ['cli'] } },
      tasks: { work: { agent: 'worker', prompt: 'Work.' } },
    });
    await using started = world.bosun('run', '--json');
    const { code, stderr } = await started.finished;
    expect(code).toBe(2);
    expect(stderr).toContain('cannot fall back from "claude-code" to "cli"');
    expect(world.asks).toEqual([]);
  });
});
