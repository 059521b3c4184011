/**
 * The hooks of a run: asks those before an attempt one after another, and tells the others what happened once it is in
 * the journal. A veto and what is added are facts; what goes wrong after the fact is an event, and changes nothing.
 *
 *   before an attempt: user's → workflow's → program's; the first veto wins, an error is a veto
 *   after the fact:    the same order, one after another; webhooks and notifications each in a lane of their own
 *   webhooks:          what they took is in the journal; what they did not, since the engine was killed, is told by the next
 */
import { formatDuration } from '../base/units.ts';
import { whenAwakeFor } from '../base/awake.ts';
import type { ConfigFile } from '../contract/config.ts';
import { BosunError } from '../contract/errors.ts';
import type { EventOf, Fact } from '../contract/event.ts';
import {
  HOOK_MOMENTS,
  NOTICE_MOMENTS,
  spellHook,
  type HookInput,
  type HookMoment,
} from '../contract/hook.ts';
import type { Workflow } from '../contract/workflow.ts';
import { shortVeto } from '../hooks/hook-answer.ts';
import type { Hook } from '../hooks/hook.ts';
import { Lane } from '../hooks/lane.ts';
import { nodeOf, type Node } from '../schedule/state.ts';
import { sealArmed } from './own-seal.ts';
import { HookInputs } from './hook-input.ts';
import type { HookPlace } from './hook-list.ts';
import type { Landings } from './landings.ts';
import type { Loop } from './loop.ts';
import type { ProgramHook } from './program-hooks.ts';
import { webhookId } from './webhook-id.ts';
import type { Untold } from './untold.ts';
import type { Store } from '../store/store.ts';

/** How long a run that has ended waits for hooks, for what is tried again, and for webhooks. */
const END_MS = 60_000;
const AGAIN_MS = 3000;
const APART_MS = 12_000;
/** All of that, where it was cancelled with `now`. */
const HURRIED_MS = 3000;
/** Most hooks are over by then. */
const SHOWN_AFTER_MS = 1000;
/** What came of telling, where that is not in the journal yet. */
const UNWRITTEN_MAX = 1000;

export interface HookSources extends Omit<HookPlace, 'top'> {
  /** Of these only the user's own may have hooks. */
  configs: readonly ConfigFile[];
  /** What a program has added by now. */
  program(): readonly ProgramHook[];
  /** A replay asks before attempts, and tells nobody of what did not happen. */
  isReplayed: boolean;
}

export interface HookDeskOptions {
  loop: Pick<Loop, 'state' | 'submit' | 'note' | 'isOver' | 'record'>;
  landings: Pick<Landings, 'land'>;
  sources: HookSources | undefined;
  top: string;
  nowMs(): number;
}

/** What becomes of an attempt. */
export type Hooked =
  | { kind: 'go'; start: EventOf<'attempt.started'>; added?: string }
  | { kind: 'vetoed'; facts: Fact[] }
  | { kind: 'stopped' };

export class HookDesk {
  readonly #options: HookDeskOptions;
  readonly #inputs: HookInputs;
  readonly #ended = new AbortController();
  readonly #closing = new AbortController();
  /** Of what is told until somebody cancels with `now`; of what is told after that another one. */
  #now = new AbortController();
  #isHurried = false;
  #isWorkflowLeft = false;
  readonly #ordered = new Lane();
  readonly #apart = new Map<Hook, Lane>();
  readonly #ofWorkflow = new Map<Workflow, Hook[]>();
  readonly #ofProgram = new Map<string, Hook>();
  readonly #unwritten = new Set<Fact>();
  #ofUser: Hook[] | undefined;
  /** Keeps what happened in its order while the list is loaded. */
  #telling: Promise<void> = Promise.resolve();

  constructor(options: HookDeskOptions) {
    this.#options = options;
    this.#inputs = new HookInputs(options.loop.state, options.top, options.nowMs);
  }

