/** What agents say and do, and what models cost, as every part of bosun speaks of it. */
import type { Json } from './workflow.ts';

/** Why an agent, or the model behind it, could not go on. */
export type AgentErrorKind =
  | 'auth' // the key or the login is not accepted
  | 'rate-limit' // refused for longer than we are patient
  | 'overloaded' // the provider fails on its side
  | 'bad-request'
  | 'context-full' // the conversation is longer than the model takes
  | 'network' // the provider cannot be reached, or breaks off
  | 'timeout' // it says nothing any more
  | 'budget' // the money is spent
  | 'refused' // the model, or a person who was asked, will not do it
  | 'crashed'; // the agent's program failed

export interface AgentError {
  kind: AgentErrorKind;
  /** For people; holds no key. */
  message: string;
  /** What the model's server answered. */
  status?: number;
}

/** `input` is without what was read from or written to a cache. */
export interface Tokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export const NO_TOKENS: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Whatever they cost. */
export function tokensInAll({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

/** What went over the wire for somebody: an attempt, a task, an agent, a run. */
export interface Spending {
  requests: number;
  tokens: Tokens;
  usd: number;
  /** Requests to models whose price nobody knows; their dollars are not in `usd`. */
  unpriced: number;
  /** Requests whose usage the provider never reported: their part of the figures is an estimate. */
  estimated?: number;
}

/** What every runtime tells of its agent while it works; texts are cut to what a journal can hold. */
export type AgentEvent =
  | { kind: 'started'; session?: string; model?: string; forgets?: true }
  | { kind: 'text'; text: string }
  | { kind: 'tool-call'; id: string; name: string; input: string }
  | { kind: 'tool-result'; id: string; isError: boolean; text: string }
  | { kind: 'file-changed'; path: string }
  /** It asked a person: may it do something, which way to go. Null: nobody answered. */
  | { kind: 'asked'; id: string; text: string; answer: string | null }
  /** What the runtime itself claims, up to now, in this attempt. */
  | { kind: 'usage'; tokens: Tokens; usd?: number }
  | { kind: 'error'; error: AgentError }
  | { kind: 'finished'; turns: number; toolCalls: number };

/** One request to a model that was answered, as the gateway metered it. */
export interface ModelUse {
  provider: string;
  model: string;
  tokens: Tokens;
  /** Null where nobody knows the model's price. */
  usd: number | null;
  /** The agent's own login paid, not a key of ours: `usd` is what a key would have cost. */
  ownLogin?: true;
  /** A cassette answered: nobody paid, `usd` is what it cost when it was recorded. */
  replayed?: true;
  /**
   * The provider did not report all of the usage (the agent hung up, the stream was cut), or more than is possible:
   * these are estimates.
   */
  estimated?: true;
}

/** What a request has used, as it is settled. */
export interface SettledUse extends ModelUse {
  /** What the provider reported, where that is more than the request can have used: `tokens` are what is possible. */
  overstated?: Tokens;
}

/** What a request may cost, as far as can be told before it is sent. */
export interface RequestEstimate {
  provider: string;
  model: string;
  /** Input as expected; output at its maximum. */
  tokens: Tokens;
  /** The worst case: the most tokens that the input can be, and all the output that is allowed. */
  tokensMax: number;
  /** What the worst case costs, at the highest price; null where nobody knows the model's price. */
  usd: number | null;
  /** It also refers to input that the provider has stored, so nobody can tell how much that is. */
  isUnbounded?: true;
  /** It sets no limit to the output: `tokens.output` is the most that the model is taken to write. */
  isOutputOpen?: true;
  /** The same tool call, seen this often one right after the other at the end of the conversation. */
  loop?: { tool: string; times: number };
  /** It offers tools: so it is a turn of the agent's work, and no request on the side. */
  hasTools?: true;
}

export type Admission =
  | {
      isAdmitted: true;
      /** Exactly once; `use` is absent where nothing was answered. */
      settle(use?: SettledUse): void;
      /**
       * Nothing is sent for now: what was reserved is for others. What it gives reserves it again; where that is false
       * there is no money left, and the request has to be admitted anew.
       */
      pause?(): () => boolean;
    }
  /** `budget` where no kind is given. */
  | { isAdmitted: false; message: string; kind?: AgentErrorKind };

/** A tool server that an agent may use. */
export type McpServer =
  | { command: string; args?: string[] | undefined; env?: Record<string, string> | undefined }
  | { url: string; headers?: Record<string, string> | undefined };

/** What our own tool server is called: no server of a workflow can have the name. */
export const OUR_TOOLS = 'bosun';

/** What a provider speaks; `openai` has chat completions and responses. */
export type Dialect = 'anthropic' | 'openai' | 'gemini';

export type JsonSchema = Record<string, Json>;
