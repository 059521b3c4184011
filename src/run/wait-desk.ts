/**
 * Where attempts of a run wait: for a message, a publication, or the end of a task. It makes facts of it, keeps the time, and answers
 * once it is in the journal that the wait is over. It decides nothing, and never leaves anybody waiting.
 */
import { didYouMean } from '../base/suggest.ts';
import { BosunError } from '../contract/errors.ts';
import type { EventOf, Fact, WaitFor } from '../contract/event.ts';
import type { Waited } from '../contract/message.ts';
import { isServiceName, SERVICE_NAME_RULE } from '../contract/services.ts';
import { API_NEED } from '../contract/workflow-words.ts';
import type { CrewTools } from '../crew/tools.ts';
import { nodeOf, type Node, type State } from '../schedule/state.ts';
import { findTask, isAgent, tellUnknown } from '../schedule/workflow/addressees.ts';
import { findInterface, versionUnder } from '../schedule/workflow/publications.ts';
import type { Loop } from './loop.ts';
import type { RunTimers } from './run-timers.ts';

/** Of one attempt. */
const WAITS_MAX = 1000;
const NAMES_SHOWN_MAX = 20;
/** Where nobody says how long. */
const WAIT_SECONDS_DEFAULT = 300;

type Input = Parameters<CrewTools['wait_for']>[0];
type Desked = Pick<Loop, 'state' | 'submit' | 'note' | 'isOver'>;

interface WaitAround {
  /** Aborts where whoever waits hung up. */
  left?: AbortSignal | undefined;
  /** What whoever waits does as soon as it is met: recorded together with that. */
  along?: (() => Fact[]) | undefined;
  /** Nothing has come yet: then nobody minds when it is recorded that the wait has begun. */
  isNew?: boolean;
}

export class WaitDesk {
  readonly #loop: Desked;
  readonly #timers: Pick<RunTimers, 'wait' | 'callOff'>;
  readonly #waiting = new Map<string, { answer(waited: Waited): void; along?: (() => Fact[]) | undefined }>();
  readonly #counts = new Map<string, number>();
  #begun = 0;

  constructor(loop: Desked, timers: Pick<RunTimers, 'wait' | 'callOff'>) {
    this.#loop = loop;
    this.#timers = timers;
  }

