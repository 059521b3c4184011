/**
 * The attempts of a run that are under way: gives each a slot of the machine, its place and all that it may ask of us,
 * and stops it when told. It decides nothing: which attempt starts or stops is in the journal already.
 */
import type { Attempt, Stages, Stop } from '../attempt/attempt.ts';
import { PreparedPlaces } from '../attempt/prepared-places.ts';
import { runAttempt } from '../attempt/run-attempt.ts';
import type { EventOf } from '../contract/event.ts';
import type { Admission } from '../contract/model.ts';
import type { RunOutput } from '../runtime/output/output.ts';
import type { Steer } from '../runtime/runtime.ts';
import { upcoming } from '../schedule/decide/upcoming.ts';
import { nodeOf, type Node } from '../schedule/state.ts';
import { agentOf, globsOfPeople } from '../schedule/workflow/agent-of.ts';
import { checksOf } from '../schedule/workflow/prompt.ts';
import type { AccessDesk } from './access-desk.ts';
import { AgentSlot } from './agent-slot.ts';
import type { AskDesk } from './ask-desk.ts';
import type { ChildDesk } from './child-desk.ts';
import type { Hooked, HookDesk } from './hook-desk.ts';
import type { Landings } from './landings.ts';
import type { Ledger } from './ledger.ts';
import type { Loop } from './loop.ts';
import type { MessageDesk } from './message-desk.ts';
import type { OutputsDesk } from './outputs-desk.ts';
import type { PauseGate } from './pause-gate.ts';
import type { PublicationDesk } from './publication-desk.ts';
import type { ServicesDesk } from './services-desk.ts';
import type { SharedMachine } from './shared-machine.ts';
import type { SteerDesk } from './steer-desk.ts';
import type { WaitDesk } from './wait-desk.ts';
import type { TaskWorkspaces } from './task-workspaces.ts';

/**
 * A workspace has the name of its attempt, and what it starts from is in the journal where that is one commit: whoever
 * takes over finds it without a word. Short attempts say it together with their end, which saves the disk half of its work.
 */
const TOLD_BY_START_MS = 500;

export interface RunAttemptsOptions {
  loop: Loop;
  stages: Stages;
  /** What is shared with other engines; a test may do without. */
  machine?: SharedMachine | undefined;
  access: AccessDesk;
  messages: MessageDesk;
  steers: SteerDesk;
  hooks: HookDesk;
  landings: Landings;
  children: ChildDesk;
  waits: WaitDesk;
  asks: AskDesk;
  publications: PublicationDesk;
  services: ServicesDesk;
  outputs: OutputsDesk;
  ledger: Ledger;
  pauses: PauseGate;
  workspaces: TaskWorkspaces;
  /** What the whole run may still print. */
  printed: RunOutput;
  /** What the end of an attempt need not wait for, but that of the run must. */
  afterwards(work: Promise<void>): void;
  nowMs(): number;
  /** In place of the engine's own, for tests of what goes on around an attempt. */
  attempt?: typeof runAttempt | undefined;
}

export class RunAttempts implements AsyncDisposable {
  readonly #options: RunAttemptsOptions;
  readonly #loop: Loop;
  /** By task: it has one attempt at a time. */
  readonly #stops = new Map<string, Stop>();
  /** Of the agents at work, by task; a plain command needs none. */
  readonly #slots = new Map<string, AgentSlot>();
  readonly #ahead: PreparedPlaces;
  #looksAhead = false;

  constructor(options: RunAttemptsOptions) {
    this.#options = options;
    this.#loop = options.loop;
    this.#ahead = new PreparedPlaces(options.stages, (node, start) => this.#attemptOf(node, start));
  }

  /** Resolves when it has ended, which is then a fact. */
  async run(start: EventOf<'attempt.started'>): Promise<void> {
    const { stages, workspaces, attempt: live = runAttempt } = this.#options;
    const { state } = this.#loop;
    const node = nodeOf(state, start.task);
    const waiting = { graceful: new AbortController(), now: new AbortController() };
    this.#stops.set(node.id, waiting);
    using slot = await this.#slotFor(node, start, waiting);
    const hooked = slot ? await this.#hooked(node, start, waiting) : undefined;
    // It may be stopped in the very turn in which it was started.
    if (!slot || hooked?.kind !== 'go' || waiting.graceful.signal.aborted) {
      this.#slots.delete(node.id);
      this.#stops.delete(node.id);
      if (hooked?.kind === 'vetoed') return this.#loop.submit(...hooked.facts);
      const { task, attempt } = start;
      const outcome = { kind: 'cancelled' } as const;
      return this.#loop.submit({ type: 'attempt.finished', task, attempt, outcome, durationMs: 0 });
    }
    const ahead = this.#ahead.take(start, state.shadow);
    const { attempt, stop } = ahead ?? this.#attemptOf(node, start);
    attempt.start = hooked.start;
    attempt.added = hooked.added;
    this.#stops.set(node.id, stop);
    const finished = await live(stages, attempt, ahead?.place);
    slot[Symbol.dispose]();
    this.#slots.delete(node.id);
    this.#stops.delete(node.id);
    this.#options.messages.forget(node.id, start.attempt);
    const used = workspaces.of(node.id, start.attempt);
    if (used) used.isCollected = finished.collected !== undefined;
    this.#loop.submit(finished);
  }

