import { describe, expect, test } from 'vitest';
import { invalidTasks, messages } from './fixtures/definition.ts';

describe('races that make no sense', () => {
  test.each([
    [
      'a: { run: x, judge: { check: y } }',
      '7:16: "judge" of task "a" works only with "race"; add "race: 3" or remove it',
    ],
    [
      'a: { run: x, race: 2, continuous: { every: 1s } }',
      '7:25: "continuous" of task "a" cannot be had with "race"; remove one of them',
    ],
    [
      'a: { race: [dev, dave], prompt: x }',
      '7:20: task "a" names the agent "dave", which does not exist; add it under "agents"',
    ],
    [
      'a: { run: x, race: 2, judge: { agent: nobody } }',
      '7:41: task "a" names the agent "nobody", which does not exist; add it under "agents" or as .bosun/agents/nobody.md',
    ],
    ['a: { race: [dev, dev] }', '7:8: task "a" names agents but has no prompt; add "prompt: <what to do>"'],
    ['a: { race: 1, run: x }', '7:14: "race" of task "a" must be at least 2, but is the number 1'],
    [
      'a: { run: x, race: 2, judge: nobody }',
      '7:32: "judge" of task "a" must be person, a map with check (and best), or a map with agent (and prompt), but is "nobody"',
    ],
  ])('%s', (task, message) => expect(messages(invalidTasks(`  ${task}\n`))[0]).toContain(message));
});
