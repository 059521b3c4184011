/**
 * The loop that drives a run: facts in → journal → decisions → journal → act. Nothing is acted on before it is
 * recorded; facts that arrive together are recorded together, as long as they are not very large.
 */
import { hash } from 'node:crypto';
import { Breather } from '../base/breather.ts';
import { isAnswerTo } from '../contract/question.ts';
import { isOpen } from '../contract/run.ts';
import type { Decision, Event, Fact, Recorded } from '../contract/event.ts';
import type { Request, Store } from '../store/store.ts';
import { whole } from '../store/values.ts';
import { ClockJumps } from './clock-jumps.ts';
import { decide } from '../schedule/decide/decide.ts';
import { apply } from '../schedule/fold/fold.ts';
import { agentLine } from '../schedule/views/agent-line.ts';
import { RunValues } from './run-values.ts';
import { hasEnded, isAwaiting, nodeOf, type Node, type State } from '../schedule/state.ts';
import { beforeEvent, noteTouched } from '../schedule/views/touched.ts';
import { heldOf, runView, taskView } from '../schedule/views/view.ts';

const NOTE_MS = 50;
/** An agent waits for the answer that a person gives; to see whether there is one takes some microseconds. */
const LOOK_MS = 5;
/** Where the system does not say that something was written. */
const BLIND_MS = 50;
/** What comes in this time is told together, even if nothing else is going on. */
const SOON_MS = 5;
const LAST_LINE_CHARS_MAX = 200;
/** What a turn records of what was printed: to write is work of this thread, and what is left has the next turn. */
const PRINTED_CHARS_MAX = 1024 * 1024;

/** What a person wanted of the engine that was there then. */
const OF_ITS_MOMENT: ReadonlySet<Request['do']> = new Set(['cancel', 'cancel-task', 'pause', 'unpause']);

export interface LoopOptions {
  store: Store;
  /** Requests that were there before this engine had the run: some were meant for another, which never took them. */
  older: ReadonlySet<number>;
  state: State;
  lastSeq: number;
  nowMs(): number;
  /** Carries out a decision that is in the journal. Must not throw; what comes of it is submitted as a fact. */
  act(decision: Decision, seq: number): void;
  /** What follows from a decision at once and needs nothing of the world: it is recorded in the same transaction. */
  along?(decision: Decision): Fact[];
  /** Is told of each fact that is in the journal. */
  heard?(fact: Fact, seq: number): void;
  /** Is told when all decisions of a turn were acted on. */
  settled?(): void;
  /** Is told of each batch once it is in the journal. */
  seen?(events: Recorded[]): void;
  /** A named point at which a test may stop the engine. */
  fault?(point: string): void;
}

/** Something to be recorded, and the request that it comes from: that is gone once this is in the journal. */
interface Told {
  fact: Fact;
  request?: number;
  /** Of an answer: when the question that it is meant for was asked. */
  askedAtMs?: number | undefined;
}

/** A child that somebody outside asks for: it becomes a fact once its parent is at work, or never will be. */
interface Spawn {
  id: number;
  request: Extract<Request, { do: 'spawn' }>;
}

