/**
 * All that is known of a run in this tab: its events, read from the server and then as they come, folded into what views
 * show. One for each run, however many views look at it.
 *
 *   loading ──▶ open ──(events come)──▶ open
 *      └──▶ problem ──(again)──▶ loading
 */
import type { Recorded } from '../../src/contract/event.ts';
import type { ShownRunState } from '../../src/contract/run.ts';
import type { Strip } from '../../src/contract/strip.ts';
import type { RunAt, TaskAt } from '../film/run-at.ts';
import { ask, Problem, runPath } from './api.ts';
import { isAfter } from './cursor.ts';
import { RunFold } from './run-fold.ts';
import { onEvents, onStanding, type Streamed } from './stream.ts';
import type { OpenedRun } from './use-run.ts';

const PAGE_EVENTS = 1000;
const FILM_BARS_MAX = 400;
/** How often the server is asked whether somebody drives a run of which nothing is heard. */
const LOOK_MS = 10_000;
const LOADING: OpenedRun = { state: 'loading' };

const stores = new Map<string, RunStore>();

export function openRun(repository: string, run: string): RunStore {
  const key = `${repository}/${run}`;
  let store = stores.get(key);
  if (!store) stores.set(key, (store = new RunStore(repository, run, () => stores.delete(key))));
  return store;
}

class RunStore {
  readonly #repository: string;
  readonly #run: string;
  readonly #forget: () => void;
  readonly #listeners = new Set<() => void>();
  #holders = 0;
  #stop: AbortController | undefined;
  #problem: Extract<OpenedRun, { state: 'problem' }> | undefined;

  #events: Recorded[] = [];
  #spent: { atMs: number; usd: number }[] = [];
  #cursor = '0.0';
  #waiting: Streamed[] | undefined = [];
  #readings = 0;
  #reading: Promise<void> = Promise.resolve();
  #heardAtMs = 0;
  #isDriven = true;
  #live = new RunFold();
  #tasks = new Map<string, TaskAt>();
  #now: OpenedRun = LOADING;
  #then: { atMs: number; of: OpenedRun; made: OpenedRun } | undefined;
  #strip: { of: OpenedRun; made: Strip } | undefined;

  constructor(repository: string, run: string, forget: () => void) {
    this.#repository = repository;
    this.#run = run;
    this.#forget = forget;
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Read for as long as somebody holds it. */
  hold(): () => void {
    this.#holders++;
    if (!this.#stop) this.#open();
    return () => {
      if (--this.#holders > 0) return;
      setTimeout(() => {
        if (this.#holders > 0) return;
        this.#stop?.abort();
        this.#forget();
      });
    };
  }

  /** The same object for as long as nothing changes. */
  at(atMs: number | null): OpenedRun {
    if (this.#problem) return this.#problem;
    const now = this.#now;
    if (now.state !== 'open' || atMs === null) return now;
    if (this.#then?.atMs !== atMs || this.#then.of !== now)
      this.#then = { atMs, of: now, made: { state: 'open', at: this.#wound(atMs, now.at) } };
    return this.#then.made;
  }

  strip(): Strip | undefined {
    if (this.#now.state !== 'open') return undefined;
    if (this.#strip?.of !== this.#now) this.#strip = { of: this.#now, made: this.#live.strip(FILM_BARS_MAX) };
    return this.#strip.made;
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
    const path = `${runPath(this.#repository, this.#run)}/events`;
    for (let isMore = true; isMore && !signal.aborted;) {
      const query = { after: this.#cursor, limit: PAGE_EVENTS, withoutOutput: true };
      const page = await ask<{ events: Streamed[]; next: string }>(path, { query, signal });
      isMore = page.events.length === PAGE_EVENTS;
      this.#add(page.events);
    }
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
    this.#add(own);
    this.#refresh();
  }

  #add(events: readonly Streamed[]): void {
    for (const event of events) {
      if (!isAfter(event.cursor, this.#cursor)) continue;
      this.#cursor = event.cursor;
      this.#live.add(event);
      this.#events.push(event);
      if (
        event.event.type === 'model.used' &&
        event.event.usd !== null &&
        event.event.replayed === undefined
      ) {
        const before = this.#spent.at(-1)?.usd ?? 0;
        this.#spent = [...this.#spent, { atMs: event.atMs, usd: before + event.event.usd }];
      }
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
    this.#tasks = this.#live.tasks(this.#tasks);
    this.#now = { state: 'open', at: this.#show(this.#live, this.#tasks, this.#events.length, null) };
    this.#changed();
  }

  #wound(atMs: number, now: RunAt): RunAt {
    const count = countAt(this.#events, atMs);
    const fold = new RunFold();
    for (const event of this.#events.slice(0, count)) fold.add(event);
    return { ...this.#show(fold, fold.tasks(new Map()), count, atMs), startedAtMs: now.startedAtMs };
  }

  #show(fold: RunFold, byId: ReadonlyMap<string, TaskAt>, count: number, atMs: number | null): RunAt {
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
      tasks: [...byId.values()],
      task: (id) => byId.get(id),
      events: this.#events,
      count,
      spent: this.#spent,
      report: () => (report ??= fold.report(state)),
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

/** How many had happened by then; the first of all always has. */
function countAt(events: readonly Recorded[], atMs: number): number {
  let [low, high] = [1, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle]!.atMs <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
