/** Notices an agent that makes the same tool call again and again, and asks a person whether it may go on. */
import type { RequestEstimate } from '../contract/model.ts';
import type { Node } from '../schedule/state.ts';
import type { AskDesk } from './ask-desk.ts';

/** The same tool call this often in a row, and again after as many more, is asked about. */
const LOOP_TIMES = 10;
/** Where nobody answers, the request is refused. */
const ASK_MS = 15 * 60_000;

export class ToolLoops {
  readonly #desk: AskDesk;
  /** By attempt: from how many times on it is asked about. */
  readonly #next = new Map<string, number>();

  constructor(desk: AskDesk) {
    this.#desk = desk;
  }

  /** Gives why the request must not go, if so. */
  async check(node: Node, attempt: number, { loop }: RequestEstimate): Promise<string | undefined> {
    const key = `${node.id}@${attempt}`;
    if (loop === undefined || loop.times < (this.#next.get(key) ?? LOOP_TIMES)) return undefined;
    this.#next.set(key, loop.times + LOOP_TIMES);
    const { answer } = await this.#desk.ask(node.id, attempt, {
      id: `${node.id}+loop`,
      text: `It has called ${loop.tool} with the same input ${loop.times} times in a row. Let it go on?`,
      default: 'no',
      timeoutMs: ASK_MS,
    });
    return answer === 'yes'
      ? undefined
      : `it went round in circles: ${loop.tool} with the same input ${loop.times} times`;
  }
}
