/** Which candidate of a race a person means. */
import { expect, it } from 'vitest';
import { readAnswer } from '../src/contract/question.ts';
import { shownCounts } from '../src/contract/run.ts';
import { runView } from '../src/schedule/views/view.ts';
import { TinyLoop } from './fixtures/tiny-loop.ts';

it('a number is the place in the list, at every door, also where a candidate failed', () => {
  const loop = new TinyLoop({
    tasks: { write: { race: 3, judge: 'person', agent: { runtime: 'codex' }, prompt: 'Write.' } },
  });
  const ended = { type: 'attempt.finished', attempt: 1, durationMs: 1 } as const;
  loop.submit({ ...ended, task: 'write.1', outcome: { kind: 'failed', reason: 'exit', message: 'no' } });
  for (const task of ['write.2', 'write.3']) loop.submit({ ...ended, task, outcome: { kind: 'done' } });
  const [question] = loop.of('question.asked');
  expect(question!.choices!.map(({ label }) => label)).toEqual([
    'candidate 2',
    'candidate 3',
    'none of them',
  ]);
  // it stands for its candidates and is in no count, but it asks
  expect(shownCounts(runView(loop.state))).toMatchObject({ asking: 1, failed: 1, done: 2 });
  const said = readAnswer(question!, '2');
  expect(said).toEqual({ answer: 'candidate 3' }); // as key 2 of the live view
  loop.submit({ type: 'question.answered', id: 'write', answer: 'candidate 3', by: 'anna' });
  expect(loop.of('task.picked')).toMatchObject([{ candidate: 'write.3', because: 'anna said so' }]);
});
