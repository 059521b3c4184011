/** Runs of one task tell themselves apart by what they were asked. */
import { expect, it } from 'vitest';
import { runView } from '../src/schedule/views/view.ts';
import { TinyLoop } from './fixtures/tiny-loop.ts';

it('a run of one task says how its prompt or its command begins, and others do not', () => {
  const aboutOf = (tasks: ConstructorParameters<typeof TinyLoop>[0]['tasks']): string | undefined =>
    runView(new TinyLoop({ agents: { a: { runtime: 'cli', command: 'x' } }, tasks }).state).about;
  expect(aboutOf({ t: { agent: 'a', prompt: ' Fix the\n readme. ' } })).toBe('Fix the readme.');
  expect(aboutOf({ t: { run: 'npm test' } })).toBe('npm test');
  expect(aboutOf({ t: { run: 'x'.repeat(500) } })).toHaveLength(80);
  expect(aboutOf({ t: { run: 'true' }, u: { run: 'true' } })).toBeUndefined();
});
