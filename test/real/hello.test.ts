/** Each real agent writes a file in its fence, through the gateway, and knows no key. */
import { describe, expect, it } from 'vitest';
import { KEYS, NOTHING_LEFT, RealWorld, SLOW_MS, type AGENTS } from '../fixtures/real-world.ts';

const LOOK_AROUND =
  'env > seen.txt; cat /proc/[0-9]*/environ >> seen.txt; grep -rhs KEY /run /home /tmp >> seen.txt; true';
const HELLO = {
  answers: [{ write: { path: 'hello.txt', content: 'hi\n' } }, { run: LOOK_AROUND }, { text: 'all done' }],
};

describe('a real agent', { timeout: SLOW_MS }, () => {
  it.each<keyof typeof AGENTS>(['claude', 'codex', 'opencode', 'claude-acp', 'codex-acp', 'gemini-acp'])(
    'writes hello.txt, which is merged, and sees no key and no provider: %s',
    async (agent) => {
      await using world = await RealWorld.make(HELLO);
      const { code, events, ended, stderr } = await world.run({
        tasks: { hello: { agent, prompt: 'Say hello.' } },
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(ended('hello')).toMatchObject({ outcome: { kind: 'done' }, output: 'all done' });
      expect(await world.merged('hello.txt')).toBe('hi');
      const seen = await world.merged('seen.txt');
      expect(seen).toContain(world.marker);
      const secrets = [...Object.values(KEYS), world.server.url, `:${new URL(world.server.url).port}`];
      expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
      const keys = world.asks.map(
        ({ headers }) => headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key'],
      );
      expect(keys.filter((key) => !Object.values(KEYS).some((real) => key?.includes(real)))).toEqual([]);
      expect(events.filter(({ type }) => type === 'model.used').length).toBeGreaterThanOrEqual(3);
      expect(await world.remains()).toEqual(NOTHING_LEFT);
      await world.repository.git('reset', '--quiet', '--hard');
      await using merge = world.bosun('merge');
      expect((await merge.finished).code).toBe(0);
      expect(await world.repository.git('show', 'HEAD:hello.txt')).toBe('hi');
    },
  );

  it('of Codex has its own tools also where the repository lies below /tmp', async () => {
    await using world = await RealWorld.make({
      answers: [{ run: 'command -v apply_patch' }, { text: 'ok' }],
    });
    const { events, printed } = await world.run({
      tasks: { hello: { agent: 'codex', prompt: 'Say hello.' } },
    });
    expect(printed('hello')).toBe('');
    expect(JSON.stringify(events)).toMatch(/arg0[^"]*apply_patch/);
  });
});
