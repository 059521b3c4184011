/**
 * The events of a run as sentences for people: whom they are about, and what happened. Pure, for a terminal and for the page
 * alike; it makes nothing harmless: whoever shows it does. What programs print is no part of it.
 */
import { shellWord } from '../../base/shell-word.ts';
import { formatDuration } from '../../base/units.ts';
import type { BudgetMark, Event, EventOf, Recorded } from '../../contract/event.ts';
import { isFenced } from '../../contract/isolation.ts';
import type { Spending } from '../../contract/model.ts';
import { accessBy, count, describeDenied, shortCommit, tellProgress } from '../words.ts';
import { tellUsd } from '../money.ts';
import { noSpending, spend } from '../../schedule/money/budget.ts';
import { budgetStop } from '../../schedule/fold/format-2.ts';
import {
  tellAgent,
  tellAnswer,
  tellError,
  tellNotice,
  tellRunEnd,
  tellStart,
  type AgentLine,
} from './agent-events.ts';
import { TaskNames } from '../../schedule/views/task-names.ts';
import { filesOf, outsideOf } from './file-lines.ts';
import { tellHooked, tellHookFailure } from './hook-lines.ts';
import { tellMessage, tellServed, tellWait } from './message-lines.ts';
import { tellGiven, tellQuestion } from './question-lines.ts';

const PAUSING = {
  stop: 'is being stopped for the pause',
  hold: 'waits at its next model request',
  finish: 'runs to its end',
} as const;

const ROUNDS = {
  first: 'begins its first round',
  every: 'begins another round',
  on: 'begins another round',
  final: 'begins its final round',
} as const;

export interface TellerOptions {
  /** Also what agents say and do. */
  withOutput: boolean;
  /** What people call tasks, by id, where no event that is told says it. */
  labels?: Iterable<readonly [string, string]>;
  /** As much of a question as a line has room for. */
  fit(text: string): string;
}

export interface ToldOf {
  /** What people call the task; empty where it is about the run. */
  task: string;
  told: AgentLine[];
}

/** Keeps what was already said of a task. */
export class RunTeller {
  readonly #options: TellerOptions;
  readonly #names: TaskNames;
  readonly #told = new Map<string, string>();
  /** Why a task goes on with another runtime, as it was told. */
  readonly #fallbacks = new Map<string, string>();
  readonly #asked = new Map<string, { event: EventOf<'attempt.asked'>; wasPut: boolean }>();
  /** What people were asked, by the question's name. */
  readonly #questions = new Map<string, EventOf<'question.asked'>>();
  /** Tasks that were told to be held. */
  readonly #held = new Set<string>();
  /** Attempts that a pause stops. */
  readonly #stopped = new Set<string>();
  /** By attempt that runs. */
  readonly #spent = new Map<string, Spending>();
  /** Only where the whole run is seen: a part of it would be taken for all. */
  #inAll: Spending | undefined;
  /** Of the workflow's own tasks, how many attempts `retry` allows; of planners, the names of what they wrote. */
  readonly #retries = new Map<string, number>();
  readonly #expansions = new Map<string, string[]>();
  /** Tasks whose agents say what they say in a protocol: what their programs log is not their words. */
  readonly #speakers = new Set<string>();
  /** How many messages of people the agents of a task have not read. */
  readonly #unread = new Map<string, number>();
  /** What the run had no money for. */
  #short: BudgetMark | undefined;

  constructor(options: TellerOptions) {
    this.#options = options;
    this.#names = new TaskNames(options.labels);
  }

  /** Learns the names of what came before the events that are told. */
  know(events: readonly Recorded[]): void {
    for (const { event } of events) {
      this.#names.add(event);
      if (event.type === 'question.asked') this.#questions.set(event.id, event);
    }
  }

  /** Nothing for events that are not worth telling. */
  tell(recorded: Recorded): ToldOf {
    const event = this.#completed(recorded);
    const task = this.#taskOf(event);
    return { task, told: this.#tell(event, recorded.run) };
  }

  /** Whether what a program printed is its log, and not its agent's words. */
  isLog({ task, stream }: EventOf<'attempt.output'>): boolean {
    return stream === 'stderr' && this.#speakers.has(task);
  }

  /** Earlier formats did not say when an answer stopped the run. */
  #completed({ event, format }: Recorded): Event {
    if (format === undefined || event.type !== 'attempt.answered') return event;
    const stops = budgetStop(event, this.#asked.get(event.id)?.event.budget);
    return stops ? { ...event, stops } : event;
  }

  /** What people call the task that the event is about; empty where it is about the run. */
  #taskOf(event: Event): string {
    const of = event.type === 'question.answered' ? this.#questions.get(event.id) : event;
    return of && 'task' in of ? this.#names.of(of.task) : '';
  }

