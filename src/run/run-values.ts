/** The large values of a run while it is driven: those to be recorded with the next events, and a few of the last read. */
import type { Event, ValueRef } from '../contract/event.ts';
import type { Json } from '../contract/workflow.ts';
import type { Store } from '../store/store.ts';
import { slim, type StoredValue } from '../store/values.ts';

/** Of values that were read; many tasks may ask for the same one. */
const CACHE_BYTES_MAX = 8 * 1024 * 1024;

export class RunValues {
  readonly #store: Store;
  readonly #run: string;
  readonly #unwritten = new Map<string, string>();
  /** The one that was longest not asked for first. */
  readonly #cache = new Map<string, { value: Json; bytes: number }>();
  #cachedBytes = 0;

  constructor(store: Store, run: string) {
    this.#store = store;
    this.#run = run;
  }

  /** The event as it is recorded. */
  slim(event: Event): Event {
    return slim(event, ({ hash, text }) => this.#unwritten.set(hash, text));
  }

  read(ref: ValueRef): Json {
    const known = this.#cache.get(ref.hash);
    this.#cache.delete(ref.hash);
    const text = this.#unwritten.get(ref.hash);
    const entry = known ?? {
      value: text === undefined ? this.#store.value(this.#run, ref) : (JSON.parse(text) as Json),
      bytes: ref.bytes,
    };
    this.#cache.set(ref.hash, entry);
    if (!known) this.#cachedBytes += ref.bytes;
    for (const [hash, { bytes }] of this.#cache) {
      if (this.#cachedBytes <= CACHE_BYTES_MAX) break;
      this.#cache.delete(hash);
      this.#cachedBytes -= bytes;
    }
    return entry.value;
  }

  get unwritten(): StoredValue[] {
    return Array.from(this.#unwritten, ([hash, text]) => ({ hash, text }));
  }

  /** The store has them now. */
  written(): void {
    this.#unwritten.clear();
  }
}
