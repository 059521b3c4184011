/** The strip of a run: who was at work when, in few lanes. */
import { expect, it } from 'vitest';
import { newHistory, remember } from '../src/schedule/history/history.ts';
import type { State } from '../src/schedule/state.ts';
import { foldRecorded } from '../src/schedule/fold/format-2.ts';
import { stripOf } from '../src/schedule/views/strip.ts';
import { STRIP_EVENTS, stripOfEvents } from '../src/schedule/views/strip-of-events.ts';
import type { Strip } from '../src/contract/strip.ts';
import { History } from './fixtures/report.ts';

const DONE = { kind: 'done' } as const;
const FAILED = { kind: 'failed', reason: 'check', message: 'npm test failed' } as const;
const SECOND = 1000;

function stripFrom({ events }: History, barsMax = 100): Strip {
  const history = newHistory();
  let state: State | undefined;
  for (const recorded of events) {
    if (state) remember(history, state, recorded);
    state = foldRecorded(state, recorded);
  }
  const strip = stripOf(state!, history, { barsMax });
  const { createdAtMs: fromMs, endedAtMs: toMs } = state!;
  const few = events.filter(({ event }) => (STRIP_EVENTS as readonly string[]).includes(event.type));
  const quick = stripOfEvents(few, { fromMs, toMs: toMs ?? state!.lastAtMs, barsMax });
  expect(quick, 'without a fold').toEqual(strip);
  return strip;
}

/** As `task·attempt`, by lane. */
function lanesOf({ bars, lanes }: Strip): string[][] {
  return Array.from({ length: lanes }, (_, lane) =>
    bars.filter((bar) => bar.lane === lane).map(({ task, attempt }) => `${task}·${attempt}`),
  );
}

function threeTasks(): History {
  return new History('shop-1', {
    name: 'shop',
    tasks: {
      plan: { run: 'plan' },
      api: { needs: ['plan'], run: 'api', check: 'npm test', attempts: 2 },
      cart: { needs: ['plan'], run: 'cart' },
    },
  });
}

it('has a bar for each attempt, those of a task after one another in its lane, and few lanes', () => {
  const history = threeTasks();
  history
    .start('plan')
    .wait(10 * SECOND)
    .end('plan', 1, DONE, 10 * SECOND)
    .merge('plan');
  history
    .start('api')
    .start('cart')
    .wait(20 * SECOND);
  history
    .end('api', 1, FAILED, 20 * SECOND)
    .wait(SECOND)
    .start('api', 2)
    .wait(9 * SECOND);
  const strip = stripFrom(history.end('cart', 1, DONE, 29 * SECOND));
  expect(lanesOf(strip)).toEqual([['plan·1', 'api·1', 'api·2'], ['cart·1']]);
  expect(strip.bars.map(({ end }) => end)).toEqual(['done', 'failed', null, 'done']);
  expect(strip.toMs - strip.fromMs).toBe(40 * SECOND);
  expect(strip.bars[2]!.toMs).toBeNull();
  expect(strip.leftOut).toBe(0);
});

it('keeps the longest attempts where there is no room for all, and counts the others', () => {
  const tasks = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`t${n}`, { run: 'true' }]));
  const history = new History('wide-1', { name: 'wide', tasks });
  for (const name of Object.keys(tasks)) history.start(name);
  for (const name of Object.keys(tasks)) history.wait(SECOND).end(name, 1, DONE, SECOND);
  const strip = stripFrom(history, 4);
  expect(strip.leftOut).toBe(5);
  expect(strip.bars.map(({ task }) => task)).toEqual(['t5', 't6', 't7', 't8']);
  expect(strip.lanes).toBe(4);
});

it('says when a person was waited for: within an attempt, and where a task is nothing but a question', () => {
  const history = new History('ask-1', {
    name: 'ask',
    tasks: { work: { run: 'work' }, ship: { needs: ['work'], approve: 'Ship it?' } },
  });
  history.start('work').wait(5 * SECOND);
  history
    .add({
      type: 'attempt.asked',
      task: 'work',
      attempt: 1,
      id: 'work+1',
      text: 'May it?',
      default: 'no',
    })
    .add({ type: 'question.asked', task: 'work', id: 'work+1', text: 'May it?', default: 'no' })
    .wait(3 * SECOND)
    .add({ type: 'attempt.answered', task: 'work', attempt: 1, id: 'work+1', by: 'anna', answer: 'yes' })
    .wait(2 * SECOND)
    .end('work', 1, DONE, 10 * SECOND)
    .merge('work')
    .add({ type: 'question.asked', task: 'ship', id: 'ship', text: 'Ship it?', default: null })
    .wait(7 * SECOND);
  const strip = stripFrom(history);
  const [work, ship] = strip.bars.map(({ asked }) =>
    asked.map(({ fromMs, toMs }) => [fromMs - strip.fromMs, toMs === null ? null : toMs - strip.fromMs]),
  );
  expect(work).toEqual([[5 * SECOND, 8 * SECOND]]);
  expect(ship).toEqual([[10 * SECOND, null]]);
  expect(strip.bars[1]).toMatchObject({ task: 'ship', attempt: 0, end: null, lane: 0 });
});

it('has no bars and no lanes before anything began', () => {
  expect(stripFrom(threeTasks())).toMatchObject({ lanes: 0, bars: [], leftOut: 0 });
});
