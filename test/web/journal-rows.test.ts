/** The rows of the journal tab and of a task's log that nobody is told of elsewhere, and the marks of the film. */
import { expect, it } from 'vitest';
import type { Event, Recorded } from '../../src/contract/event.ts';
import { ticksOf } from '../../web/film/ticks.ts';
import { journalRows } from '../../web/run/views/journal/journal-rows.ts';
import { LogEvents } from '../../web/task/log/log-events.ts';
import { LogItems } from '../../web/task/log/log-items.ts';

const recorded = (...events: Event[]): Recorded[] =>
  events.map((event, n) => ({ run: 'flow-1', seq: n + 1, atMs: n, event }));

it('say what happened, not what such an event is', () => {
  const of = { type: 'attempt.agent', task: 'one', attempt: 1 } as const;
  const events = recorded(
    { ...of, event: { kind: 'started', model: 'small' } },
    { ...of, event: { kind: 'tool-result', id: '1', isError: false, text: 'two\nlines' } },
    { ...of, event: { kind: 'finished', turns: 1, toolCalls: 2 } },
  );
  expect(journalRows({ events }).map(({ text }) => text)).toEqual([
    'its program runs with small',
    'got: two lines',
    'says that it is done: 1 turn, 2 tool calls',
  ]);
});

it('call no question answered that nobody answered', () => {
  const items = new LogItems();
  const log = new LogEvents(items);
  const events = recorded({ type: 'question.answered', id: 'one.ask', answer: null, by: 'left' });
  log.add({ events }, 0);
  items.settle();
  expect(items.items.map((item) => 'text' in item && item.text)).toEqual([
    'no longer asked, since whoever asked hung up',
  ]);
});

it('keeps words away from the end of the film, where its handle stands', () => {
  const labels = ticksOf(270_000, 1300).map(({ label }) => label);
  expect(labels.slice(-3)).toEqual(['4m', '4m15s', '']);
});
