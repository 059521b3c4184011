/** Under which id a webhook is told of an event of a run. */
import { createHash } from 'node:crypto';
import type { HookMoment } from '../contract/hook.ts';
import type { State } from '../schedule/state.ts';

interface Told {
  hook: string;
  moment: HookMoment;
  /** Of the event. */
  seq: number;
}

/** The same for the same event, whoever tells it: a receiver takes nothing twice. */
export function webhookId(state: State, top: string, told: Told): string {
  const { id, createdAtMs } = state;
  const of = JSON.stringify([top, id, createdAtMs, told.seq, told.moment, told.hook]);
  return `msg_${createHash('sha256').update(of).digest('hex').slice(0, 32)}`;
}
