/** What the page folds of a run: the same whichever way it came there. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event, Recorded } from '../../src/contract/event.ts';
import { countUntil } from '../../web/film/run-at.ts';
import { Moments } from '../../web/data/moments.ts';
import { RunFold } from '../../web/data/run-fold.ts';
import { play, workflowOf } from '../fixtures/history.ts';

const HISTORY = fc.record({
  shapes: fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
  stops: fc.boolean(),
  choices: fc.array(fc.nat(), { maxLength: 120 }),
});

function recorded(events: readonly Event[]): Recorded[] {
  return events.map((event, n) => ({ run: 'w-1', seq: n + 1, atMs: n, event }));
}

function foldOf(events: readonly Recorded[]): RunFold {
  const fold = new RunFold();
  for (const event of events) fold.add(event);
  return fold;
}

/** All that views are made of, as plain data. */
function shown(fold: RunFold, seq: number): unknown {
  return structuredClone([
    [...fold.tasks().values()],
    fold.run(seq),
    fold.strip(50),
    fold.report(fold.state!.state),
  ]);
}

describe('the fold of the page', () => {
  it('tells all tasks as they are when it only looks again at those that an event touched', () => {
    fc.assert(
      fc.property(HISTORY, ({ shapes, concurrency, stops, choices }) => {
        const events = recorded(play(workflowOf(shapes, concurrency, stops), choices, () => {}).events);
        const fold = new RunFold();
        for (const [n, event] of events.entries()) {
          fold.add(event);
          const tasks = [...fold.tasks().values()];
          expect(tasks).toEqual([
            ...foldOf(events.slice(0, n + 1))
              .tasks()
              .values(),
          ]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('goes on from a copy as from the beginning, and a copy stays where it was', () => {
    fc.assert(
      fc.property(HISTORY, fc.nat(), ({ shapes, concurrency, stops, choices }, somewhere) => {
        const events = recorded(play(workflowOf(shapes, concurrency, stops), choices, () => {}).events);
        const count = 1 + (somewhere % events.length);
        const fold = foldOf(events.slice(0, count));
        const [kept, copy] = [fold.copy(), fold.copy()];
        const then = shown(fold, count);
        for (const event of events.slice(count)) copy.add(event);
        const end = shown(foldOf(events), events.length);
        expect(shown(copy, events.length)).toEqual(end);
        for (const event of events.slice(count)) fold.add(event);
        expect(shown(fold, events.length)).toEqual(end);
        expect(shown(kept, count)).toEqual(then);
      }),
      { numRuns: 200 },
    );
  });
});

describe('moments of a run', () => {
  it('hold what came before them, also where the clock was set back', () => {
    const events = [10, 20, 90, 30, 40, 95].map((atMs) => ({ atMs }));
    expect([5, 10, 35, 89, 90, 94, 95].map((atMs) => countUntil(events, atMs))).toEqual([
      0, 1, 2, 2, 5, 5, 6,
    ]);
  });

  it('are as they were, whichever was looked at before', () => {
    const { events } = play(workflowOf([3, 5, 8, 1], 2, false), [1, 4, 2, 7, 3], () => {});
    const story = recorded(events);
    // As many as it takes to have copies: what an agent says changes next to nothing.
    const started = story.findIndex(({ event }) => event.type === 'attempt.started');
    const { task, attempt } = story[started]!.event as Extract<Event, { type: 'attempt.started' }>;
    const said = Array.from({ length: 25_000 }, (_, n): Event => {
      return { type: 'attempt.agent', task, attempt, event: { kind: 'text', text: `line ${n}` } };
    });
    const all = recorded([
      ...story.slice(0, started + 1).map(({ event }) => event),
      ...said,
      ...story.slice(started + 1).map(({ event }) => event),
    ]);
    const read: Recorded[] = [];
    const moments = new Moments(read);
    const live = new RunFold();
    for (const event of all) {
      live.add(event);
      read.push(event);
      moments.passed(live);
    }
    for (const count of [all.length, 3, 12_000, 12_500, 10_000, 1, 24_000, 21_000, all.length - 2])
      expect(shown(moments.at(count), count)).toEqual(shown(foldOf(all.slice(0, count)), count));
  });
});
