/**
 * What a program keeps open between requests, so that not each of them opens a journal anew: at most so many, each for as
 * long as it is used now and then. It opens nothing itself, and whoever is not within it opens and closes for itself.
 *
 *   leased ⇄ idle ──(not used for a while, too old, or no longer what its file is)──▶ closed, once nobody has it
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** More stay open only while they are in use. */
const OPEN_MAX = 64;
const IDLE_MS = 30_000;
/** A file may have been written over in place, which nothing tells. */
const AGE_MS_MAX = 60_000;

export interface Keepable {
  /** Whether it is still what is there under its name. Asked before each use, so it must be quick. */
  isCurrent(): boolean;
  close(): void;
}

interface Kept<T extends Keepable> {
  value: T;
  openedMs: number;
  usedMs: number;
  leases: number;
  /** Closed with its last lease. */
  isOver: boolean;
}

const keepers = new AsyncLocalStorage<KeptOpen>();

export class KeptOpen implements Disposable {
  readonly #kept = new Map<string, Kept<Keepable>>();
  readonly #openMax: number;
  readonly #idleMs: number;
  #sweeper: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ openMax = OPEN_MAX, idleMs = IDLE_MS }: { openMax?: number; idleMs?: number } = {}) {
    this.#openMax = openMax;
    this.#idleMs = idleMs;
  }

  /** Whatever is leased by this action, and by what it starts, is kept here. */
  within<T>(action: () => T): T {
    return keepers.run(this, action);
  }

  get count(): number {
    return this.#kept.size;
  }

  lease<T extends Keepable>(key: string, open: () => T): Leased<T> {
    if (this.#isClosed) return own(open());
    const found = this.#current<T>(key) ?? this.#add(key, open());
    found.leases += 1;
    found.usedMs = performance.now();
    let isReturned = false;
    return {
      value: found.value,
      [Symbol.dispose]: () => {
        if (isReturned) return;
        isReturned = true;
        found.leases -= 1;
        if (found.isOver && found.leases === 0) found.value.close();
      },
    };
  }

  /** What is in use is closed when it is given back. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    for (const key of this.#kept.keys()) this.#drop(key);
  }

  #current<T extends Keepable>(key: string): Kept<T> | undefined {
    const found = this.#kept.get(key);
    if (!found) return undefined;
    const isYoung = performance.now() - found.openedMs < AGE_MS_MAX;
    if (isYoung && found.value.isCurrent()) return found as Kept<T>;
    this.#drop(key);
    return undefined;
  }

  #add<T extends Keepable>(key: string, value: T): Kept<T> {
    const nowMs = performance.now();
    const kept = { value, openedMs: nowMs, usedMs: nowMs, leases: 0, isOver: false };
    this.#kept.set(key, kept);
    if (this.#kept.size > this.#openMax) this.#dropOldest(key);
    this.#sweeper ??= setInterval(() => this.#sweep(), this.#idleMs / 2).unref();
    return kept;
  }

  #dropOldest(but: string): void {
    const others = [...this.#kept].filter(([key]) => key !== but);
    const [oldest] = others.toSorted(([, a], [, b]) => a.usedMs - b.usedMs);
    if (oldest) this.#drop(oldest[0]);
  }

  #sweep(): void {
    const sinceMs = performance.now() - this.#idleMs;
    for (const [key, { leases, usedMs }] of this.#kept) if (leases === 0 && usedMs < sinceMs) this.#drop(key);
    if (this.#kept.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)!;
    this.#kept.delete(key);
    kept.isOver = true;
    if (kept.leases === 0) kept.value.close();
  }
}

export interface Leased<T> extends Disposable {
  readonly value: T;
}

/** For the time of one use; from what the program keeps open, where it does. */
export function lease<T extends Keepable>(key: string, open: () => T): Leased<T> {
  const keeper = keepers.getStore();
  return keeper ? keeper.lease(key, open) : own(open());
}

function own<T extends Keepable>(value: T): Leased<T> {
  return { value, [Symbol.dispose]: () => value.close() };
}