  stop(task: string, mode: 'graceful' | 'now'): void {
    this.#stops.get(task)?.graceful.abort();
    if (mode === 'now') this.#stops.get(task)?.now.abort();
  }

  stopAll(): void {
    for (const stop of this.#stops.values()) stop.now.abort();
  }

  /** Sandboxes of tasks that wait are made while others work: those that start now come first. */
  lookAhead(): void {
    if (this.#looksAhead) return;
    this.#looksAhead = true;
    setImmediate(() => {
      this.#looksAhead = false;
      this.#makeAhead();
    });
  }

  #makeAhead(): void {
    if (this.#options.stages.launcher.prepare === undefined || this.#loop.isOver) return;
    const { state } = this.#loop;
    const running = [...this.#stops.keys()].map((task) => nodeOf(state, task));
    this.#ahead.look(upcoming(state, running, PreparedPlaces.placesMax));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ahead[Symbol.asyncDispose]();
  }

  /** Hooks are asked as late as can be: what they say is of the moment. */
  #hooked(node: Node, start: EventOf<'attempt.started'>, { graceful, now }: Stop): Promise<Hooked> {
    return this.#options.hooks.before(node, start, AbortSignal.any([graceful.signal, now.signal]));
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
      const { id: run } = this.#loop.state;
      const slot = undo.use(new AgentSlot((options) => machine.slot({ run, ...options })));
      this.#slots.set(task, slot);
      await slot.have(onWait, signal);
      if (signal.aborted) return undefined;
      if (isHeld) this.#loop.submit({ type: 'attempt.released', task, attempt });
    }
    return undo.move();
  }

  #attemptOf(node: Node, start: EventOf<'attempt.started'>): { attempt: Attempt; stop: Stop } {
    const {
      access,
      asks,
      messages,
      children,
      steers,
      landings,
      waits,
      publications,
      services,
      outputs,
      ledger,
      pauses,
      workspaces,
      printed,
      afterwards,
      nowMs,
    } = this.#options;
    const { state } = this.#loop;
    const stop = { graceful: new AbortController(), now: new AbortController() };
    const continued = workspaces.of(node.id, start.continues);
    const agent = agentOf(node, start.purpose);
    const attempt: Attempt = {
      run: state.id,
      start,
      task: node.task,
      workflow: node.workflow,
      agent: agent?.agent,
      checks: checksOf(node),
      globsOfPeople: globsOfPeople(node, start.purpose),
      continues: continued && { workspace: continued.name, base: continued.base },
      shadow: state.shadow,
      printed,
      conflictFiles: node.resolving?.conflict.files ?? [],
      mayReject: (node.turn?.at ?? 0) > 0 && start.purpose === 'work',
      stop: { graceful: stop.graceful.signal, now: stop.now.signal },
      get granted() {
        return node.granted;
      },
      get published() {
        return node.published;
      },
      crew: {
        ...access.toolsFor(node.id, start.attempt),
        ...messages.toolsFor(node.id, start.attempt),
        ...publications.toolsFor(node.id, start.attempt),
        wanted: (id) => access.wanted(node.id, id),
        produced: (name) => outputs.produced(node.id, name),
        ...asks.toolsFor(node.id, start.attempt),
        ...children.toolsFor(node.id, start.attempt),
        ...waits.toolsFor(node.id, start.attempt),
        ...services.toolsFor(node.id, start.attempt),
      },
      services: services.for(node.id, start.attempt),
      notice: messages.noticeFor(node.id, start.attempt),
      admit: async (estimate, signal) => {
        const asking = { node, attempt: start.attempt, slot: this.#slots.get(node.id), signal };
        const reserve = (): Promise<Admission> => ledger.admit(node, start.attempt, estimate, signal);
        return steers.watch(node.id, start.attempt, estimate, () => pauses.admit(asking, reserve));
      },
      ask: (question) => asks.askFor(node.id, start.attempt, question),
      onSteer: (listener) => this.#listen(node.id, start.attempt, listener),
      get given() {
        const { outputRef, output } = node.given ?? {};
        return outputRef ? state.read(outputRef) : output;
      },
      give: (output) =>
        landings.land({ type: 'attempt.gave', task: node.id, attempt: start.attempt, output }),
      emit: (fact) => {
        if (fact.type === 'attempt.output' || fact.type === 'attempt.agent') return this.#loop.noteSoon(fact);
        if (fact.type !== 'attempt.workspace') return this.#loop.note(fact);
        const { workspace: name, base } = fact;
        workspaces.know(node.id, { name, base, attempt: start.attempt });
        const isToldByStart = continued === undefined && new Set(start.from).size === 1;
        this.#loop.note(fact, isToldByStart ? TOLD_BY_START_MS : undefined);
      },
      afterwards,
      nowMs,
    };
    return { attempt, stop };
  }

  /** To people and to other agents. */
  #listen(task: string, attempt: number, listener: Steer): () => void {
    const stops = [
      this.#options.steers.listen(task, listener),
      this.#options.messages.listen(task, attempt, listener),
    ];
    return () => stops.forEach((stop) => stop());
  }
}
