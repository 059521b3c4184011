/** Events of format 1: what they meant when they were written is what they mean today. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Event } from '../src/contract/event.ts';
import { create } from '../src/schedule/fold/fold.ts';
import { applyRecorded } from '../src/schedule/fold/format-1.ts';
import { stateHash } from './fixtures/old-history.ts';

/** Random histories that the code of November 2026 played, with the state after each event. Never made anew. */
const file = 'test/fixtures/journals/format-1-histories.json.gz';
const HISTORIES = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
  events: Event[];
  hashes: string[];
}[];

test('every event of an old journal gives the state that it gave when it was written', () => {
  for (const { events, hashes } of HISTORIES) {
    const wrong = hashesOf(events).findIndex((hash, n) => hash !== hashes[n]);
    expect(wrong < 0 ? 'none' : `${wrong}: ${JSON.stringify(events[wrong])}`).toBe('none');
  }
  const types = new Set(HISTORIES.flatMap(({ events }) => events.map(({ type }) => type)));
  expect(types).not.toContain('task.again');
});

function hashesOf([first, ...rest]: Event[]): string[] {
  if (first?.type !== 'run.created') throw new Error('a history starts with run.created');
  const state = create(first, 0);
  return [
    stateHash(state),
    ...rest.map((event, n) => {
      applyRecorded(state, { event, atMs: n + 1, format: 1 });
      return stateHash(state);
    }),
  ];
}
