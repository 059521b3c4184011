/** An engine that is killed while its agents talk: what was sent is there, and nobody gets it twice. */
import { expect, it } from 'vitest';
import type { Event } from '../../src/contract/event.ts';
import { killEverywhere } from '../fixtures/kill-everywhere.ts';

/** As the journal has it, and as the reader printed it. */
function checkMessages(events: readonly Event[], at: string): void {
  const decided = new Map<string, string>();
  const acknowledged = new Set<string>();
  const given = new Map<string, number[]>();
  let printed = '';
  let lastAttempt = 0;
  for (const event of events) {
    if (event.type === 'message.sent') expect(decided.has(event.id), `${at}: ${event.id} twice`).toBe(false);
    if (event.type === 'message.delivered' || event.type === 'message.refused') {
      expect(decided.has(event.id), `${at}: ${event.id} decided twice`).toBe(false);
      decided.set(event.id, event.type);
    }
    if (event.type === 'message.read') {
      for (const id of event.ids) {
        expect(acknowledged.has(id), `${at}: ${id} after it was acknowledged`).toBe(false);
        expect(given.get(id) ?? [], `${at}: ${id} twice to one attempt`).not.toContain(event.attempt);
        given.set(id, [...(given.get(id) ?? []), event.attempt]);
      }
      for (const id of event.acknowledged ?? []) acknowledged.add(id);
    }
    if (event.type === 'attempt.started' && event.task === 'reader') lastAttempt = event.attempt;
    if (event.type === 'attempt.output' && event.task === 'reader' && event.attempt === lastAttempt)
      printed += event.stream === 'stdout' ? event.text : '';
    if (event.type === 'task.finished' && event.task === 'reader') break; // what comes later has no reader
  }
  expect(decided.size, at).toBeGreaterThan(0);
  for (const [id, how] of decided) {
    if (how !== 'message.delivered' || acknowledged.has(id)) continue;
    const last = given.get(id)?.at(-1);
    if (last === undefined) continue; // sent after the reader had what it waits for
    expect(last, `${at}: ${id} was lost with an attempt`).toBe(lastAttempt);
    expect(printed, `${at}: ${id} was read and not given`).toContain(`${id} from writer to reader`);
  }
  expect(printed, at).toContain('| end by attempt');
}

it('loses no message and gives none twice, wherever the engine is killed', { timeout: 900_000 }, async () => {
  const reached = await killEverywhere('talk', (_, events, at) => checkMessages(events, at));
  // Each of the two messages is sent, delivered and read; who waits when depends on who is faster.
  expect(reached).toBeGreaterThanOrEqual(6);
});