  /** Resolves once all that was said is in the journal, or with what has to be. */
  async before(node: Node, start: EventOf<'attempt.started'>, signal: AbortSignal): Promise<Hooked> {
    if (!this.#isWanted('before-attempt', node)) return { kind: 'go', start };
    const { task, attempt } = start;
    const hooks = await this.#hooksAt('before-attempt', node);
    const input = this.#inputs.before(node, start);
    const added = { env: {} as Record<string, string>, prompts: [] as string[] };
    for (const hook of hooks) {
      let answer;
      try {
        answer = await this.#shown(hook, start, () =>
          timed(hook, signal, (within) => hook.ask!(input, within)),
        );
      } catch (error) {
        if (signal.aborted) return { kind: 'stopped' };
        answer = { veto: shortVeto(`it failed: ${wordsOf(error)}`) };
      }
      if (signal.aborted) return { kind: 'stopped' };
      const { veto, env, prompt } = answer;
      const fact = { type: 'attempt.hooked', task, attempt, hook: hook.name } as const;
      if (veto !== undefined) {
        const outcome = { kind: 'failed', reason: 'vetoed', message: `${hook.name}: ${veto}` } as const;
        const ended = { type: 'attempt.finished', task, attempt, outcome, durationMs: 0 } as const;
        return { kind: 'vetoed', facts: [{ ...fact, veto }, ended] };
      }
      // A plain command is its prompt: nothing is added to that.
      const isTold = prompt !== undefined && input.runtime !== undefined;
      const names = Object.keys(env ?? {});
      if (names.length === 0 && !isTold) continue;
      Object.assign(added.env, env);
      if (isTold) added.prompts.push(prompt);
      await this.#options.landings.land({
        ...fact,
        ...(names.length > 0 && { env: names }),
        ...(isTold && { prompt }),
      });
    }
    const { env, prompts } = added;
    const more = prompts.join('\n\n');
    return {
      kind: 'go',
      // In memory alone: who starts the attempt again asks again.
      start: Object.keys(env).length > 0 ? { ...start, env: { ...start.env, ...env } } : start,
      ...(more !== '' && { added: more }),
    };
  }

  /** From here on the user's hooks and the program's alone are called. */
  leaveWorkflows(): void {
    this.#isWorkflowLeft = true;
  }

  /** What an earlier engine was killed before it could tell; gives what the journal is to say from here on. */
  async makeUp(store: Store): Promise<Fact[]> {
    const { sources, loop, top, nowMs } = this.#options;
    if (!sources || sources.isReplayed) return [];
    if (!hasWebhooks(sources) && !loop.state.hasWebhooks) return [];
    let webhooks: Hook[] = [];
    try {
      const list = await import('./hook-list.ts');
      this.#ofUser ??= list.userHooks(sources.configs, { ...sources, top });
      webhooks = this.#ofUser.filter(({ isMadeUpFor }) => isMadeUpFor);
    } catch {
      return []; // each moment says so
    }
    const { findUntold } = await import('./untold.ts');
    const { untold, left } = await findUntold(store, loop.state.id, top, nowMs());
    for (const each of untold) {
      const hook = webhooks.find(({ name, on }) => name === each.hook && on.includes(each.moment));
      if (hook) this.#add(hook, each, this.#signal);
    }
    const why = 'bosun was killed before it could be told, and that is too long ago';
    const on = webhooks.map((hook) => ({ hook: hook.name, on: [...hook.on] }));
    const sealed = sealArmed(top, loop.state.id);
    return [
      { type: 'hooks.armed', webhooks: on, ...(sealed !== undefined && { sealed }) },
      ...left.map(({ hook, moment, seq }) => ({ type: 'hook.failed', hook, moment, seq, why }) as const),
    ];
  }

  attemptEnded(event: EventOf<'attempt.finished'>, seq: number): void {
    const { task } = event;
    const isVetoed = event.outcome.kind === 'failed' && event.outcome.reason === 'vetoed';
    if (!isVetoed) this.#tell({ moment: 'after-attempt', task, seq }, () => this.#inputs.after(event));
    this.#tell({ moment: 'error', task, seq }, () => this.#inputs.attemptFailed(event));
  }

  taskEnded(event: EventOf<'task.finished'>, seq: number): void {
    this.#tell({ moment: 'error', task: event.task, seq }, () => this.#inputs.taskFailed(event));
  }

  asked(event: EventOf<'question.asked'>, seq: number): void {
    this.#tell({ moment: 'question', task: event.task, seq }, () => this.#inputs.question(event));
  }

  /** One that failed is in the journal. */
  heard(fact: Fact): void {
    this.#unwritten.delete(fact);
  }

  /** The run has ended with this event, and nothing is recorded any more but by this: tells so, and waits for a while until all are told. */
  async runEnded(seq: number): Promise<void> {
    this.#tell({ moment: 'run-ended', task: undefined, seq }, () => this.#inputs.ended());
    await this.allTold();
  }

  /** Resolves when all are told, or there is no time any more; nothing is told from here on. */
  async allTold(): Promise<void> {
    await this.#telling;
    const callOff = whenAwakeFor(AGAIN_MS, () => this.#closing.abort());
    const lanes = [...this.#apart.values()];
    const msMax = this.#isHurried ? HURRIED_MS : Infinity;
    await Promise.all([
      within(this.#ordered.idle(), Math.min(END_MS, msMax)),
      within(Promise.all(lanes.map((lane) => lane.idle())), Math.min(APART_MS, msMax)),
    ]);
    callOff();
    await this.close();
    const late = [...this.#unwritten];
    // The end of the run is in the journal: what cannot be added to it is not worth more than that.
    if (late.length > 0) await this.#options.loop.record(late).catch(() => {});
  }

  /** The run was cancelled with `now`: ends what is under way and waits; what happens from here on is told, with little time. */
  hurry(): void {
    this.#isHurried = true;
    this.#now.abort(new BosunError('system', 'the run was cancelled'));
    this.#now = new AbortController();
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#ended.abort(new BosunError('system', 'the run ended before it could be told'));
    await this.#telling;
    const lanes = [this.#ordered, ...this.#apart.values()];
    for (const lane of lanes) lane.clear('the run ended before it could be told');
    await Promise.all(lanes.map((lane) => lane.idle()));
  }

  /** Whoever looks is told what the attempt waits for, where that takes a while. */
  async #shown<T>(hook: Hook, start: EventOf<'attempt.started'>, act: () => Promise<T>): Promise<T> {
    const { task, attempt } = start;
    const { loop } = this.#options;
    let isHeld = false;
    const callOff = whenAwakeFor(SHOWN_AFTER_MS, () => {
      isHeld = true;
      loop.submit({
        type: 'attempt.held',
        task,
        attempt,
        by: 'hook',
        text: `waits for ${spellHook(hook.name)}`,
      });
    });
    try {
      return await act();
    } finally {
      callOff();
      if (isHeld) loop.submit({ type: 'attempt.released', task, attempt });
    }
  }

  #tell({ moment, task, seq }: Omit<Untold, 'hook' | 'input'>, make: () => HookInput | undefined): void {
    const { sources, loop } = this.#options;
    if (!sources || sources.isReplayed || this.#ended.signal.aborted) return;
    const node = task === undefined ? undefined : nodeOf(loop.state, task);
    if (!this.#isWanted(moment, node)) return;
    const input = make();
    if (input === undefined) return;
    const signal = this.#signal;
    this.#telling = this.#telling.then(async () => {
      let hooks: Hook[];
      try {
        hooks = await this.#hooksAt(moment, node);
      } catch (error) {
        return this.#failed('list', input, `the hooks could not be read: ${wordsOf(error)}`);
      }
      for (const hook of hooks) this.#add(hook, { input, moment, seq }, signal);
    });
  }

  #add(
    hook: Hook,
    { input, moment, seq }: Pick<Untold, 'input' | 'moment' | 'seq'>,
    signal: AbortSignal,
  ): void {
    const { loop, top } = this.#options;
    const { name, isMadeUpFor } = hook;
    const closing = this.#closing.signal;
    const leave = (why: string): void => this.#failed(name, input, why, isMadeUpFor ? seq : undefined);
    const id = isMadeUpFor ? webhookId(loop.state, top, { hook: name, moment, seq }) : undefined;
    this.#laneOf(hook).add({
      leave,
      act: () =>
        timed(hook, signal, (ownSignal) => hook.tell(input, { closing, signal: ownSignal }, id)).then(
          () => isMadeUpFor && this.#note({ type: 'hook.told', hook: name, moment, seq }),
          (error: unknown) => leave(wordsOf(error)),
        ) as Promise<void>,
    });
  }

  get #signal(): AbortSignal {
    return AbortSignal.any([this.#ended.signal, this.#now.signal]);
  }

  #laneOf(hook: Hook): Lane {
    if (!hook.isApart) return this.#ordered;
    let lane = this.#apart.get(hook);
    if (!lane) this.#apart.set(hook, (lane = new Lane()));
    return lane;
  }

  /** Without loading anything: most runs have no hook at all. */
  #isWanted(moment: HookMoment, node: Node | undefined): boolean {
    const { sources } = this.#options;
    if (!sources) return false;
    if (sources.program().some((hook) => hook.moment === HOOK_MOMENTS[moment])) return true;
    if (this.#workflowsOf(node).some(({ workflow }) => isOn(workflow.hooks, moment))) return true;
    return sources.configs.some(({ isUsers, config: { hooks, notify = [] } }) => {
      if (!isUsers) return false;
      return isOn(hooks, moment) || (notify.length > 0 && moments.has(moment));
    });
  }

  async #hooksAt(moment: HookMoment, node: Node | undefined): Promise<Hook[]> {
    const list = await import('./hook-list.ts');
    const { top, sources } = this.#options;
    const place = { ...sources!, top };
    this.#ofUser ??= list.userHooks(sources!.configs, place);
    const all = [
      ...this.#ofUser,
      ...this.#workflowsOf(node).flatMap(({ workflow, from }) => {
        let hooks = this.#ofWorkflow.get(workflow);
        if (!hooks) this.#ofWorkflow.set(workflow, (hooks = list.workflowHooks(workflow, from, place)));
        return hooks;
      }),
      ...sources!.program().map((added) => {
        let hook = this.#ofProgram.get(added.id);
        if (!hook) this.#ofProgram.set(added.id, (hook = list.programHook(added)));
        return hook;
      }),
    ];
    return all.filter(({ on }) => on.includes(moment));
  }

  /** That of the run, and those that it uses on the way to a task. */
  #workflowsOf(node: Node | undefined): { workflow: Workflow; from: string }[] {
    if (this.#isWorkflowLeft) return [];
    const { state } = this.#options.loop;
    const inner: { workflow: Workflow; from: string }[] = [];
    for (let at = node; at?.parent; at = at.parent)
      if (at.workflow !== at.parent.workflow)
        inner.unshift({ workflow: at.workflow, from: at.parent.task.uses ?? state.source });
    return [{ workflow: state.workflow, from: state.source }, ...inner];
  }

  #failed(hook: string, input: HookInput, why: string, seq?: number): void {
    const about = 'task' in input ? input.task : undefined;
    const fact: Fact = {
      type: 'hook.failed',
      hook,
      moment: input.type,
      ...(about !== undefined && { about }),
      why: shortVeto(why),
      ...(seq !== undefined && { seq }),
    };
    this.#note(fact);
  }

  #note(fact: Fact): void {
    if (this.#unwritten.size >= UNWRITTEN_MAX) return;
    this.#unwritten.add(fact);
    if (!this.#options.loop.isOver) this.#options.loop.note(fact);
  }
}

export function hasWebhooks({ configs }: Pick<HookSources, 'configs'>): boolean {
  return configs.some(({ isUsers, config }) => isUsers && config.hooks?.some(({ url }) => url !== undefined));
}

const moments: ReadonlySet<HookMoment> = new Set(Object.values(NOTICE_MOMENTS));

function isOn(hooks: readonly { on: HookMoment | HookMoment[] }[] | undefined, moment: HookMoment): boolean {
  return hooks?.some(({ on }) => [on].flat().includes(moment)) ?? false;
}

/** What a machine sleeps is nobody's time. */
async function timed<T>(
  { timeoutMs }: Hook,
  signal: AbortSignal,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const callOff = whenAwakeFor(timeoutMs, () =>
    late.abort(new BosunError('system', `it did not end within ${formatDuration(timeoutMs)}`)),
  );
  try {
    return await act(AbortSignal.any([signal, late.signal]));
  } finally {
    callOff();
  }
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const callOff = whenAwakeFor(ms, late.resolve);
  await Promise.race([work, late.promise]);
  callOff();
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
