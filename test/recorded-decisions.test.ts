/** What the fold does with decisions: as they are recorded, whatever `decide` would say today. */
import { expect, test } from 'vitest';
import type { Event } from '../src/contract/event.ts';
import { WorkflowFile, type WorkflowSource } from '../src/contract/workflow.ts';
import { decide } from '../src/schedule/decide/decide.ts';
import { apply, create } from '../src/schedule/fold/fold.ts';
import type { State } from '../src/schedule/state.ts';

function stateOf(tasks: WorkflowSource['tasks'], ...events: Event[]): State {
  const workflow = WorkflowFile.parse({ name: 'w', 'on-failure': 'continue', tasks });
  const state = create(
    { type: 'run.created', id: 'w-1', workflow, source: 'test', inputs: {}, base: 'c0', dirty: false },
    0,
  );
  events.forEach((event, n) => apply(state, event, n + 1));
  return state;
}

const statesOf = (state: State): string =>
  [...state.nodes.values()].map((node) => `${node.id} ${node.state}`).join(', ');

function failed(task: string): Event[] {
  const outcome = { kind: 'failed', reason: 'exit', message: 'no' } as const;
  return [
    { type: 'tasks.ready', tasks: [task] },
    { type: 'attempt.started', task, attempt: 1, purpose: 'work', from: ['c0'], prompt: 'false' },
    { type: 'attempt.finished', task, attempt: 1, outcome, durationMs: 1 },
    { type: 'task.finished', task, outcome },
  ];
}

const FINISHED: Event = { type: 'run.finished', state: 'failed' };
const RESUMED: Event = { type: 'run.resumed', by: 'test' };

test('a task waits until a decision says that it is ready', () => {
  const state = stateOf({ a: { run: 'true' }, b: { run: 'true' } });
  expect(statesOf(state)).toBe('a waiting, b waiting');
  expect(decide(state)).toEqual({ type: 'tasks.ready', tasks: ['a', 'b'] });
  apply(state, { type: 'tasks.ready', tasks: ['b'] }, 1);
  expect(statesOf(state)).toBe('a waiting, b ready');
  expect(decide(state)).toEqual({ type: 'tasks.ready', tasks: ['a'] });
});

test('one decision says of a thousand tasks that they are ready, no more', () => {
  const state = stateOf(
    Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`t${n}`, { run: 'true' }])),
  );
  const first = decide(state);
  expect(first?.type === 'tasks.ready' && first.tasks.length).toBe(1000);
  apply(state, first!, 1);
  const second = decide(state);
  expect(second?.type === 'tasks.ready' && second.tasks.length).toBe(500);
});

test('a run that is resumed opens the tasks that the decision names, and no others', () => {
  const ended = [...failed('a'), ...failed('b'), FINISHED, RESUMED];
  const state = stateOf({ a: { run: 'false' }, b: { run: 'false' } }, ...ended);
  expect(statesOf(state)).toBe('a failed, b failed');
  expect(decide(state)).toEqual({
    type: 'run.reopened',
    tasks: [{ task: 'a' }, { task: 'b' }],
    because: 'it had ended: what did not succeed is tried again',
  });
  apply(state, { type: 'run.reopened', tasks: [{ task: 'b', onTop: true }], because: 'another rule' }, 20);
  expect(statesOf(state)).toBe('a failed, b waiting');
  expect(state.nodes.get('b')).toMatchObject({ onTop: true, rounds: 0 });
  expect(state.state).toBe('running');
});

test('a run whose engine died goes on with all that had ended as it ended', () => {
  const state = stateOf({ a: { run: 'false' }, b: { run: 'true' } }, ...failed('a'), RESUMED);
  expect(decide(state)).toMatchObject({ type: 'run.reopened', tasks: [], because: /interrupted/ });
});

test('a chain of 20,000 tasks is opened again', () => {
  const names = Array.from({ length: 20_000 }, (_, n) => `t${n}`);
  const chain = names.map((name, n) => [name, { run: 'true', ...(n > 0 && { needs: [names[n - 1]!] }) }]);
  const state = stateOf(Object.fromEntries(chain) as WorkflowSource['tasks'], {
    type: 'run.cancelling',
    mode: 'graceful',
    by: 'test',
  });
  for (let next = decide(state); next; next = decide(state)) apply(state, next, 1);
  expect(state.state).toBe('cancelled');
  apply(state, RESUMED, 2);
  const again = decide(state);
  expect(again?.type === 'run.reopened' && again.tasks.length).toBe(20_000);
});

test('a budget that nobody pays stops the run where the decision says so', () => {
  const mark = { account: 'run', unit: 'usd', spent: 2, limit: 1 } as const;
  const budget = { ...mark, raiseTo: 3, isHard: true };
  const at = { task: 'a', attempt: 1, id: 'run+budget' };
  const events: Event[] = [
    ...failed('a').slice(0, 2),
    { type: 'attempt.asked', ...at, text: 'More?', default: 'no', budget },
  ];
  const answered = { type: 'attempt.answered', ...at, answer: 'no', by: 'policy' } as const;
  expect(decide(stateOf({ a: { run: 'true' } }, ...events))).toEqual({ ...answered, stops: mark });
  expect(stateOf({ a: { run: 'true' } }, ...events, answered).state).toBe('running');
  const stopped = stateOf({ a: { run: 'true' } }, ...events, { ...answered, stops: mark });
  expect(stopped).toMatchObject({ state: 'cancelling', because: 'budget', short: mark });
});
