/**
 * All that is known of a run in this tab: its events, read from the server and then as they come, folded into what views
 * show. One for each run, however many views look at it.
 *
 *   loading ──▶ open ──(events come)──▶ open
 *      └──▶ problem ──(again)──▶ loading
 */
import type { Event, Recorded } from '../../src/contract/event.ts';
import type { ShownRunState } from '../../src/contract/run.ts';
import type { Strip } from '../../src/contract/strip.ts';
import { countUntil, type RunAt } from '../film/run-at.ts';
import { ask, BrokenOff, linesOf, Problem, request, runPath } from './api.ts';
import { Moments } from './moments.ts';
import { RunFold } from './run-fold.ts';
import { onEvents, onStanding, type Streamed } from './stream.ts';
import type { OpenedRun } from './use-run.ts';

const FILM_BARS_MAX = 400;
/** How often the server is asked whether somebody drives a run of which nothing is heard. */
const LOOK_MS = 10_000;
/** There are many of them, and no bar of the film changes with them. */
const OFF_FILM: ReadonlySet<Event['type']> = new Set(['attempt.agent', 'attempt.progress', 'model.used']);
/** After a reading that failed. */
const AGAIN_MS = 1000;
const LOADING: OpenedRun = { state: 'loading' };

const stores = new Map<string, RunStore>();

export function openRun(repository: string, run: string): RunStore {
  const key = `${repository}/${run}`;
  let store = stores.get(key);
  if (!store) {
    const isKept = (isHeld: boolean): void => void (isHeld ? stores.set(key, store!) : stores.delete(key));
    store = new RunStore(repository, run, isKept);
    isKept(true);
  }
  return store;
}

class RunStore {
  readonly #repository: string;
  readonly #run: string;
  readonly #keep: (isHeld: boolean) => void;
  readonly #listeners = new Set<() => void>();
  #holders = 0;
  #stop: AbortController | undefined;
  #problem: Extract<OpenedRun, { state: 'problem' }> | undefined;

  readonly #events: Recorded[] = [];
  readonly #moments = new Moments(this.#events);
  readonly #spent: { atMs: number; usd: number }[] = [];
  #waiting: Recorded[] | undefined = [];
  #readings = 0;
  #reading: Promise<void> = Promise.resolve();
  #heardAtMs = 0;
  #isDriven = true;
  #live = new RunFold();
  #now: OpenedRun = LOADING;
  #then: { atMs: number; of: OpenedRun; made: OpenedRun } | undefined;
  #strip: Strip | undefined;

