/** An engine that is killed while one agent serves another: a service is that of an attempt at work, and is there again. */
import { expect, it } from 'vitest';
import type { Event } from '../../src/contract/event.ts';
import { killEverywhere } from '../fixtures/kill-everywhere.ts';

function check(_: unknown, events: readonly Event[], at: string): void {
  let serving: number | undefined;
  let attempt = 0;
  let visited = '';
  const served: string[] = [];
  for (const event of events) {
    if (!('task' in event)) continue;
    if (event.task === 'visit' && event.type === 'attempt.output') visited = event.text ?? '';
    if (event.task !== 'site') continue;
    if (event.type === 'attempt.started') {
      attempt = event.attempt;
      serving = undefined;
    }
    if (event.type === 'service.announced') {
      expect([serving, event.attempt], `${at}: announced twice, or by one that has ended`).toEqual([
        undefined,
        attempt,
      ]);
      serving = event.attempt;
      served.push(`of ${attempt}`);
    }
  }
  expect(serving, `${at}: the last attempt served`).toBe(attempt);
  expect(served, `${at}: who answered`).toContain(visited);
}

it('has its services again, wherever the engine is killed', { timeout: 900_000 }, async () => {
  const reached = await killEverywhere('serve', check);
  expect(reached).toBeGreaterThanOrEqual(4);
});
