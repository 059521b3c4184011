/**
 * Requests to models that an engine had sent when it was killed. What came of them nobody knows, but they were sent:
 * an estimate is charged for each, once.
 */
import type { Fact } from '../contract/event.ts';
import type { State } from '../schedule/state.ts';
import { eventsOf } from '../store/events.ts';
import { leftInFlight } from '../store/in-flight.ts';
import type { Store } from '../store/store.ts';
import type { SharedAccounts } from './shared-budgets.ts';

export interface LostRequests {
  /** What they are charged as. */
  facts: Fact[];
  /** A fact is in the journal: if it is one of these, their notes go. */
  heard(fact: Fact): void;
}

/** `directory` is the run's own. */
export async function lostRequests(
  state: State,
  store: Store,
  directory: string,
  shared: SharedAccounts | undefined,
): Promise<LostRequests> {
  const { sent, forget } = leftInFlight(directory);
  for (const [note, { task }] of sent) if (!state.nodes.has(task)) sent.delete(note);
  // It may have been killed when the journal had it, and the note was still there.
  if (sent.size > 0)
    for await (const { event } of eventsOf(store, state.id, { types: ['model.used'], valueBytesMax: 0 }))
      if (event.type === 'model.used' && event.note !== undefined) sent.delete(event.note);
  if (sent.size === 0) forget();
  for (const [note, { use }] of sent) shared?.settle(note, use.usd ?? 0);
  const facts = [...sent].map(([note, { use, ...of }]): Fact => ({
    type: 'model.used',
    ...of,
    ...use,
    note,
  }));
  const charged = new Set(facts);
  return { facts, heard: (fact) => void (charged.has(fact) && forget()) };
}
