/** Each real agent writes a file in its sandbox, through the gateway, and knows no key. */
import { describe, expect, it } from 'vitest';
import { KEYS, RealWorld, SLOW_MS, type AGENTS } from '../fixtures/real-world.ts';

const HELLO = {
  answers: [
    { write: { path: 'hello.txt', content: 'hi\n' } },
    { run: 'env > seen.txt; cat /proc/*/environ >> seen.txt; find / -xdev -name "*.sock" >> seen.txt; true' },
    { text: 'all done' },
  ],
};

describe('a real agent', { timeout: SLOW_MS }, () => {
  it.each<keyof typeof AGENTS>(['claude', 'codex', 'opencode', 'claude-acp', 'gemini-acp'])(
    'writes hello.txt, which is merged, and sees no key and no provider: %s',
    async (agent) => {
      await using world = await RealWorld.make(HELLO);
      const { code, events, ended, stderr } = await world.run({ tasks: { hello: { agent, prompt: 'Say hello.' } } });
      expect([code, stderr]).toEqual([0, '']);
      expect(ended('hello')).toMatchObject({ outcome: { kind: 'done' }, output: 'all done' });
      expect(await world.merged('hello.txt')).toBe('hi');
      const seen = await world.merged('seen.txt');
      expect(seen).toContain(world.marker);
      for (const secret of [...Object.values(KEYS), world.server.url]) expect(seen).not.toContain(secret);
      expect(events.filter(({ type }) => type === 'model.used').length).toBeGreaterThanOrEqual(3);
      expect(world.filesWith()).toEqual([]);
      expect(await world.left()).toEqual([]);
    },
  );
});