  constructor(repository: string, run: string, keep: (isHeld: boolean) => void) {
    this.#repository = repository;
    this.#run = run;
    this.#keep = keep;
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Read for as long as somebody holds it. */
  hold(): () => void {
    this.#holders++;
    if (!this.#stop) {
      this.#keep(true);
      this.#open();
    }
    return () => {
      if (--this.#holders > 0) return;
      setTimeout(() => {
        if (this.#holders > 0) return;
        this.#stop?.abort();
        this.#stop = undefined;
        this.#keep(false);
      });
    };
  }

  /** The same object for as long as nothing changes. */
  at(atMs: number | null): OpenedRun {
    if (this.#problem) return this.#problem;
    const now = this.#now;
    if (now.state !== 'open' || atMs === null) return now;
    if (this.#then?.atMs !== atMs || this.#then.of !== now)
      this.#then = { atMs, of: now, made: { state: 'open', at: this.#wound(atMs) } };
    return this.#then.made;
  }

  strip(): Strip | undefined {
    if (this.#now.state !== 'open') return undefined;
    return (this.#strip ??= this.#live.strip(FILM_BARS_MAX));
  }

  #open(): void {
    const stop = (this.#stop = new AbortController());
    this.#problem = undefined;
    this.#waiting = [];
    const leave = onEvents(this.#repository, (events) => this.#heard(events));
    stop.signal.addEventListener('abort', leave);
    this.#readOn(stop);
    // What was told before the stream stood here may not be all there was.
    const unstand = onStanding(this.#repository, () => this.#readOn(stop));
    stop.signal.addEventListener('abort', unstand);
    const looking = setInterval(() => void this.#look(), LOOK_MS);
    stop.signal.addEventListener('abort', () => clearInterval(looking));
  }

  /** One reading after another; what the stream tells meanwhile waits for the last of them. */
  #readOn(stop: AbortController): void {
    this.#waiting ??= [];
    this.#readings += 1;
    this.#reading = this.#reading
      .then(() => this.#read(stop.signal))
      .then(() => this.#catchUp())
      .catch((error: unknown) => this.#failed(stop, error));
  }

  #failed(stop: AbortController, error: unknown): void {
    this.#readings -= 1;
    if (stop.signal.aborted) return;
    if (this.#now.state === 'open' && mayPass(error)) {
      // What is shown stays; what the stream tells waits until the rest has been read.
      this.#readings += 1;
      setTimeout(() => {
        this.#readings -= 1;
        if (!stop.signal.aborted) this.#readOn(stop);
      }, AGAIN_MS);
      return;
    }
    stop.abort();
    const problem =
      error instanceof Problem
        ? error
        : new Problem(0, 'system', `the page could not read the run: ${String(error)}`);
    this.#problem = { state: 'problem', problem, again: () => this.#again() };
    this.#changed();
  }

  #again(): void {
    this.#problem = undefined;
    this.#open();
    this.#changed();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const path = `${runPath(this.#repository, this.#run)}/log`;
    const query = { afterSeq: this.#events.at(-1)?.seq ?? 0, withoutOutput: true };
    const log = await request(path, { query, signal });
    for await (const lines of linesOf(log)) this.#add(lines.map((line) => JSON.parse(line) as Recorded));
    await this.#look();
  }

  #catchUp(): void {
    this.#readings -= 1;
    if (this.#readings === 0) {
      this.#add(this.#waiting ?? []);
      this.#waiting = undefined;
    }
    this.#refresh();
  }

  #heard(events: readonly Streamed[]): void {
    const own = events.filter(({ run }) => run === this.#run);
    if (own.length === 0) return;
    if (this.#waiting) return void this.#waiting.push(...own);
    this.#heardAtMs = Date.now();
    this.#isDriven = true;
    try {
      this.#add(own);
      this.#refresh();
    } catch (error) {
      this.#readings += 1;
      this.#failed(this.#stop!, error); // an event of a newer server
    }
  }

  #add(events: readonly Recorded[]): void {
    for (const recorded of events) {
      if (recorded.seq <= (this.#events.at(-1)?.seq ?? 0)) continue;
      const { event, atMs } = recorded;
      this.#live.add(recorded);
      this.#events.push(recorded);
      this.#moments.passed(this.#live);
      if (!OFF_FILM.has(event.type)) this.#strip = undefined;
      if (event.type === 'model.used' && event.usd !== null && event.replayed === undefined)
        this.#spent.push({ atMs, usd: (this.#spent.at(-1)?.usd ?? 0) + event.usd });
    }
  }

  /** Whether somebody drives it is in no journal. */
  async #look(): Promise<void> {
    if (!this.#live.state || this.#live.state.endedAtMs !== undefined) return;
    if (Date.now() - this.#heardAtMs < LOOK_MS) return;
    const path = runPath(this.#repository, this.#run);
    const asked = { query: { limit: 1 }, ...(this.#stop && { signal: this.#stop.signal }) };
    const status = await ask<{ run: { state: ShownRunState } }>(path, asked).catch(() => undefined);
    if (!status || this.#isDriven === (status.run.state !== 'interrupted')) return;
    this.#isDriven = !this.#isDriven;
    if (!this.#waiting) this.#refresh();
  }

  #refresh(): void {
    if (!this.#live.state) return;
    this.#now = { state: 'open', at: this.#show(this.#live, this.#events.length, null) };
    this.#changed();
  }

  #wound(atMs: number): RunAt {
    const count = Math.max(1, countUntil(this.#events, atMs)); // the first of all always has happened
    return this.#show(this.#moments.at(count), count, atMs);
  }

  #show(fold: RunFold, count: number, atMs: number | null): RunAt {
    const byId = fold.tasks();
    // What became of its work later is no part of its film.
    const lastAtMs = this.#live.state?.endedAtMs ?? this.#events.at(-1)!.atMs;
    const run = fold.run(this.#events[count - 1]!.seq);
    const state =
      atMs === null && !this.#isDriven && run.endedAtMs === undefined ? 'interrupted' : shownOf(run);
    let report: ReturnType<RunAt['report']> | undefined;
    return {
      repository: this.#repository,
      atMs: atMs ?? lastAtMs,
      isLive: atMs === null,
      startedAtMs: this.#events[0]!.atMs,
      lastAtMs,
      state,
      run,
      isolations: [...fold.history.isolations],
      tasks: [...byId.values()],
      task: (id) => byId.get(id),
      events: this.#events,
      count,
      spent: this.#spent,
      // Of a moment, the fold may have gone on to another one by then.
      report: () => (report ??= (atMs === null ? fold : this.#moments.at(count)).report(state)),
    };
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

function shownOf({ state, pending, paused }: RunAt['run']): ShownRunState {
  if (pending && state === 'running') return 'pending';
  return paused && state === 'running' ? 'paused' : state;
}

/** Whether it may go by itself: the way to the server, or a server that has too much to do. */
function mayPass(error: unknown): boolean {
  if (error instanceof Problem) return error.status === 0 || error.status === 429 || error.status >= 500;
  return error instanceof TypeError || error instanceof BrokenOff; // of a body that was cut off
}