  #tell(event: Event, run: string): AgentLine[] {
    if (event.type === 'attempt.progress')
      return this.#options.withOutput ? [{ text: `progress: ${tellProgress(event)}`, color: 'quiet' }] : [];
    if (event.type === 'attempt.agent') return this.#options.withOutput ? tellAgent(event.event) : [];
    const told = this.#describe(event, run);
    const unread = event.type === 'task.finished' ? this.#leftUnread(event.task) : undefined;
    return [told, unread].filter((line) => line !== undefined);
  }

  #spend(event: EventOf<'model.used'>): undefined {
    const key = keyOf(event);
    if (!this.#spent.has(key)) this.#spent.set(key, noSpending());
    spend(this.#spent.get(key)!, event);
    if (this.#inAll) spend(this.#inAll, event);
  }

  /** Such as ", $0.42". */
  #costOf(spending: Spending | undefined): string {
    const usd = spending?.requests ? tellUsd(spending) || 'price unknown' : '';
    return usd === '' ? '' : `, ${usd}`;
  }

  #describe(event: Event, run: string): AgentLine | undefined {
    switch (event.type) {
      case 'run.created': {
        this.#inAll = noSpending();
        for (const [name, { retry }] of Object.entries(event.workflow.tasks))
          if (retry) this.#retries.set(name, retry.attempts);
        for (const [name, { agent }] of Object.entries(event.workflow.tasks)) {
          const found = typeof agent === 'string' ? event.workflow.agents[agent] : agent;
          if (found && found.runtime !== 'cli') this.#speakers.add(name);
        }
        const tasks = count(Object.keys(event.workflow.tasks).length, 'task');
        return {
          text: `${event.queued ? 'queued' : 'started'}: ${tasks} from ${shortCommit(event.base)}${event.dirty ? ' with uncommitted changes' : ''}`,
        };
      }
      case 'run.isolation':
        return isFenced(event) ? undefined : { text: 'is NOT FENCED', color: 'bad' };
      case 'clock.jumped':
        if (event.ms < 0) return undefined;
        return {
          text: `bosun was not running for ${formatDuration(event.ms)} (asleep, or the machine was too busy); nobody's time counts it`,
          color: 'quiet',
        };
      case 'run.noted':
        return { text: event.text, color: 'ask' };
      case 'hook.failed':
        return { text: tellHookFailure(event), color: 'ask' };
      case 'attempt.hooked':
        return { text: tellHooked(event), ...(event.veto !== undefined && { color: 'ask' as const }) };
      case 'run.resumed':
        this.#short = undefined;
        return { text: 'goes on' };
      case 'run.cancelling':
        this.#held.clear(); // what is let go now ends
        return {
          text: event.mode === 'now' ? 'is stopped now' : 'is cancelled: agents are asked to stop',
          color: 'ask',
        };
      case 'run.paused':
        return { text: `paused by ${event.by}  (bosun resume ${run})`, color: 'ask' };
      case 'task.paused':
        return {
          text: `paused by ${event.by}  (bosun resume ${shellWord(this.#names.of(event.task))} --run ${run})`,
          color: 'ask',
        };
      case 'run.unpaused':
      case 'task.unpaused':
        return { text: `continues, says ${event.by}` };
      case 'run.landed':
        return { text: `merged into ${event.branch ?? 'a detached HEAD'} by ${event.by}`, color: 'good' };
      case 'run.unlanded':
        return { text: `its merge was undone by ${event.by}`, color: 'ask' };
      case 'attempt.pausing':
        if (event.how === 'stop') this.#stopped.add(keyOf(event));
        return { text: `${PAUSING[event.how]}: ${event.because}`, color: 'quiet' };
      case 'run.finished':
        return tellRunEnd(event, this.#costOf(this.#inAll).slice(2), this.#short);
      case 'task.retried':
        return { text: 'is tried again' };
      case 'task.delayed':
        return { text: this.#retry(event) };
      case 'task.again':
        return event.why === 'replan'
          ? { text: `asks its planner again, since ${event.because}`, color: 'ask' }
          : undefined; // its next attempt is told
      case 'task.expanded':
        return this.#expand(event);
      case 'task.handed':
        return this.#hand(event);
      case 'task.judging':
        this.#names.add(event);
        return { text: 'asks its judge' };
      case 'task.summarizing':
        this.#names.add(event);
        return {
          text: `waits for a summary by ${event.agent}: ${event.texts.map(({ what }) => what).join(', ')}`,
          color: 'quiet',
        };
      case 'task.picked':
        return {
          text: `picked ${this.#names.of(event.candidate)}: ${event.because}`,
          color: 'good',
        };
      case 'task.round':
        this.#names.add(event);
        return { text: ROUNDS[event.why] };
      case 'child.added':
        return { text: `has a child: ${this.#names.of(event.child)}` };
      case 'child.refused':
        return { text: `gets no child: ${event.why}`, color: 'ask' };
      case 'child.cancelling':
      case 'task.cancelling':
        return { text: `is cancelled by ${event.by}`, color: 'ask' };
      case 'task.awaiting':
        return {
          text: event.cancels ? 'its children are cancelled' : 'waits for its children',
          color: 'quiet',
        };
      case 'attempt.held':
        if (event.by === 'turn') return undefined; // a rate limit was told of, for all that wait for it
        this.#held.add(event.task);
        return { text: `held: ${event.text}`, color: 'ask' };
      case 'attempt.released':
        return this.#held.delete(event.task) ? { text: 'goes on', color: 'quiet' } : undefined;
      case 'task.merged':
        return (
          event.conflict && {
            text: `conflict in ${filesOf(event.conflict.files)} settled by ${event.conflict.resolved}`,
            color: 'ask',
          }
        );
      case 'task.conflicted':
        return { text: this.#conflict(event), color: 'bad' };
      case 'publication.made': {
        const files = event.changedCount > 0 ? ` with ${count(event.changedCount, 'changed file')}` : '';
        return { text: `published ${event.name} version ${event.version}${files}` };
      }
      case 'service.announced':
      case 'service.gone':
        return tellServed(event);
      case 'merge.deferred': {
        const names = filesOf(event.until.map((id) => this.#names.of(id)));
        return {
          text: `is merged after ${names}, since it started from what that published`,
          color: 'quiet',
        };
      }
      case 'access.requested':
        return {
          text: `wants to change ${filesOf(event.globs)}${event.patch === undefined && !event.patchRef ? '' : ', and says how'}  (${event.id})`,
        };
      case 'access.asked':
        return {
          text: `${event.id}: asks ${filesOf(event.owners.map((owner) => this.#names.of(owner)))}, which owns it`,
        };
      case 'access.said':
        return { text: `${event.id}: ${event.answer}, said ${this.#names.of(event.owner)}` };
      case 'access.unanswered':
        return { text: `${event.id}: no answer in time` };
      case 'access.answered':
        if (event.answer === 'applied') return { text: `applied: ${event.why}`, color: 'good' };
        return event.answer === 'yes'
          ? { text: `granted: ${filesOf(event.globs)} (by ${event.by}): ${event.why}`, color: 'good' }
          : { text: `refused: ${filesOf(event.globs)} (${accessBy(event.by)}${event.why})`, color: 'ask' };
      case 'message.sent':
      case 'message.read':
      case 'message.delivered':
      case 'message.refused':
        return tellMessage(event, this.#names);
      case 'wait.began':
      case 'wait.ended':
      case 'wait.circled':
        return tellWait(event, this.#names);
      case 'model.waiting':
      case 'budget.warned':
      case 'budget.set':
        return tellNotice(event);
      case 'task.steered':
        this.#unread.set(event.task, (this.#unread.get(event.task) ?? 0) + 1);
        return tellNotice(event);
      case 'attempt.steered':
        return this.#read(event);
      case 'model.used':
        return this.#spend(event);
      case 'attempt.asked':
        this.#asked.set(event.id, { event, wasPut: false });
        return undefined;
      case 'attempt.answered': {
        const asked = this.#asked.get(event.id);
        this.#asked.delete(event.id);
        if (event.stops) {
          this.#short ??= event.stops;
          this.#held.clear();
        }
        return tellAnswer(event, asked?.event, asked?.wasPut ?? false);
      }
      case 'question.asked':
        if (this.#asked.has(event.id)) this.#asked.get(event.id)!.wasPut = true;
        this.#questions.set(event.id, event);
        return { text: tellQuestion(event, run), color: 'ask' };
      case 'question.answered':
        return { text: tellGiven(event, this.#questions.get(event.id), this.#options.fit) };
      case 'attempt.started':
        return this.#start(event);
      case 'attempt.denied':
        return { text: `denied: ${describeDenied(event)}`, color: 'ask' };
      case 'attempt.finished':
        return this.#attempt(event);
      case 'task.finished':
        return this.#finished(event);
      default:
        return undefined;
    }
  }

  #read({ task, steers }: EventOf<'attempt.steered'>): AgentLine {
    this.#unread.set(task, (this.#unread.get(task) ?? 0) - steers.length);
    const what = steers.length === 1 ? 'the message' : `${steers.length} messages`;
    return { text: `read ${what}`, color: 'quiet' };
  }

  /** What was said before the events that are told may have been read among them. */
  #leftUnread(task: string): AgentLine | undefined {
    const unread = this.#unread.get(task) ?? 0;
    this.#unread.delete(task);
    if (unread <= 0) return undefined;
    return { text: `${count(unread, 'message')} not read: the task ended first`, color: 'ask' };
  }

  #retry({ task, attempt, delayMs }: EventOf<'task.delayed'>): string {
    const attempts = this.#retries.get(task);
    const of = attempts === undefined || attempts <= attempt ? '' : ` of ${attempts}`;
    return `retries in ${formatDuration(delayMs)} (attempt ${attempt + 1}${of})`;
  }

  #conflict({ conflict }: EventOf<'task.conflicted'>): string {
    const names = conflict.with.map((task) => this.#names.of(task)).join(', ');
    return `conflicts${names === '' ? '' : ` with ${names}`} in ${filesOf(conflict.files)}`;
  }

  #hand(event: EventOf<'task.handed'>): AgentLine {
    const { agent, rejected } = event;
    this.#names.add(event);
    if (!rejected) return { text: `goes to ${agent}` };
    return {
      text: `${this.#names.of(rejected.by)} sent it back to ${agent}: ${rejected.reasons}`,
      color: 'ask',
    };
  }

  #expand(event: EventOf<'task.expanded'>): AgentLine | undefined {
    const { task, kind, items, candidates } = event;
    this.#names.add(event);
    if (items) return { text: `runs for each of ${count(items.length, 'item')}` };
    if (candidates) return { text: `races ${count(candidates.length, 'candidate')}` };
    const names = this.#expansions.get(task);
    this.#expansions.delete(task);
    if (kind === 'handoff' || kind === 'continuous') return undefined; // each turn and round is told
    if (!names) return { text: kind === 'uses' ? 'runs its workflow' : 'added tasks' };
    return { text: `added ${count(names.length, 'task')}: ${filesOf(names)}` };
  }

  /** That it has another runtime is told when it gets it, not with each further attempt. */
  #start(event: EventOf<'attempt.started'>): AgentLine {
    const { task, fallback, ...rest } = event;
    if (!fallback || this.#fallbacks.get(task) === fallback.because) return tellStart({ task, ...rest });
    this.#fallbacks.set(task, fallback.because);
    return tellStart(event);
  }

  /** A good end is told once, by the task. */
  #attempt(event: EventOf<'attempt.finished'>): AgentLine | undefined {
    const { task, attempt, outcome, durationMs, collected } = event;
    const changed =
      collected && collected.changedCount > 0 ? `, ${count(collected.changedCount, 'file')} changed` : '';
    const files = `${changed}${this.#costOf(this.#spent.get(keyOf(event)))}${outsideOf(collected?.outside)}`;
    this.#spent.delete(keyOf(event));
    if (event.expansion) this.#expansions.set(task, Object.keys(event.expansion));
    if (outcome.kind === 'done') {
      this.#told.set(task, ` in ${formatDuration(durationMs)}${files}`);
      return undefined;
    }
    if (outcome.kind === 'lost' && outcome.because !== undefined)
      return { text: `attempt ${attempt} is made again: ${outcome.because}${files}`, color: 'ask' };
    if (outcome.kind === 'lost')
      return { text: `attempt ${attempt} was interrupted: its bosun process died${files}`, color: 'ask' };
    const isForPause = this.#stopped.delete(keyOf(event));
    if (outcome.kind === 'cancelled' && isForPause)
      return { text: `attempt ${attempt} stopped for the pause${files}`, color: 'quiet' };
    if (outcome.kind === 'cancelled') return { text: `attempt ${attempt} was ended${files}`, color: 'ask' };
    this.#told.set(task, outcome.message);
    return {
      text: `attempt ${attempt} failed after ${formatDuration(durationMs)}: ${outcome.message}${tellError(event)}${files}`,
      color: 'bad',
    };
  }

  #finished({ task, outcome }: EventOf<'task.finished'>): AgentLine | undefined {
    const before = this.#told.get(task);
    this.#told.delete(task);
    if (outcome.kind === 'done')
      return { text: `done${before?.startsWith(' in ') ? before : ''}`, color: 'good' };
    if (outcome.kind === 'skipped') return { text: `skipped: ${outcome.message}`, color: 'quiet' };
    if (outcome.kind !== 'failed') return { text: outcome.kind, color: 'ask' };
    return { text: outcome.message === before ? 'failed' : `failed: ${outcome.message}`, color: 'bad' };
  }
}

function keyOf({ task, attempt }: { task: string; attempt: number }): string {
  return `${task}@${attempt}`;
}
