/** The check of events takes every event that the core makes, and refuses broken ones with words that name the field. */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventsPage, PAGE } from '../scripts/events.ts';
import { DECISIONS, FACTS } from '../src/report/lines/event-sentences.ts';
import { EVENT_SCHEMAS } from '../src/contract/event-schema.ts';
import { eventProblem } from '../src/contract/check-event.ts';
import type { Event } from '../src/contract/event.ts';
import { play, workflowOf } from './fixtures/history.ts';

test('every event of random histories is one, and none with a field of another kind', () => {
  const shapes = fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 7 });
  const choices = fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 60 });
  const junk = fc.constantFrom<unknown>(undefined, null, 7, 'x', true, [], {}, [null], { kind: 'x' });
  let broken = 0;
  fc.assert(
    fc.property(shapes, choices, fc.infiniteStream(fc.nat(99)), junk, (shape, list, picks, value) => {
      const { events } = play(workflowOf(shape, 2, true), list, () => {});
      for (const played of events) {
        const event = JSON.parse(JSON.stringify(played)) as Event & Record<string, unknown>;
        expect(eventProblem(event, 2), JSON.stringify(event)).toBe(undefined);
        const places = placesIn(event).filter(({ name }) => !ANY_KIND.has(name));
        const place = places[picks.next().value! % places.length];
        if (!place || kindOf(place.of[place.name]) === kindOf(value)) continue;
        if (value === undefined && (place.of !== event || !REQUIRED.has(place.name))) continue;
        place.of[place.name] = value;
        broken++;
        expect(eventProblem(event, 2), JSON.stringify(event)).toMatch(
          new RegExp(`^${event.type}: .*must be |^it has no type|unknown type`),
        );
      }
    }),
    { numRuns: 300, seed: 20_261_118 },
  );
  expect(broken).toBeGreaterThan(1000);
});

/** What others wrote may be anything, what something cost may be unknown, and nobody may have answered. */
const ANY_KIND = new Set(['output', 'value', 'body', 'items', 'usd', 'env', 'inputs', 'answer', 'default']);
const REQUIRED = new Set(['type', 'task', 'attempt', 'id', 'kind', 'outcome', 'by']);

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}

/** Only looked at from outside: they were checked when they came in. */
const OUTSIDE_ONLY = new Set([
  'workflow',
  'expansion',
  'child',
  'output',
  'value',
  'body',
  'items',
  'inputs',
  'env',
]);

/** Every field of it, also within. */
function placesIn(value: unknown): { of: Record<string, unknown>; name: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, within]) => [
    { of: value as Record<string, unknown>, name },
    ...(OUTSIDE_ONLY.has(name) ? [] : placesIn(within)),
  ]);
}

test('the page on events has each of them, with all its fields, as the schemas say', async () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(await eventsPage());
  expect(Object.keys({ ...FACTS, ...DECISIONS }).toSorted()).toEqual(Object.keys(EVENT_SCHEMAS).toSorted());
});
