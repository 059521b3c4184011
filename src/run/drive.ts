/**
 * Drives one run from where its journal stands to its end: carries out what `decide` decided, and turns what
 * happens into facts. A new run and one that was interrupted are driven alike.
 */
import { PreparedPlaces } from '../attempt/prepared-places.ts';
import type { Attempt, Stages, Stop } from '../attempt/attempt.ts';
import { runAttempt } from '../attempt/run-attempt.ts';
import type { Decision, EventOf, Fact, Recorded } from '../contract/event.ts';
import { mergeResult, setBranch } from '../merge/merge.ts';
import { mergeMessage } from '../merge/message.ts';
import { RUN_OUTPUT_BYTES_MAX, type RunOutput } from '../runtime/output/output.ts';
import { whenAwakeFor } from '../base/awake.ts';
import { AccessDesk } from './access-desk.ts';
import { AskDesk } from './ask-desk.ts';
import { Ledger } from './ledger.ts';
import { agentOf, onConflict } from '../schedule/workflow/agent-of.ts';
import { canGoOn } from '../schedule/fold/session.ts';
import { loadRun } from './load-run.ts';
import { Loop } from './loop.ts';
import { titleOf } from '../schedule/workflow/prompt.ts';
import { nodeOf, type Node, type State } from '../schedule/state.ts';
import { upcoming } from '../schedule/decide/upcoming.ts';
import { eventsOf } from '../store/events.ts';
import { InFlight, leftInFlight } from '../store/in-flight.ts';
import type { Store } from '../store/store.ts';
import { tryRemoveTree } from '../system/files/remove-tree.ts';
import type { SharedBudgets } from './shared-budgets.ts';
import type { SharedMachine } from './shared-machine.ts';
import { takeOver, type KnownWorkspace } from './take-over.ts';

const CLOCK_MS = 1000;
/** How long an agent waits for a person before it has to do without. */
const ASK_MS = 10 * 60_000;

export interface DriveOptions {
  store: Store;
  stages: Stages;
  /** What is shared with other engines; a test may do without. */
  machine?: SharedMachine;
  nowMs(): number;
  seen?(events: Recorded[]): void;
  fault?(point: string): void;
  /** In place of the engine's own, for tests of what goes on around an attempt. */
  attempt?: typeof runAttempt;
}

/** A run under way. The lock on the repository is the caller's. */
export class Drive {
  readonly #options: DriveOptions;
  readonly #loop: Loop;
  readonly #stops = new Map<string, Stop>();
  readonly #ahead: PreparedPlaces;
  readonly #printed: RunOutput;
  readonly #timers = new Map<string, () => void>();
  /** Workspaces by task; each is removed once the journal says that the task has ended. */
  readonly #workspaces = new Map<string, KnownWorkspace[]>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #desk: AccessDesk;
  readonly #asks: AskDesk;
  readonly #ledger: Ledger;
  readonly #shared: SharedBudgets | undefined;
  /** Who listens to what people say to the agent of a task. */
  readonly #steered = new Map<string, Set<(text: string) => void>>();
  #charging: { facts: Set<Fact>; forget(): void } | undefined;
  #clock: NodeJS.Timeout | undefined;
  #asked = 0;
  #merging: Promise<void> = Promise.resolve();

  static async open(id: string, options: DriveOptions): Promise<Drive> {
    const { state, lastSeq } = await loadRun(options.store, id);
    const printed = { leftBytes: RUN_OUTPUT_BYTES_MAX - (await options.store.outputBytes(id)) };
    return new Drive(state, lastSeq, printed, options);
  }

