/** Where attempts publish: what is refused, what is new, and how often. */
import { expect, it } from 'vitest';
import type { AttemptCrew } from '../src/attempt/attempt.ts';
import { driveAttempts } from './fixtures/drive-attempts.ts';

const two = { tasks: { one: { run: 'true', publishes: ['x'] }, two: { run: 'true' } } };
/** Of a task that works on no files. */
const none = async (): Promise<undefined> => undefined;

async function publish(crew: AttemptCrew | undefined, value: unknown, name = 'x'): Promise<string> {
  try {
    const { version, isNew } = await crew!.publish({ name, value: value as string }, none);
    return `${version}${isNew ? '' : ' again'}`;
  } catch (error) {
    return (error as Error).message;
  }
}

it('counts versions up to a limit, and says that nothing is new where nothing is', async () => {
  const events = await driveAttempts(two, {
    one: async ({ crew }) => {
      expect(await publish(crew, 'a')).toBe('1');
      expect(await publish(crew, 'a')).toBe('1 again');
      const together = await Promise.all([publish(crew, 'b'), publish(crew, 'c'), publish(crew, 'c')]);
      expect(together).toEqual(['2', '3', '3 again']);
      for (let n = 4; n <= 100; n++) expect(await publish(crew, n)).toBe(`${n}`);
      expect(await publish(crew, 'more')).toBe('one has published 100 times: that is the limit');
    },
    two: async ({ crew }) => {
      expect(await publish(crew, 'a')).toMatch(/^two cannot publish "x": it announces nothing/);
    },
  });
  const made = events.filter(({ type }) => type === 'publication.made');
  expect(made).toHaveLength(100);
});

it('takes no value that is too large, no other name, and not for ever', async () => {
  await driveAttempts(two, {
    one: async ({ crew }) => {
      expect(await publish(crew, 'x'.repeat(70_000))).toMatch(
        /^the value has 70002 bytes, and 65536 is the most/,
      );
      expect(await publish(crew, 'a', 'y'.repeat(1000))).toMatch(
        /^one cannot publish "y{100}": it announces x/,
      );
      for (let n = 0; n < 999; n++) await publish(crew, 'a');
      expect(await publish(crew, 'a')).toBe(
        'you have published 1000 times: that is the limit; continue without',
      );
    },
    two: none,
  });
});
