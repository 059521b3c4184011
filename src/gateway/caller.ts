/** Who is behind a request, and what must be asked before it may go. Types only; the engine has the answers. */
import type { AgentErrorKind, ModelUse, Tokens } from '../contract/model.ts';

export interface Caller {
  task: string;
  attempt: number;
  /** Resolves when the request may go, which may take hours (a person is asked); the agent meanwhile waits. */
  admit(wish: Wish, signal: AbortSignal): Promise<Admission>;
}

/** The most that a request may cost, as far as can be told before it is sent. */
export interface Wish {
  provider: string;
  model: string;
  tokens: Tokens;
  /** Null where nobody knows the model's price. */
  usd: number | null;
  /** The same tool call, seen this often one right after the other at the end of the conversation. */
  loop?: { tool: string; times: number };
  /** It offers tools: so it is a turn of the agent's work, and no request on the side. */
  hasTools?: true;
}

export type Admission =
  /** To be settled exactly once; `use` is absent where nothing was answered. */
  | { isAdmitted: true; settle(use?: ModelUse): void }
  /** `budget` where no kind is given. */
  | { isAdmitted: false; message: string; kind?: AgentErrorKind };