  private constructor(state: State, lastSeq: number, printed: RunOutput, options: DriveOptions) {
    this.#options = options;
    this.#printed = printed;
    this.#loop = new Loop({
      ...options,
      state,
      lastSeq,
      act: (decision) => this.#act(decision),
      heard: (fact) => this.#hear(fact),
      settled: () => this.#lookAhead(),
    });
    this.#ahead = new PreparedPlaces(options.stages, (node, start) => this.#attemptOf(node, start));
    this.#desk = new AccessDesk(this.#loop);
    this.#asks = new AskDesk(this.#loop);
    this.#ledger = new Ledger({
      loop: this.#loop,
      desk: this.#asks,
      price: (model, tokens) => options.stages.models.price(model, tokens),
      inFlight: new InFlight(options.stages.home.run(state.id)),
      shared: (this.#shared = options.machine?.budgets(state.id)),
    });
  }

  get state(): State {
    return this.#loop.state;
  }

  /** Starts or goes on. `facts` are what makes it go on: a resume, a retry, a cancel. */
  async run(facts: Fact[]): Promise<State> {
    const { stages, nowMs } = this.#options;
    const lost = await takeOver(this.state, stages, nowMs(), {
      know: (task, workspace) => this.#workspacesOf(task).push(workspace),
      follow: (work) => this.#follow(work),
    });
    const charged = await this.#chargeLeft();
    for (const node of this.state.nodes.values()) this.#actAgain(node);
    this.#loop.start([...facts, ...charged, ...lost]);
    this.#clock = setInterval(() => this.#ledger.lookAtClock(), CLOCK_MS);
    try {
      return await this.#loop.finished;
    } finally {
      // Whatever ended the loop, nothing of ours stays behind.
      clearInterval(this.#clock);
      this.#desk.close();
      this.#asks.close();
      for (const stop of this.#stops.values()) stop.now.abort();
      for (const callOff of this.#timers.values()) callOff();
      await Promise.allSettled([...this.#underWay, this.#ahead[Symbol.asyncDispose]()]);
    }
  }

  /** Something that a person should know. */
  tell(text: string): void {
    this.#loop.note({ type: 'run.noted', text });
  }

  async note(facts: Fact[]): Promise<void> {
    await this.#loop.record(facts);
  }

  cancel(mode: 'graceful' | 'now', by: string): void {
    this.#loop.submit({ type: 'run.cancelling', mode, by });
  }

  answer(id: string, answer: 'yes' | 'no', by: string): void {
    this.#loop.submit({ type: 'question.answered', id, answer, by });
  }

  steer(task: string, text: string, by: string): void {
    this.#loop.submit({ type: 'task.steered', task, text, by });
  }

  /** A provider has to be waited for. */
  waits(wait: Omit<EventOf<'model.waiting'>, 'type'>): void {
    this.#loop.note({ type: 'model.waiting', ...wait });
  }

  #act(decision: Decision): void {
    switch (decision.type) {
      case 'attempt.started':
        return this.#follow(this.#attempt(decision));
      case 'attempt.stopping':
        return this.#stop(decision.task, decision.mode);
      case 'task.delayed':
        return this.#delay(decision);
      case 'task.again': {
        const { task, attempt, delayMs } = decision;
        if (delayMs !== undefined) this.#delay({ task, attempt, delayMs });
        return;
      }
      case 'task.resting':
        return this.#rest(decision.task, decision.delayMs);
      case 'question.asked': {
        const { id, timeoutMs, default: answer } = decision;
        if (timeoutMs !== undefined)
          this.#wait(id, timeoutMs, { type: 'question.answered', id, answer, by: 'time-out' });
        return;
      }
      case 'access.asked': {
        const { id, task, attempt, timeoutMs } = decision;
        return this.#wait(id, timeoutMs, { type: 'access.unanswered', task, attempt, id });
      }
      case 'access.answered':
        this.#callOff(decision.id);
        return this.#desk.answered(decision);
      case 'attempt.answered':
        this.#callOff(decision.id);
        return this.#asks.answered(decision);
      case 'task.merging':
        this.#merging = this.#merging.then(() => this.#merge(decision));
        return this.#follow(this.#merging);
      case 'task.finished':
        return this.#follow(this.#clean(decision.task));
    }
  }

  /** Requests that an engine had sent when it was killed: what came of them nobody knows, but they were sent. */
  async #chargeLeft(): Promise<Fact[]> {
    const { store, stages } = this.#options;
    const { sent, forget } = leftInFlight(stages.home.run(this.state.id));
    for (const [note, { task }] of sent) if (!this.state.nodes.has(task)) sent.delete(note);
    // It may have been killed when the journal had it, and the note was still there.
    if (sent.size > 0)
      for await (const { event } of eventsOf(store, this.state.id, { withoutOutput: true, valueBytesMax: 0 }))
        if (event.type === 'model.used' && event.note !== undefined) sent.delete(event.note);
    if (sent.size === 0) forget();
    for (const [note, { use }] of sent) this.#shared?.settle(note, use.usd ?? 0);
    const facts = [...sent].map(([note, { use, ...of }]): Fact => ({
      type: 'model.used',
      ...of,
      ...use,
      note,
    }));
    this.#charging = { facts: new Set(facts), forget };
    return facts;
  }

  /** What is in the journal now. */
  #hear(fact: Fact): void {
    this.#ledger.heard(fact);
    if (this.#charging?.facts.has(fact)) this.#charging.forget();
    if (fact.type === 'budget.set') this.#ledger.changed();
    if (fact.type !== 'task.steered') return;
    for (const listener of this.#steered.get(fact.task) ?? []) listener(fact.text);
  }

  /** What a decision of an earlier engine still asks for. */
  #actAgain(node: Node): void {
    const { id, attempt } = node;
    if (node.state === 'merging') {
      this.#act({ type: 'task.merging', task: id, attempt, commit: node.ended!.collected!.commit });
    } else if (node.state === 'delayed') {
      this.#delay({ task: id, attempt, delayMs: node.delayMs! });
    } else if (node.resting && !node.isDue) {
      this.#rest(id, node.delayMs);
    } else if (node.state === 'asking') {
      for (const question of this.state.questions.values()) {
        if (question.task === id) this.#act({ type: 'question.asked', ...question });
      }
    }
  }

  async #attempt(start: EventOf<'attempt.started'>): Promise<void> {
    const node = nodeOf(this.state, start.task);
    const waiting = { graceful: new AbortController(), now: new AbortController() };
    this.#stops.set(node.id, waiting);
    using slot = await this.#slotFor(node, start, waiting);
    // It may be stopped in the very turn in which it was started.
    if (slot === undefined || waiting.graceful.signal.aborted) {
      this.#stops.delete(node.id);
      const { task, attempt } = start;
      const outcome = { kind: 'cancelled' } as const;
      return this.#loop.submit({ type: 'attempt.finished', task, attempt, outcome, durationMs: 0 });
    }
    const ahead = this.#ahead.take(start, this.state.shadow);
    const { stages, attempt: live = runAttempt } = this.#options;
    const { attempt, stop } = ahead ?? this.#attemptOf(node, start);
    attempt.start = start;
    this.#stops.set(node.id, stop);
    const finished = await live(stages, attempt, ahead?.place);
    slot[Symbol.dispose]();
    this.#stops.delete(node.id);
    const used = this.#workspacesOf(node.id).find(({ attempt }) => attempt === start.attempt);
    if (used) used.isCollected = finished.collected !== undefined;
    this.#loop.submit(finished);
  }

  /** Undefined where the attempt was called off before it began. A plain command needs no slot. */
  async #slotFor(
    node: Node,
    { task, attempt, purpose }: EventOf<'attempt.started'>,
    { graceful, now }: Stop,
  ): Promise<Disposable | undefined> {
    const { machine } = this.#options;
    using undo = new DisposableStack();
    if (machine && agentOf(node, purpose) !== undefined) {
      const signal = AbortSignal.any([graceful.signal, now.signal]);
      let isHeld = false;
      const onWait = (text: string): void => {
        isHeld = true;
        this.#loop.submit({ type: 'attempt.held', task, attempt, by: 'slot', text });
      };
      undo.use(await machine.slot({ run: this.state.id, signal, onWait }));
      if (signal.aborted) return undefined;
      if (isHeld) this.#loop.submit({ type: 'attempt.released', task, attempt });
    }
    return undo.move();
  }

  /** Sandboxes of tasks that wait are made while others work. */
  #lookAhead(): void {
    if (this.#options.stages.launcher.prepare === undefined || this.#loop.isOver) return;
    const running = [...this.#stops.keys()].map((task) => nodeOf(this.state, task));
    this.#ahead.look(upcoming(this.state, running, PreparedPlaces.placesMax));
  }

  #attemptOf(node: Node, start: EventOf<'attempt.started'>): { attempt: Attempt; stop: Stop } {
    const stop = { graceful: new AbortController(), now: new AbortController() };
    const continued = this.#workspacesOf(node.id).find(({ attempt }) => attempt === start.continues);
    const agent = agentOf(node, start.purpose);
    const attempt: Attempt = {
      run: this.state.id,
      start,
      task: node.task,
      workflow: node.workflow,
      agent: agent?.agent,
      continues: continued && { workspace: continued.name, base: continued.base },
      shadow: this.state.shadow,
      printed: this.#printed,
      conflictFiles: node.resolving?.conflict.files ?? [],
      stop: { graceful: stop.graceful.signal, now: stop.now.signal },
      get granted() {
        return node.granted;
      },
      crew: this.#desk.toolsFor(node.id, start.attempt),
      admit: (estimate, signal) => this.#ledger.admit(node, start.attempt, estimate, signal),
      ask: (text) => this.#ask(node.id, start.attempt, text),
      onSteer: (listener) => this.#listen(node.id, listener),
      emit: (fact) => {
        if (fact.type === 'attempt.workspace') {
          this.#workspacesOf(node.id).push({ name: fact.workspace, base: fact.base, attempt: start.attempt });
        }
        this.#loop.note(fact);
      },
      nowMs: this.#options.nowMs,
    };
    return { attempt, stop };
  }

  async #ask(task: string, attempt: number, text: string): Promise<'yes' | 'no'> {
    const id = `${task}+${attempt}.${++this.#asked}`;
    return this.#asks.ask(task, attempt, { id, text, default: 'no', timeoutMs: ASK_MS });
  }

  #listen(task: string, listener: (text: string) => void): () => void {
    const listeners = this.#steered.get(task) ?? new Set();
    this.#steered.set(task, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  #stop(task: string, mode: 'graceful' | 'now'): void {
    this.#stops.get(task)?.graceful.abort();
    if (mode === 'now') this.#stops.get(task)?.now.abort();
  }

  /** One at a time: each merge builds on the one before. */
  async #merge({ task, attempt, commit }: EventOf<'task.merging'>): Promise<void> {
    const { stages, nowMs } = this.#options;
    const node = nodeOf(this.state, task);
    const agent = agentOf(node, 'work')?.name;
    const message = mergeMessage({
      title: titleOf(this.state, node),
      run: this.state.id,
      task,
      attempt,
      ...(agent !== undefined && { agent }),
      ...(node.spending && { costUsd: node.spending.unpriced > 0 ? null : node.spending.usd }),
    });
    const merged = await mergeResult({
      git: stages.git,
      shadow: this.state.shadow,
      head: this.state.head,
      base: this.state.base,
      result: commit,
      message,
      author: await stages.git.repository.identity(),
      onConflict: onConflict(node),
      atMs: nowMs(),
    });
    if (merged.kind === 'conflict') {
      const { conflict, marked } = merged;
      this.#loop.submit({ type: 'task.conflicted', task, attempt, conflict, marked });
      return;
    }
    const { kind: _, ...rest } = merged;
    // Before the journal says so: a branch that is ahead is set again, one that was never set would be missed.
    if (rest.commit !== undefined) await setBranch(stages.git, this.state.id, rest.commit);
    this.#loop.submit({ type: 'task.merged', task, attempt, ...rest });
    // The next merge reads the heads from the state: wait until this one is in it.
    await this.#settled(() => node.state !== 'merging' || node.merged !== undefined);
  }

  async #settled(condition: () => boolean): Promise<void> {
    while (!condition() && !this.#loop.isOver) await new Promise((resolve) => setImmediate(resolve));
  }

  /** The journal says that the task has ended, and its work is a commit: its workspaces can go. */
  async #clean(task: string): Promise<void> {
    const workspaces = this.#workspaces.get(task) ?? [];
    this.#workspaces.delete(task);
    this.#callOff(task);
    const node = nodeOf(this.state, task);
    if (canGoOn(node)) return;
    // An attempt may go on in the workspace of an earlier one: what counts is how the last of them ended.
    const last = new Map(workspaces.map((workspace) => [workspace.name, workspace]));
    for (const { name, isCollected } of last.values()) {
      if (isCollected) await this.#options.stages.workspaces.remove(name);
    }
    // What did not succeed may be tried again, and then remembers.
    if (node.session && node.state === 'done')
      await tryRemoveTree(this.#options.stages.home.memory(this.state.id, task));
  }

  #delay({ task, attempt, delayMs }: Pick<EventOf<'task.delayed'>, 'task' | 'attempt' | 'delayMs'>): void {
    this.#wait(task, delayMs, { type: 'timer.fired', task, attempt });
  }

  /** Without a delay a wait that was begun goes on. */
  #rest(task: string, delayMs: number | undefined): void {
    const attempt = nodeOf(this.state, task).children.length;
    if (delayMs !== undefined) this.#wait(task, delayMs, { type: 'timer.fired', task, attempt });
  }

  #wait(key: string, delayMs: number, fact: Fact): void {
    this.#callOff(key);
    this.#timers.set(
      key,
      whenAwakeFor(delayMs, () => this.#loop.submit(fact)),
    );
  }

  #callOff(key: string): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }

  /** Work in the background whose failure is a bug, or a machine that fails: it stops the engine, not the run. */
  #follow(work: Promise<void>): void {
    this.#underWay.add(work);
    work.catch((error) => this.#loop.stop(error)).finally(() => this.#underWay.delete(work)); // eslint-disable-line
  }

  #workspacesOf(task: string): KnownWorkspace[] {
    let list = this.#workspaces.get(task);
    if (!list) this.#workspaces.set(task, (list = []));
    return list;
  }
}
