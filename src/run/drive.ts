/**
 * Drives one run from where its journal stands to its end: carries out what `decide` decided, and turns what
 * happens into facts. A new run and one that was interrupted are driven alike.
 */
import path from 'node:path';
import type { Stages } from '../attempt/attempt.ts';
import type { runAttempt } from '../attempt/run-attempt.ts';
import { BosunError } from '../contract/errors.ts';
import type { Decision, EventOf, Fact, Recorded } from '../contract/event.ts';
import { defaultAnswer, type Answer } from '../contract/question.ts';
import { RUN_OUTPUT_BYTES_MAX, type RunOutput } from '../runtime/output/output.ts';
import { commitToMerge } from '../schedule/decide/race.ts';
import { nodeOf, type Node, type State } from '../schedule/state.ts';
import { InFlight } from '../store/in-flight.ts';
import type { Store } from '../store/store.ts';
import { AccessDesk } from './access-desk.ts';
import { AskDesk } from './ask-desk.ts';
import { ChildDesk } from './child-desk.ts';
import { HookDesk, type HookSources } from './hook-desk.ts';
import { Landings } from './landings.ts';
import { Ledger } from './ledger.ts';
import { loadRun } from './load-run.ts';
import { Loop, type LoopOptions } from './loop.ts';
import { lostRequests, type LostRequests } from './lost-requests.ts';
import { MergeQueue } from './merge-queue.ts';
import { MessageDesk } from './message-desk.ts';
import { OutputsDesk } from './outputs-desk.ts';
import { PauseGate } from './pause-gate.ts';
import { PublicationDesk } from './publication-desk.ts';
import { RunAttempts } from './run-attempts.ts';
import { RunTimers } from './run-timers.ts';
import type { SharedAccounts } from './shared-budgets.ts';
import type { SharedMachine } from './shared-machine.ts';
import { ServicesDesk } from './services-desk.ts';
import { SteerDesk } from './steer-desk.ts';
import { takeOver } from './take-over.ts';
import { WaitDesk } from './wait-desk.ts';
import { TaskWorkspaces } from './task-workspaces.ts';

const CLOCK_MS = 1000;

const PAUSES: ReadonlySet<Fact['type']> = new Set([
  'run.paused',
  'task.paused',
  'run.unpaused',
  'task.unpaused',
]);

export interface DriveOptions {
  store: Store;
  stages: Stages;
  /** What is shared with other engines; a test may do without. */
  machine?: SharedMachine;
  /** Where hooks come from; a test may do without. */
  hooks?: HookSources | undefined;
  nowMs(): number;
  /** Nobody drives it any more. */
  onClosed?(): void;
  seen?(events: Recorded[]): void;
  fault?(point: string): void;
  /** In place of the engine's own, for tests of what goes on around an attempt. */
  attempt?: typeof runAttempt;
}

/** A run under way, until it is disposed of; the claim to it is the engine's. */
export class Drive implements Disposable {
  readonly #options: DriveOptions;
  readonly #loop: Loop;
  readonly #attempts: RunAttempts;
  readonly #merges: MergeQueue;
  readonly #timers: RunTimers;
  readonly #workspaces: TaskWorkspaces;
  readonly #access: AccessDesk;
  readonly #messages: MessageDesk;
  readonly #landings: Landings;
  readonly #steers: SteerDesk;
  readonly #waits: WaitDesk;
  readonly #children: ChildDesk;
  readonly #hooks: HookDesk;
  readonly #asks: AskDesk;
  readonly #publications: PublicationDesk;
  readonly #services: ServicesDesk;
  readonly #ledger: Ledger;
  readonly #pauses: PauseGate;
  readonly #shared: SharedAccounts | undefined;
  readonly #underWay = new Set<Promise<void>>();
  #lost: LostRequests | undefined;
  #clock: NodeJS.Timeout | undefined;
  /** Of the event that ended the run. */
  #endedSeq = 0;

