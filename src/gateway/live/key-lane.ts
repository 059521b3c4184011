/**
 * When requests with one upstream key may go: how many at once, whose turn it is, and not before the provider wants
 * any. Shared by all agents that use the key; of a pause other engines are told, too. It sends nothing itself.
 *
 *   enter ──▶ waiting ──(a place is free, no pause)──▶ going ──▶ succeeded │ refused │ left
 *                ▲                                                │
 *                └───────────── enter again, at its old place ────┘
 *
 * A refusal (429) pauses the whole key, and halves how many may go at once; each success raises that a little.
 */
import type { KeyPauses } from '../../store/machine/pauses.ts';
import { TransportError } from '../transport.ts';

export interface KeyLaneOptions {
  /** As messages call it. */
  provider: string;
  concurrencyMax: number;
  /** How long a request is held for rate limits. */
  patienceMs: number;
  onPause?: (pause: { untilMs: number; why: string; tasks: Waiter[] }) => void;
  /** What other engines with the same key are told, and tell. */
  pauses?: KeyPauses | undefined;
  nowMs?: () => number;
  /** From 0 to 1. */
  random?: () => number;
}

/** Whose a request is. */
export interface Waiter {
  run: string;
  task: string;
}

/** One request, through all of its tries. */
export interface Turn extends Waiter {
  signal: AbortSignal;
  /** Its place in the row of its task. */
  order?: number;
  /** Since when it has been held for rate limits. */
  limitedSinceMs?: number;
  /** Times that it was sent, and refused. */
  refusals?: number;
}

interface Waiting {
  turn: Turn;
  go: () => void;
  fail: (error: Error) => void;
}

const LANE_LIMITS = {
  waitingMax: 4096,
  /** How long it takes until people are told of a pause. */
  tellMs: 20,
  /** That are named to people. */
  toldTasksMax: 20,
  /** The first wait where a provider does not say how long. */
  backoffMs: 1000,
  backoffMsMax: 60_000,
  /** After a pause requests go one by one, up to so far apart. */
  spreadMs: 50,
  /** Engines that only heard of a pause come back up to so much later than the one that was refused. */
  othersSpreadMs: 500,
};

export class KeyLane implements Disposable {
  readonly #options: Required<Omit<KeyLaneOptions, 'pauses'>> & Pick<KeyLaneOptions, 'pauses'>;
  /** Whose turn it is comes first; a task that was served goes to the end. */
  readonly #tasks = new Map<string, Waiting[]>();
  #waiting = 0;
  #going = 0;
  #orders = 0;
  /** How many may go at once; a fraction counts when it has become a whole. */
  #width: number;
  #pausedUntilMs = 0;
  #pausedAtMs = 0;
  /** Of the last pause that other engines know of. */
  #heardUntilMs = 0;
  /** Pauses since the last success. */
  #pauses = 0;
  #lastSuccessMs = 0;
  /** Requests that still have to go one by one. */
  #spread = 0;
  #nextMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #telling: NodeJS.Timeout | undefined;

  constructor(options: KeyLaneOptions) {
    this.#options = { onPause: () => {}, nowMs: Date.now, random: Math.random, ...options };
    this.#width = options.concurrencyMax;
  }

