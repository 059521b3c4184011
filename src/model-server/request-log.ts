/** The latest requests that a model server got, for tests and for people. Bounded in number and in bytes. */
import type { Dialect } from '../contract/model.ts';

export interface LoggedRequest {
  /** Counted from 1. */
  n: number;
  atMs: number;
  method: string;
  /** With its query. */
  path: string;
  /** Undefined where it is none to a model. */
  dialect: Dialect | undefined;
  model: string | undefined;
  /** How many answers of the model the conversation had. */
  turn: number | undefined;
  /** All of them: keys too, as the agent sent them. */
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
  /**
   * Which part of the script answered: `rules[0]`, `answers[2]`, `none`; `side` for what the script is not about,
   * `no-tool` where no tool that is offered can do what the script says; else what was asked for.
   */
  rule: string;
  /** 0 where none was sent. */
  status: number;
  fault: number | string | undefined;
}

const REQUESTS_MAX = 2000;
const BYTES_MAX = 64 * 1024 * 1024;

export class RequestLog {
  readonly entries: LoggedRequest[] = [];
  readonly #bytes: number[] = [];
  #bytesKept = 0;
  #seen = 0;

  add(entry: Omit<LoggedRequest, 'n'>, bodyBytes: number): LoggedRequest {
    const logged = { n: ++this.#seen, ...entry };
    this.entries.push(logged);
    this.#bytes.push(bodyBytes);
    this.#bytesKept += bodyBytes;
    while (this.entries.length > REQUESTS_MAX || (this.#bytesKept > BYTES_MAX && this.entries.length > 1)) {
      this.entries.shift();
      this.#bytesKept -= this.#bytes.shift()!;
    }
    return logged;
  }
}
