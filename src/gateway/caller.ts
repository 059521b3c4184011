/** Who is behind a request, and what must be asked before it may go. Types only; the engine has the answers. */
import type { Admission, RequestEstimate } from '../contract/model.ts';

/** A provider that sends nothing, or to be sent at all: there is a rate limit, or enough others are under way. */
export type WaitedFor = 'provider' | 'turn';

export interface Caller {
  run: string;
  task: string;
  attempt: number;
  /** Resolves when the request may go, which may take hours (a person is asked); the agent meanwhile waits. */
  admit(estimate: RequestEstimate, signal: AbortSignal): Promise<Admission>;
  /** A request has waited for a while; undefined where it goes on. */
  onWait?(provider: string, waited: WaitedFor | undefined): void;
  /** Whether the provider may fetch this for the agent; nothing may be where it is absent. */
  mayReach?(url: URL): boolean;
  /** Told once of each thing that the provider may not do for the agent; the port is 0 where there is none. */
  onDenied?(denied: { host: string; port: number; why: string }): void;
}