  static async open(id: string, options: DriveOptions): Promise<Drive> {
    const older = new Set((await options.store.requests(id)).map((request) => request.id));
    const { state, lastSeq } = await loadRun(options.store, id);
    const printed = { leftBytes: RUN_OUTPUT_BYTES_MAX - (await options.store.outputBytes(id)) };
    return new Drive({ state, lastSeq, older }, printed, options);
  }

  private constructor(
    from: Pick<LoopOptions, 'state' | 'lastSeq' | 'older'>,
    printed: RunOutput,
    options: DriveOptions,
  ) {
    const { state } = from;
    const { stages, machine, nowMs, attempt } = options;
    this.#options = options;
    const loop = new Loop({
      ...options,
      ...from,
      act: (decision, seq) => this.#act(decision, seq),
      along: (decision) => (decision.type === 'wait.ended' ? this.#waits.along(decision) : []),
      heard: (fact, seq) => this.#hear(fact, seq),
      settled: () => this.#attempts.lookAhead(),
    });
    this.#loop = loop;
    this.#timers = new RunTimers(loop);
    this.#merges = new MergeQueue({ loop, stages, nowMs });
    this.#workspaces = new TaskWorkspaces(state.id, stages);
    this.#access = new AccessDesk(loop);
    const access = this.#access;
    const waits = (this.#waits = new WaitDesk(loop, this.#timers));
    const landings = (this.#landings = new Landings(loop));
    const steers = (this.#steers = new SteerDesk(loop));
    const { hooks: sources } = options;
    const { top } = stages.home;
    const hooks = (this.#hooks = new HookDesk({ loop, landings, sources, top, nowMs }));
    this.#children = new ChildDesk({
      loop,
      nowMs,
      wait: (at, task, seconds, left) => waits.wait(at, { kind: 'end', task }, seconds, { left }),
    });
    this.#messages = new MessageDesk({
      loop,
      landings,
      nowMs,
      wait: (at, seconds, { left, along }) =>
        waits.wait(at, { kind: 'message' }, seconds, { left, along, isNew: true }),
      pendingAccess: (task) => access.pending(task),
    });
    this.#asks = new AskDesk(loop);
    this.#pauses = new PauseGate(loop);
    this.#publications = new PublicationDesk(loop, stages.git);
    this.#services = new ServicesDesk(loop, landings, stages.home.run(state.id));
    this.#shared = machine?.budgets(state.id);
    this.#ledger = new Ledger({
      loop,
      desk: this.#asks,
      price: (model, tokens) => stages.models.price(model, tokens),
      inFlight: new InFlight(stages.home.run(state.id)),
      shared: this.#shared,
    });
    this.#attempts = new RunAttempts({
      loop,
      stages,
      machine,
      access,
      messages: this.#messages,
      steers,
      hooks,
      landings,
      children: this.#children,
      waits,
      asks: this.#asks,
      publications: this.#publications,
      services: this.#services,
      outputs: new OutputsDesk(state, path.join(stages.home.run(state.id), 'artifacts')),
      ledger: this.#ledger,
      pauses: this.#pauses,
      workspaces: this.#workspaces,
      printed,
      afterwards: (work) => this.#follow(work),
      nowMs,
      attempt,
    });
  }

  get state(): State {
    return this.#loop.state;
  }

  /** Starts or goes on. `facts` are what makes it go on: a resume, a retry, a cancel. */
  async run(facts: Fact[]): Promise<State> {
    const { store, stages, nowMs } = this.#options;
    const ended = await takeOver(this.state, stages, nowMs(), {
      know: (task, workspace) => this.#workspaces.know(task, workspace),
      follow: (work) => this.#follow(work),
    });
    this.#lost = await lostRequests(this.state, store, stages.home.run(this.state.id), this.#shared);
    for (const node of this.state.nodes.values()) this.#actAgain(node);
    const [armed, ...late] = await this.#hooks.makeUp(store);
    const begins = facts.findIndex(({ type }) => type !== 'run.isolation');
    const first = facts.toSpliced(begins < 0 ? facts.length : begins, 0, ...(armed ? [armed] : []));
    this.#loop.start([...first, ...this.#lost.facts, ...ended, ...late]);
    this.#clock = setInterval(() => this.#ledger.lookAtClock(), CLOCK_MS);
    try {
      return await this.#loop.finished;
    } catch (error) {
      await this.#hooks.close();
      throw error;
    } finally {
      // Whatever ended the loop, nothing of ours stays behind.
      clearInterval(this.#clock);
      this.#access.close();
      this.#messages.close();
      this.#landings.close();
      this.#children.close();
      this.#waits.close();
      this.#asks.close();
      this.#publications.close();
      this.#attempts.stopAll();
      await this.#services.close();
      this.#timers.close();
      await Promise.allSettled([...this.#underWay, this.#attempts[Symbol.asyncDispose]()]);
      await Promise.allSettled(this.#underWay); // what these left to be taken away
    }
  }

  /** Those that the workflow has are not called: nobody trusts it. */
  leaveItsHooks(): void {
    this.#hooks.leaveWorkflows();
  }

  /** For when all that the run leaves behind is there: its report too. */
  async tellEnd(): Promise<void> {
    await this.#hooks.runEnded(this.#endedSeq);
  }

  /** Ends hooks that are under way, where nobody comes to tell its end. */
  async endHooks(): Promise<void> {
    await this.#hooks.close();
  }

  /** Others may drive it then. */
  [Symbol.dispose](): void {
    this.#options.onClosed?.();
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
    // Where the run is ending, nobody takes that up any more, and hooks are all that is left of it.
    if (mode === 'now') this.#hooks.hurry();
  }

  answer(id: string, answer: Answer, by: string): void {
    this.#loop.submit({ type: 'question.answered', id, ...answer, by });
  }

  /** All of it, or a task and those within it. */
  pause(task: string | undefined, by: string): void {
    this.#requireTask(task);
    this.#loop.submit(task === undefined ? { type: 'run.paused', by } : { type: 'task.paused', task, by });
  }

  unpause(task: string | undefined, by: string): void {
    this.#requireTask(task);
    this.#loop.submit(
      task === undefined ? { type: 'run.unpaused', by } : { type: 'task.unpaused', task, by },
    );
  }

  steer(task: string, text: string, by: string): void {
    this.#requireTask(task);
    this.#loop.submit({ type: 'task.steered', task, text, by });
  }

  /** What a program calls a task may be anything, and the state knows only what is there. */
  #requireTask(task: string | undefined): void {
    if (task === undefined || this.state.nodes.has(task)) return;
    throw new BosunError(
      'not-found',
      `run ${this.state.id} has no task ${JSON.stringify(task.slice(0, 200))}`,
    );
  }

  /** A provider has to be waited for. */
  waits(wait: Omit<EventOf<'model.waiting'>, 'type'>): void {
    this.#loop.note({ type: 'model.waiting', ...wait });
  }

  #act(decision: Decision, seq = 0): void {
    switch (decision.type) {
      case 'attempt.started':
        return this.#follow(this.#attempts.run(decision));
      case 'attempt.stopping':
        return this.#attempts.stop(decision.task, decision.mode);
      case 'attempt.pausing':
        if (decision.how === 'stop') this.#attempts.stop(decision.task, 'graceful');
        return;
      case 'run.reopened':
        return this.#lookAtPauses();
      case 'task.delayed':
        return this.#delay(decision);
      case 'task.again': {
        const { task, attempt, delayMs } = decision;
        if (delayMs !== undefined) this.#delay({ task, attempt, delayMs });
        return;
      }
      case 'task.resting':
        return this.#rest(decision.task, decision.delayMs);
      case 'question.asked':
        this.#hooks.asked(decision, seq);
        return this.#await(decision);
      case 'access.asked': {
        const { id, task, attempt, timeoutMs } = decision;
        return this.#timers.wait(id, task, timeoutMs, { type: 'access.unanswered', task, attempt, id });
      }
      case 'access.answered':
        this.#timers.callOff(decision.id);
        return this.#access.answered(decision);
      case 'attempt.answered':
        this.#timers.callOff(decision.id);
        return this.#asks.answered(decision);
      case 'message.delivered':
        return this.#messages.delivered(decision);
      case 'message.refused':
        return this.#messages.refused(decision);
      case 'wait.ended':
        return this.#waits.ended(decision);
      case 'wait.circled':
        return this.#waits.circled(decision);
      case 'child.added':
        return this.#children.added(decision);
      case 'child.refused':
        return this.#children.refused(decision);
      case 'task.merging':
        return this.#follow(this.#merges.add(decision));
      case 'task.finished':
        this.#hooks.taskEnded(decision, seq);
        this.#timers.callOff(decision.task);
        return this.#follow(this.#workspaces.clean(nodeOf(this.state, decision.task)));
      case 'run.finished':
        this.#endedSeq = seq;
        return;
    }
  }

  /** What is in the journal now. */
  #hear(fact: Fact, seq: number): void {
    this.#ledger.heard(fact);
    this.#lost?.heard(fact);
    this.#landings.heard(fact);
    this.#hooks.heard(fact);
    if (fact.type === 'attempt.finished') this.#hooks.attemptEnded(fact, seq);
    if (fact.type === 'run.cancelling' && fact.mode === 'now') this.#hooks.hurry();
    if (fact.type === 'wait.expired') this.#waits.expired(fact);
    this.#publications.heard(fact);
    if (fact.type === 'budget.set') this.#ledger.changed();
    if (fact.type === 'task.steered') this.#steers.tell(fact.task);
    if (PAUSES.has(fact.type)) this.#lookAtPauses();
  }

  #lookAtPauses(): void {
    this.#pauses.changed();
    this.#timers.changed();
  }

  /** What a decision of an earlier engine still asks for. */
  #actAgain(node: Node): void {
    const { id, attempt } = node;
    if (node.mergesAfter) return;
    if (node.state === 'merging') {
      this.#act({ type: 'task.merging', task: id, attempt, commit: commitToMerge(this.state, node) });
    } else if (node.state === 'delayed') {
      this.#delay({ task: id, attempt, delayMs: node.delayMs! });
    } else if (node.resting && !node.isDue) {
      this.#rest(id, node.delayMs);
    } else if (node.state === 'asking') {
      for (const question of this.state.questions.values()) {
        if (question.task === id) this.#await(question);
      }
    }
  }

  /** Where nobody answers in time its default counts. */
  #await(question: Omit<EventOf<'question.asked'>, 'type'>): void {
    const { id, task, timeoutMs } = question;
    const said = { type: 'question.answered', id, ...defaultAnswer(question), by: 'time-out' } as const;
    if (timeoutMs !== undefined) this.#timers.wait(id, task, timeoutMs, said);
  }

  #delay({ task, attempt, delayMs }: Pick<EventOf<'task.delayed'>, 'task' | 'attempt' | 'delayMs'>): void {
    this.#timers.wait(task, task, delayMs, { type: 'timer.fired', task, attempt });
  }

  /** Without a delay a wait that was begun goes on. */
  #rest(task: string, delayMs: number | undefined): void {
    const attempt = nodeOf(this.state, task).children.length;
    if (delayMs !== undefined) this.#timers.wait(task, task, delayMs, { type: 'timer.fired', task, attempt });
  }

  /** Work in the background whose failure is a bug, or a machine that fails: it stops the engine, not the run. */
  #follow(work: Promise<void>): void {
    this.#underWay.add(work);
    work.catch((error) => this.#loop.stop(error)).finally(() => this.#underWay.delete(work)); // eslint-disable-line
  }
}
