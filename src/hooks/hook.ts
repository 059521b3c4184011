/**
 * What every hook is, whoever wrote it: a command, a webhook, a notification, a function of a program. Implementations:
 * command-hook.ts, webhook.ts, notification.ts, function-hook.ts. Which there are and in what order is `run/hook-list.ts`.
 */
import type { BeforeAttempt, HookAnswer, HookInput, HookMoment } from '../contract/hook.ts';

export interface Hook {
  /** As events and messages call it. */
  name: string;
  /** Who it is from: the file that it is written in, or `program`. */
  from: string;
  /** What it does, in one line for people; a webhook's address without what may be secret of it. */
  what: string;
  on: readonly HookMoment[];
  timeoutMs: number;
  /** Nobody waits for it, and it waits for no other hook. */
  isApart: boolean;
  /** What it took is in the journal, and what it could not be told before the engine was killed is told later. */
  isMadeUpFor: boolean;
  /** Before an attempt. Whatever it throws is a veto. */
  ask?(input: BeforeAttempt, signal: AbortSignal): Promise<HookAnswer>;
  /** After the fact. Whatever it throws is an event. What is told again has the `id` that it had. */
  tell(input: HookInput, until: TellUntil, id?: string): Promise<void>;
}

export interface TellUntil {
  /** Aborted when it must end now. */
  signal: AbortSignal;
  /** Aborted when the engine wants to end: what failed is not tried again. */
  closing: AbortSignal;
}
