/** Who is behind a request, and what must be asked before it may go. Types only; the engine has the answers. */
import type { Admission, Wish } from '../contract/model.ts';

export interface Caller {
  task: string;
  attempt: number;
  /** Resolves when the request may go, which may take hours (a person is asked); the agent meanwhile waits. */
  admit(wish: Wish, signal: AbortSignal): Promise<Admission>;
}
