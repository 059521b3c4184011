/**
 * The engines of one program. Runs with the same options that are at work at the same time share one: it is opened for
 * the first of them and closed after the last, since an engine that is open holds locks and what it read of the
 * configuration. A run that is recorded or replayed has an engine of its own: a cassette is of one run. It drives nothing.
 */
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { inspectRepository, type Repository } from '../system/git/repository.ts';
import { openEngine, type Engine, type EngineOptions } from './open-engine.ts';

/** An engine for one run, until it is given back. */
export interface EngineUse extends AsyncDisposable {
  engine: Engine;
  /** The repository as it is now: an engine may have been opened hours ago. */
  repository(): Promise<Repository>;
  /** The program wants no more of it: the run is to end. */
  closing: AbortSignal;
}

interface Shared {
  cwd: string;
  options: EngineOptions;
  opened: Promise<Engine>;
  uses: number;
  /** Resolves when it is closed. */
  closed: PromiseWithResolvers<void>;
}

export class EnginePool implements AsyncDisposable {
  readonly #all = new Set<Shared>();
  readonly #closing = new AbortController();

  async enter(directory: string, options: EngineOptions): Promise<EngineUse> {
    if (this.#closing.signal.aborted)
      throw new BosunError('wrong-state', 'this Bosun was closed: make a new one to start or resume runs');
    const cwd = path.resolve(directory);
    const found = [...this.#all].find((each) => each.uses > 0 && isFor(each, cwd, options));
    const shared = found ?? this.#open(cwd, options);
    shared.uses += 1;
    let engine: Engine;
    try {
      engine = await shared.opened;
    } catch (error) {
      await this.#leave(shared);
      throw error;
    }
    return {
      engine,
      repository: async () => (found ? await inspectRepository(cwd) : engine.repository),
      closing: this.#closing.signal,
      [Symbol.asyncDispose]: () => this.#leave(shared),
    };
  }

  /** Asks all runs to end, and resolves when their engines are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#all].map(({ closed }) => closed.promise));
  }

  #open(cwd: string, options: EngineOptions): Shared {
    const opened = openEngine(cwd, options);
    const shared = { cwd, options, opened, uses: 0, closed: Promise.withResolvers<void>() };
    this.#all.add(shared);
    return shared;
  }

  async #leave(shared: Shared): Promise<void> {
    shared.uses -= 1;
    if (shared.uses > 0) return;
    try {
      const engine = await shared.opened.catch(() => undefined);
      await engine?.[Symbol.asyncDispose]();
    } finally {
      this.#all.delete(shared);
      shared.closed.resolve();
    }
  }
}

function isFor({ cwd, options }: Shared, directory: string, wanted: EngineOptions): boolean {
  if (cwd !== directory || hasCassette(options) || hasCassette(wanted)) return false;
  return (
    (options.unfenced ?? false) === (wanted.unfenced ?? false) && options.configured === wanted.configured
  );
}

function hasCassette({ record, replay }: EngineOptions): boolean {
  return record !== undefined || replay !== undefined;
}