  /** Resolves when the request may go; then it must `leave`. Throws a TransportError where it never may. */
  enter(turn: Turn): Promise<void> | undefined {
    turn.order ??= ++this.#orders;
    if (turn.signal.aborted) throw hungUp(turn.signal);
    this.#hear();
    if (this.#waiting === 0 && this.#going < Math.floor(this.#width) && this.#delayMs() <= 0) {
      this.#going++;
      return undefined;
    }
    if (this.#waiting >= LANE_LIMITS.waitingMax)
      throw new TransportError(
        'overloaded',
        503,
        `${LANE_LIMITS.waitingMax} requests already wait for ${this.#options.provider}; run fewer agents at once, or raise providers.${this.#options.provider}.concurrency`,
      );
    const objection = this.#objectionTo(turn);
    if (objection) throw objection;
    return this.#wait(turn);
  }

  leave(): void {
    this.#going--;
    this.#pump();
  }

  /** The provider answered well. */
  succeeded(): void {
    this.#pauses = 0;
    this.#lastSuccessMs = this.#options.nowMs();
    this.#width = Math.min(this.#options.concurrencyMax, this.#width + 1 / this.#width);
  }

  /**
   * The provider wants no requests with this key for a while; `sentMs` is when the refused one was sent. Gives what
   * the request fails with where that is longer than we are patient.
   */
  refused(turn: Turn, sentMs: number, hintMs: number | undefined, why: string): TransportError | undefined {
    const now = this.#options.nowMs();
    // Those that were under way together are refused together: that is one refusal.
    const isNew = sentMs >= this.#pausedAtMs;
    if (isNew) {
      this.#pauses++;
      this.#width = Math.max(1, Math.min(this.#width, this.#going) / 2);
      this.#pausedAtMs = now;
    }
    turn.limitedSinceMs ??= now;
    turn.refusals = (turn.refusals ?? 0) + 1;
    const times = Math.max(this.#pauses, turn.refusals);
    if (hintMs === undefined && (isNew || this.#pausedUntilMs <= now))
      this.#pause(now + backoffMs(times - 1, this.#options.random), why);
    // What was waited for as asked, and is refused again, waits longer: "retry-after: 0" for ever would never end.
    const leastMs = times > 1 ? backoffMs(times - 2, this.#options.random) : 0;
    if (hintMs !== undefined) this.#pause(now + Math.max(hintMs, isNew ? leastMs : 0), why);
    return this.#objectionTo(turn);
  }

  get isIdle(): boolean {
    return this.#going === 0 && this.#waiting === 0 && this.#delayMs() <= 0;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#telling);
    const error = new TransportError('network', 503, 'the gateway was closed while the request waited');
    for (const { fail } of [...this.#tasks.values()].flat()) fail(error);
  }

  /** Another engine may have been refused. */
  #hear(): void {
    const heard = this.#options.pauses?.heard();
    if (heard === undefined || heard.untilMs <= this.#heardUntilMs) return;
    this.#heardUntilMs = heard.untilMs;
    if (heard.untilMs <= this.#pausedUntilMs) return;
    this.#pausedAtMs = this.#options.nowMs(); // what we have under way is refused for the same reason
    this.#stopUntil(heard.untilMs + this.#options.random() * LANE_LIMITS.othersSpreadMs, heard.why);
  }

  #pause(untilMs: number, why: string): void {
    if (untilMs <= this.#pausedUntilMs) return;
    this.#heardUntilMs = Math.max(this.#heardUntilMs, Math.ceil(untilMs));
    this.#options.pauses?.tell({ untilMs, why });
    this.#stopUntil(untilMs, why);
  }

  #stopUntil(untilMs: number, why: string): void {
    this.#pausedUntilMs = untilMs;
    // A moment later, when all that were refused together wait here.
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      const rows = [...this.#tasks].toSorted(([a], [b]) => (a < b ? -1 : 1));
      const tasks = rows
        .slice(0, LANE_LIMITS.toldTasksMax)
        .map(([, [first]]) => ({ run: first!.turn.run, task: first!.turn.task }));
      this.#options.onPause({ untilMs: this.#pausedUntilMs, why, tasks });
    }, LANE_LIMITS.tellMs);
    for (const { turn, fail } of [...this.#tasks.values()].flat()) {
      const objection = this.#objectionTo(turn);
      if (objection) fail(objection);
    }
    this.#pump();
  }

  /** Where the pause is longer than this request is patient: it need not wait to learn that. */
  #objectionTo(turn: Turn): TransportError | undefined {
    const now = this.#options.nowMs();
    if (this.#pausedUntilMs <= now) return undefined;
    turn.limitedSinceMs ??= now;
    // One that only waits for its turn is patient as long as others get on.
    const since = turn.refusals ? turn.limitedSinceMs : Math.max(turn.limitedSinceMs, this.#lastSuccessMs);
    if (this.#pausedUntilMs <= since + this.#options.patienceMs) return undefined;
    const { provider } = this.#options;
    const until = new Date(this.#pausedUntilMs).toISOString();
    return new TransportError(
      'rate-limit',
      429,
      `${provider} limits the rate of this key until ${until}, which is longer than a request is held; run fewer agents at once, or raise providers.${provider}.patience`,
    );
  }

  #wait(turn: Turn): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { signal } = turn;
    const task = `${turn.run} ${turn.task}`;
    const remove = (): void => {
      signal.removeEventListener('abort', abort);
      const row = this.#tasks.get(task)!;
      row.splice(row.indexOf(waiting), 1);
      if (row.length === 0) this.#tasks.delete(task);
      this.#waiting--;
    };
    const waiting: Waiting = {
      turn,
      go: () => (remove(), resolve()),
      fail: (error) => (remove(), reject(error)),
    };
    const abort = (): void => waiting.fail(hungUp(signal));
    signal.addEventListener('abort', abort, { once: true });
    const row = this.#tasks.get(task) ?? [];
    this.#tasks.set(task, row);
    const at = row.findIndex((other) => other.turn.order! > turn.order!);
    row.splice(at === -1 ? row.length : at, 0, waiting);
    this.#waiting++;
    this.#pump();
    return promise;
  }

  #pump(): void {
    clearTimeout(this.#timer);
    if (this.#waiting > 0) this.#hear();
    if (this.#pausedUntilMs > this.#options.nowMs()) this.#spread = this.#waiting;
    while (this.#waiting > 0 && this.#going < Math.floor(this.#width)) {
      const delayMs = this.#delayMs();
      if (delayMs > 0) {
        this.#timer = setTimeout(() => this.#pump(), delayMs);
        return;
      }
      const [task, row] = this.#tasks.entries().next().value!;
      row[0]!.go();
      this.#going++;
      if (this.#tasks.delete(task) && row.length > 0) this.#tasks.set(task, row);
      if (this.#spread > 0) {
        this.#spread--;
        this.#nextMs = this.#options.nowMs() + this.#options.random() * LANE_LIMITS.spreadMs;
      }
    }
  }

  /** How long nobody may go. */
  #delayMs(): number {
    return Math.ceil(Math.max(this.#pausedUntilMs, this.#nextMs) - this.#options.nowMs());
  }
}

/** Doubles with each try; a random half of it, so that not all come back at once. */
export function backoffMs(tries: number, random: () => number): number {
  const { backoffMs: first, backoffMsMax } = LANE_LIMITS;
  return Math.min(backoffMsMax, first * 2 ** Math.min(tries, 20)) * (0.5 + random() / 2);
}

export function hungUp(signal: AbortSignal): TransportError {
  return new TransportError('network', 499, 'the agent hung up before there was an answer', signal.reason);
}