export class Loop {
  readonly #options: LoopOptions;
  readonly #inbox: Told[] = [];
  readonly #lastLines = new Map<string, string>();
  /** Requests that were taken and are still in the store. */
  readonly #taken = new Set<number>();
  /** Those among them that lead to nothing. */
  readonly #idle: number[] = [];
  readonly #spawns: Spawn[] = [];
  readonly #values: RunValues;
  readonly #finished = Promise.withResolvers<State>();
  readonly #jumps: ClockJumps;
  readonly #over = new AbortController();
  #lastSeq: number;
  #scheduled = false;
  /** Something came that is not to wait for what else may come. */
  #isAwaited = false;
  #hasStarted = false;
  /** The facts that it began with are in the state. */
  #hasTakenOver = false;
  #later: NodeJS.Timeout | undefined;
  /** When that is, by the steady clock. */
  #laterAtMs = 0;
  #turnedAtMs = -Infinity;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#lastSeq = options.lastSeq;
    this.#values = new RunValues(options.store, options.state.id);
    options.state.read = (ref) => this.#values.read(ref);
    options.state.hash = (text) => hash('sha256', text);
    this.#jumps = new ClockJumps(options.nowMs());
  }

  /** The time by which budgets are held: what is not yet known of jumps of the clock is left out. */
  get steadyMs(): number {
    const nowMs = this.#options.nowMs();
    return nowMs - this.#jumps.pendingMs(nowMs);
  }

  /** Resolves when the run has ended; rejects when the journal cannot be written. */
  get finished(): Promise<State> {
    return this.#finished.promise;
  }

  get state(): State {
    return this.#options.state;
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Begins with these facts, whatever was submitted meanwhile. */
  start(facts: Fact[]): void {
    this.#inbox.unshift(...facts.map((fact) => ({ fact })));
    this.#hasStarted = true;
    void this.#watchRequests().catch((error) => this.#fail(error));
    this.#schedule();
  }

  submit(...facts: Fact[]): void {
    this.#tell(...facts.map((fact) => ({ fact })));
  }

  /** For what nothing waits for: it is recorded with whatever comes next, or a little later. */
  note(fact: Fact, laterMs = NOTE_MS): void {
    if (this.#over.signal.aborted) return;
    this.#inbox.push({ fact });
    const atMs = performance.now() + laterMs;
    if (this.#later && this.#laterAtMs <= atMs) return;
    clearTimeout(this.#later);
    this.#laterAtMs = atMs;
    this.#later = setTimeout(() => {
      this.#later = undefined; // a turn may be under way, which then looks for what came meanwhile
      this.#schedule();
    }, laterMs);
  }

  /** For what people look at: at once where it is quiet, at the pace of all others where much is going on. */
  noteSoon(fact: Fact): void {
    this.note(fact, Math.max(SOON_MS, this.#turnedAtMs + NOTE_MS - performance.now()));
  }

  /** Facts that nothing follows from as long as nobody drives the run. */
  async record(facts: Fact[]): Promise<void> {
    const { store, state, nowMs } = this.#options;
    const atMs = nowMs();
    const entries = facts.map((fact) => ({ atMs, event: this.#values.slim(fact) }));
    for (const { event } of entries) apply(state, event, atMs);
    this.#lastSeq = await store.append(state.id, this.#lastSeq, {
      entries,
      values: this.#values.unwritten,
      run: runView(state),
      tasks: [],
      handled: [],
    });
    this.#values.written();
  }

  /** Stops driving without ending the run: it can be resumed. */
  stop(error?: unknown): void {
    if (error === undefined) this.#end();
    else this.#fail(error);
  }

  #tell(...told: Told[]): void {
    if (this.#over.signal.aborted) return;
    this.#inbox.push(...told);
    this.#isAwaited = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#over.signal.aborted || !this.#hasStarted) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#turn()
        .catch((error) => this.#fail(error))
        .finally(() => {
          this.#scheduled = false;
          const hasMore = this.#inbox.length > 0 && (this.#isAwaited || this.#later === undefined);
          if (hasMore || this.#dueSpawnAt() >= 0) this.#schedule();
        });
    });
  }

  async #turn(): Promise<void> {
    if (this.#over.signal.aborted) return;
    const { store, state, nowMs, act, along, seen, fault } = this.#options;
    clearTimeout(this.#later);
    this.#later = undefined;
    this.#turnedAtMs = performance.now();
    this.#isAwaited = false;
    const told = this.#inbox.splice(0, turnOf(this.#inbox));
    const facts = told.map(({ fact }) => fact);
    const noted = [...facts];
    const late = new Set<Fact>();
    const askedAtMs = new Map(told.map((each) => [each.fact, each.askedAtMs]));
    const handled = [...this.#idle.splice(0), ...told.flatMap(({ request }) => request ?? [])];
    const atMs = nowMs();
    const events: Event[] = [];
    const decisions: Decision[] = [];
    const touched = new Set<Node>();
    const jumpedMs = this.#jumps.take(atMs);
    const places = new Map<Event, number>();
    const take = (event: Event): void => {
      places.set(event, events.length);
      const before = beforeEvent(state, event);
      const recorded = this.#values.slim(event);
      apply(state, recorded, atMs);
      events.push(recorded);
      this.#noteLine(event);
      noteTouched(state, event, before, touched);
    };
    const breather = new Breather();
    // Thousands of tasks may be decided on at once, and each may have costly expressions.
    const settle = async (): Promise<void> => {
      for (;;) {
        for (let due = this.#dueSpawn(); due; due = this.#dueSpawn()) {
          take(factOfSpawn(due, state));
          handled.push(due.id);
        }
        const next = decide(state);
        if (!next) return;
        // Whoever asked for a child by then is told that there will be none.
        if (next.type === 'run.finished' && (await this.#hasNewSpawns())) continue;
        take(next);
        decisions.push(next);
        for (const fact of along?.(next) ?? []) {
          take(fact);
          noted.push(fact);
        }
        if (breather.isDue) await breather.breathe();
      }
    };
    if (jumpedMs !== 0) take({ type: 'clock.jumped', ms: jumpedMs }); // before anything is measured by this clock
    // What holds is written down before anything is started behind it.
    while (facts[0]?.type === 'run.isolation' || facts[0]?.type === 'hooks.armed') take(facts.shift()!);
    await settle(); // a run that is taken over may have something open
    for (const fact of facts) {
      if (isLate(fact, state, askedAtMs.get(fact))) {
        late.add(fact);
        continue;
      }
      take(fact);
      await settle();
    }
    if (!this.#hasTakenOver) {
      this.#hasTakenOver = true;
      await settle();
    }
    if (this.#over.signal.aborted || (events.length === 0 && handled.length === 0)) return;

    fault?.(`before:${events.map((event) => event.type).join(',')}`);
    const first = this.#lastSeq + 1;
    this.#lastSeq = await store.append(state.id, this.#lastSeq, {
      entries: events.map((event) => ({ atMs, event })),
      values: this.#values.unwritten,
      run: runView(state),
      tasks: [...touched].map((node) => taskView(node, this.#lastLines.get(node.id), heldOf(state, node))),
      handled,
    });
    for (const id of handled) this.#taken.delete(id);
    fault?.(`after:${events.map((event) => event.type).join(',')}`);
    seen?.(
      events.map((event, n) => ({ run: state.id, seq: first + n, atMs, event: whole(event, state.read) })),
    );
    this.#values.written();
    for (const decision of decisions) act(decision, first + places.get(decision)!);
    if (this.#options.heard)
      for (const fact of noted) if (!late.has(fact)) this.#options.heard(fact, first + places.get(fact)!);
    this.#options.settled?.();
    if (!isOpen(state)) {
      this.#end();
      this.#finished.resolve(state);
    }
  }

  async #hasNewSpawns(): Promise<boolean> {
    const { store, state } = this.#options;
    const count = this.#spawns.length;
    for (const { id, request } of await store.requests(state.id))
      if (request.do === 'spawn' && !this.#taken.has(id)) this.#noteSpawn(id, request);
    return this.#spawns.length > count;
  }

  #noteSpawn(id: number, request: Spawn['request']): void {
    this.#taken.add(id);
    if (this.state.nodes.has(request.task)) this.#spawns.push({ id, request });
    else this.#idle.push(id);
  }

  #dueSpawn(): Spawn | undefined {
    const at = this.#dueSpawnAt();
    return at < 0 ? undefined : this.#spawns.splice(at, 1)[0];
  }

  #dueSpawnAt(): number {
    // What an earlier engine left at work is known to be over first: a child of that would go with it.
    if (!this.#hasTakenOver && !this.state.cancelling) return -1;
    return this.#spawns.findIndex(({ request }) => canBeDecided(nodeOf(this.state, request.task)));
  }

  /** What it said last, for people. */
  #noteLine(event: Event): void {
    if (event.type === 'task.finished') this.#lastLines.delete(event.task);
    if (event.type !== 'attempt.output' && event.type !== 'attempt.agent') return;
    const text = event.type === 'attempt.output' ? event.text : agentLine(event.event);
    const line = text && lastLineOf(text);
    if (line) this.#lastLines.set(event.task, line);
  }

  async #watchRequests(): Promise<void> {
    const { store, state } = this.#options;
    const times = { lookMs: LOOK_MS, blindMs: BLIND_MS };
    for await (const _ of store.asked(state.id, this.#over.signal, times)) {
      for (const { id, request } of await store.requests(state.id)) {
        if (this.#taken.has(id)) continue;
        if (request.do === 'spawn') {
          this.#noteSpawn(id, request);
          this.#isAwaited = true;
          this.#schedule();
          continue;
        }
        this.#taken.add(id);
        const fact = factOf(request);
        const isOld = this.#options.older.has(id) && OF_ITS_MOMENT.has(request.do);
        // A door may have asked for a task that is not there: nobody is to hear of that twice.
        const isOfNobody = 'task' in fact && !state.nodes.has(fact.task);
        if (isOld || isOfNobody) this.#idle.push(id);
        else
          this.#tell({ fact, request: id, ...(request.do === 'answer' && { askedAtMs: request.askedAtMs }) });
      }
    }
  }

  #fail(error: unknown): void {
    this.#end();
    this.#finished.reject(error);
  }

  #end(): void {
    this.#over.abort();
    clearTimeout(this.#later);
  }
}

/** Whether its parent is at work, or will not be again by itself. */
function canBeDecided(node: Node): boolean {
  if (node.state === 'running') return !node.ended && !node.stopping;
  return hasEnded(node) || node.isUnwanted === true || isAwaiting(node);
}

/** An answer to what was answered meanwhile, or asked anew: the first counts, and nobody is to read of another. */
function isLate(fact: Fact, { questions }: State, askedAtMs: number | undefined): boolean {
  if (fact.type !== 'question.answered') return false;
  const question = questions.get(fact.id);
  if (!question || !isAnswerTo(question, fact)) return true;
  return askedAtMs !== undefined && question.askedAtMs !== askedAtMs;
}

/** Its key is its own: no agent's request has such an id. */
function factOfSpawn({ request }: Spawn, { nodes }: State): Fact {
  const { task, key, child, by, name } = request;
  const { attempt, spawns = 0 } = nodes.get(task)!;
  const called = name ?? `spawned-${spawns + 1}`;
  return { type: 'child.requested', task, attempt, id: `${task}+${key}`, name: called, child, by, key };
}

function factOf(request: Exclude<Request, { do: 'spawn' }>): Fact {
  const { by } = request;
  switch (request.do) {
    case 'cancel':
      return { type: 'run.cancelling', mode: request.mode, by };
    case 'cancel-task':
      return { type: 'task.cancelling', task: request.task, by };
    case 'steer':
      return { type: 'task.steered', task: request.task, text: request.text, by };
    case 'budget':
      return { type: 'budget.set', account: request.account, limits: request.limits, by };
    case 'pause':
    case 'unpause': {
      const { task, do: wanted } = request;
      return task === undefined ? { type: `run.${wanted}d`, by } : { type: `task.${wanted}d`, task, by };
    }
    default: {
      const { do: _, question: id, askedAtMs: __, ...said } = request;
      return { type: 'question.answered', id, ...said };
    }
  }
}

/** How many of the facts one turn takes. */
function turnOf(told: readonly Told[]): number {
  let chars = 0;
  const full = told.findIndex(({ fact }) => {
    if (fact.type === 'attempt.output') chars += fact.text?.length ?? fact.base64?.length ?? 0;
    return chars >= PRINTED_CHARS_MAX;
  });
  return full < 0 ? told.length : full + 1;
}

function lastLineOf(text: string): string {
  const lines = text.trimEnd();
  return lines.slice(lines.lastIndexOf('\n') + 1).slice(0, LAST_LINE_CHARS_MAX);
}
