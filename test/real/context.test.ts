/** Real agents whose conversation grows too long for their model: those that make no room themselves go on in a new one. */
import { expect, it } from 'vitest';
import { NOTHING_LEFT, RealWorld, SLOW_MS } from '../fixtures/real-world.ts';

const NAMES = ['codex', 'opencode', 'gemini-acp'] as const;

it('an agent goes on with its task and its files, told what came before', { timeout: SLOW_MS }, async () => {
  await using world = await RealWorld.make({
    rules: [
      ...NAMES.map((name) => ({
        when: { conversation: `I call you ${name}.`, turn: 2 },
        fault: 'too-long' as const,
        times: 1,
      })),
      {
        when: { conversation: 'so this is a new one' },
        answers: [{ run: 'cat "$BOSUN_TASK-one.txt" > "$BOSUN_TASK-two.txt"' }, { text: 'all done' }],
      },
    ],
    answers: [
      { text: 'I begin.', run: 'echo one > "$BOSUN_TASK-one.txt"' },
      { run: 'echo more >> "$BOSUN_TASK-one.txt"' },
      { text: 'all done' },
    ],
  });
  const tasks = NAMES.map((name) => [name, { agent: name, prompt: `I call you ${name}. Go step by step.` }]);
  const told = await world.run({ tasks: Object.fromEntries(tasks) as Record<string, object> });
  expect(NAMES.map((name) => [name, told.ended(name).outcome.kind])).toEqual(
    NAMES.map((name) => [name, 'done']),
  );
  const recaps = told.events.flatMap((event) =>
    event.type === 'attempt.started' && event.recap !== undefined
      ? [{ task: event.task, recap: event.recap }]
      : [],
  );
  // OpenCode sums up its conversation by itself.
  expect(new Set(recaps.map(({ task }) => task))).toEqual(new Set(['codex', 'gemini-acp']));
  for (const { recap } of recaps) expect(recap).toMatch(/-one\.txt[^]*- said: I begin\./);
  for (const name of ['codex', 'gemini-acp']) expect(await world.merged(`${name}-two.txt`)).toBe('one\nmore');
  expect(await world.remains()).toEqual(NOTHING_LEFT);
});
