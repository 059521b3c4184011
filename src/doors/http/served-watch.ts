/**
 * Tells when the repositories that are served change, and when somebody has written in the journal of one of them, be it
 * a command line or an engine. It goes by the system's word on files, and reads none of them.
 */
import path from 'node:path';
import type { ServedRepository } from '../../contract/serving-schema.ts';
import { findHome } from '../../store/home.ts';
import { JournalLooks, type LookTimes } from '../../store/journal-looks.ts';
import type { Access } from './access.ts';

/** Now and then in any case: a directory may be another one by then. Where the system says nothing of files: often. */
const TIMES: LookTimes = { lookMs: 50, idleMs: 30_000, blindMs: 2000 };

interface Listener {
  onServed(repositories: readonly ServedRepository[]): void;
  /** Resolves when it may be told of the next. */
  onWritten(directory: string): Promise<void>;
}

export class ServedWatch implements AsyncDisposable {
  readonly #access: Access;
  readonly #listener: Listener;
  readonly #stop = new AbortController();
  readonly #watched = new Map<string, AbortController>();
  readonly #running = new Set<Promise<void>>();
  #names = '';

  /** `records` is the file in which it says what is served. */
  constructor(access: Access, records: string, listener: Listener) {
    this.#access = access;
    this.#listener = listener;
    this.#follow();
    this.#run(() =>
      this.#watch(
        () => records,
        this.#stop.signal,
        async () => this.#follow(),
      ),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  #follow(): void {
    const repositories = this.#access.repositories();
    const names = JSON.stringify(repositories);
    if (names === this.#names) return;
    this.#names = names;
    const directories = new Set(repositories.map(({ directory }) => directory));
    for (const [directory, watched] of this.#watched) if (!directories.has(directory)) watched.abort();
    for (const directory of directories) if (!this.#watched.has(directory)) this.#begin(directory);
    this.#listener.onServed(repositories);
  }

  #begin(directory: string): void {
    const over = new AbortController();
    this.#watched.set(directory, over);
    const signal = AbortSignal.any([over.signal, this.#stop.signal]);
    const journal = (): string => findHome(directory)?.journal ?? path.join(directory, 'journal.db');
    this.#run(async () => {
      await this.#watch(journal, signal, () => this.#listener.onWritten(directory));
      if (this.#watched.get(directory) === over) this.#watched.delete(directory);
    });
  }

  /** At the beginning, after each change, and now and then. */
  async #watch(file: () => string, signal: AbortSignal, look: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      using looks = new JournalLooks(file(), signal, TIMES);
      do {
        await look().catch(() => {}); // it may be gone, and who asks for something of it is told
        await looks.next();
      } while (!looks.isDue && !signal.aborted);
    }
  }

  #run(action: () => Promise<void>): void {
    const running = action().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
