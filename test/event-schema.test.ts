/** The quick check of events and the schemas that it is made from say the same of every event and every broken one. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventProblem } from '../src/contract/check-event.ts';
import { EVENT_SCHEMAS } from '../src/contract/event-schema.ts';
import type { Event } from '../src/contract/event.ts';
import { play, workflowOf } from './fixtures/history.ts';

test('every event of random histories is one, and a broken one is seen as its schema sees it', () => {
  const shapes = fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 7 });
  const choices = fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 60 });
  const junk = fc.constantFrom<unknown>(undefined, null, 7, 'x', true, [], {}, [null], { kind: 'x' });
  let broken = 0;
  fc.assert(
    fc.property(shapes, choices, fc.infiniteStream(fc.nat(99)), junk, (shape, list, picks, value) => {
      const { events } = play(workflowOf(shape, 2, true), list, () => {});
      for (const played of events) {
        const event = JSON.parse(JSON.stringify(played)) as Event & Record<string, unknown>;
        const schema = EVENT_SCHEMAS[event.type]();
        expect(eventProblem(event, 2), JSON.stringify(event)).toBe(undefined);
        const places = placesIn(event).filter(({ of, name }) => of !== event || name !== 'type');
        const place = places[picks.next().value! % places.length];
        if (!place) continue;
        place.of[place.name] = value;
        const isOne = schema.safeParse(JSON.parse(JSON.stringify(event))).success;
        if (!isOne) broken++;
        const problem = eventProblem(JSON.parse(JSON.stringify(event)), 2);
        expect(problem === undefined, `${String(problem)} ${JSON.stringify(event)}`).toBe(isOne);
      }
    }),
    { numRuns: 300, seed: 20_261_118 },
  );
  expect(broken).toBeGreaterThan(1000);
});

/** Every field of it, also within; not of a workflow, which is only looked at from outside. */
function placesIn(value: unknown): { of: Record<string, unknown>; name: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, within]) => [
    { of: value as Record<string, unknown>, name },
    ...(name === 'workflow' || name === 'expansion' ? [] : placesIn(within)),
  ]);
}
