/** How much may come from one side: a bucket each that fills as time goes by. It keeps a limited number of them. */

export interface RateLimit {
  /** At once, after a while without any. */
  burst: number;
  perSecond: number;
}

interface Bucket {
  left: number;
  atMs: number;
}

/** Those that have said nothing for longest are forgotten first. */
const BUCKETS_MAX = 10_000;

export class Rate {
  readonly #limit: RateLimit;
  readonly #nowMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, nowMs: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#nowMs = nowMs;
  }

  /** Takes one; gives in how many milliseconds there will be one where there is none. */
  take(from: string): number {
    const bucket = this.#bucket(from);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / this.#limit.perSecond) * 1000);
    bucket.left -= 1;
    return 0;
  }

  #bucket(from: string): Bucket {
    const { burst, perSecond } = this.#limit;
    const nowMs = this.#nowMs();
    const known = this.#buckets.get(from);
    if (known) {
      known.left = Math.min(burst, known.left + ((nowMs - known.atMs) / 1000) * perSecond);
      known.atMs = nowMs;
      this.#buckets.delete(from);
      this.#buckets.set(from, known);
      return known;
    }
    if (this.#buckets.size >= BUCKETS_MAX) this.#buckets.delete(this.#buckets.keys().next().value!);
    const bucket = { left: burst, atMs: nowMs };
    this.#buckets.set(from, bucket);
    return bucket;
  }
}