  /** What does the work behind the crew's tools, for one attempt. */
  toolsFor(task: string, attempt: number): Pick<CrewTools, 'wait_for'> {
    return {
      wait_for: async ({ timeout, ...input }, left) =>
        await this.wait({ task, attempt }, this.#wanted(task, input), timeout, { left }),
    };
  }

  /** Resolves when it is over, whatever ended it. */
  async wait(
    at: { task: string; attempt: number },
    what: WaitFor,
    seconds = WAIT_SECONDS_DEFAULT,
    { left, along, isNew = false }: WaitAround = {},
  ): Promise<Waited> {
    if (this.#loop.isOver || left?.aborted) return OVER;
    const key = `${at.task}@${at.attempt}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    if (count > WAITS_MAX)
      throw new BosunError('busy', `you have waited ${WAITS_MAX} times: that is the limit; continue without`);
    this.#counts.set(key, count);
    const id = `${at.task}+w${++this.#begun}`;
    const timeoutMs = Math.round(seconds * 1000);
    const { promise, resolve } = Promise.withResolvers<Waited>();
    this.#waiting.set(id, { answer: resolve, along });
    const leave = (): void => {
      this.#loop.submit({ type: 'wait.left', ...at, id });
      this.#answer(id, OVER);
    };
    left?.addEventListener('abort', leave, { once: true });
    const began: Fact = { type: 'wait.began', ...at, id, for: what, timeoutMs };
    if (isNew) this.#loop.note(began);
    else this.#loop.submit(began);
    this.#timers.wait(id, at.task, timeoutMs, { type: 'wait.expired', ...at, id });
    return await promise.finally(() => left?.removeEventListener('abort', leave));
  }

  /** What is recorded together with its end. */
  along({ id, why }: EventOf<'wait.ended'>): Fact[] {
    return (why === 'met' ? this.#waiting.get(id)?.along?.() : undefined) ?? [];
  }

  ended({ id, why, text }: EventOf<'wait.ended'>): void {
    this.#answer(id, { over: why, text });
  }

  circled({ waits, text }: EventOf<'wait.circled'>): void {
    for (const { id } of waits) this.#answer(id, { over: 'circle', text });
  }

  /** Its time is up, and it is in the journal: an attempt that had ended waits for no decision. */
  expired({ id }: EventOf<'wait.expired'>): void {
    this.#answer(id, { over: 'expired', text: 'your attempt has ended' });
  }

  /** Nothing will be decided any more. */
  close(): void {
    for (const id of this.#waiting.keys()) this.#answer(id, OVER);
  }

  #answer(id: string, waited: Waited): void {
    this.#timers.callOff(id);
    this.#waiting.get(id)?.answer(waited);
    this.#waiting.delete(id);
  }

  #wanted(task: string, { for: kind, name, version }: Omit<Input, 'timeout'>): WaitFor {
    const { state } = this.#loop;
    if (kind === 'publication') return publicationOf(nodeOf(state, task), name, version);
    if (version !== undefined) throw new BosunError('usage', 'only a publication has a version');
    if (kind === 'service') return serviceNamed(name);
    if (kind === 'end') return { kind, task: this.#taskToEnd(state, task, name) };
    if (name === undefined) return { kind };
    const sender = findTask(state, name);
    if (sender?.id === task) throw new BosunError('usage', `${name} is your own task`);
    if (sender) return { kind, task: sender.id };
    if (isAgent(state, name)) return { kind, agent: name };
    throw new BosunError('not-found', tellUnknown(state, nodeOf(state, task), name));
  }

  #taskToEnd(state: State, task: string, name: string | undefined): string {
    if (name === undefined) throw new BosunError('usage', 'name the task whose end you wait for');
    const node = findTask(state, name);
    if (!node) throw new BosunError('not-found', tellUnknown(state, nodeOf(state, task), name));
    for (let around: typeof node | undefined = nodeOf(state, task); around; around = around.parent)
      if (around === node)
        throw new BosunError('usage', `${name} is your own task: it does not end before you do`);
    return node.id;
  }
}

function serviceNamed(name: string | undefined): WaitFor {
  if (name === undefined || !isServiceName(name))
    throw new BosunError('usage', `name the service that you wait for: ${SERVICE_NAME_RULE}`);
  return { kind: 'service', name };
}

/** Without a version: one that is later than what the task works on. */
function publicationOf(node: Node, name: string | undefined, version: number | undefined): WaitFor {
  if (name === undefined) throw new BosunError('usage', 'name the interface that you wait for');
  const plain = name.startsWith(API_NEED) ? name.slice(API_NEED.length) : name;
  const found = findInterface(node, plain);
  if (!found) throw new BosunError('not-found', tellUnpublished(node, plain));
  for (let around: Node | undefined = node; around; around = around.parent)
    if (around === found.publisher) throw new BosunError('usage', `your own task publishes ${plain}`);
  const wanted = version === undefined ? versionUnder(node, found) + 1 : Math.max(1, Math.floor(version));
  return { kind: 'publication', publisher: found.publisher.id, name: found.name, version: wanted };
}

function tellUnpublished(node: Node, name: string): string {
  const names: string[] = [];
  for (let around: Node | undefined = node; around; around = around.parent)
    names.push(...around.interfaces.keys());
  const known = [...new Set(names)];
  const shown = known.slice(0, NAMES_SHOWN_MAX).join(', ') || 'nothing';
  return `no task publishes ${JSON.stringify(name.slice(0, 100))}${didYouMean(name, known)}; this workflow announces ${shown}`;
}

const OVER: Waited = { over: 'cancelled', text: 'the run is over' };
