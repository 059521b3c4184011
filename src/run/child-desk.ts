/**
 * Where agents ask for children: other agents with tasks of their own, within what the parent may do itself. Checks what
 * they ask for, makes facts of it, and answers once it is in the journal. It decides nothing: whether there is room for a
 * child is decided.
 */
import { BosunError } from '../contract/errors.ts';
import type { EventOf } from '../contract/event.ts';
import type { Child, Children, SpawnRequest } from '../contract/child.ts';
import type { CrewTools } from '../crew/tools.ts';
import { hasEnded, nodeOf, type Node } from '../schedule/state.ts';
import { childTask } from './child-task.ts';
import type { Loop } from './loop.ts';

/** Of one task, within `RATE_MS`. */
const RATE_MAX = 200;
const RATE_MS = 1000;
/** Of one task, in all its attempts, also those that were refused. */
export const REQUESTS_MAX = 2000;
/** What `children` gives of one that has ended; the rest is what `outputs` is for. */
const OUTPUT_CHARS_MAX = 16 * 1024;
const ALL_OUTPUT_CHARS_MAX = 128 * 1024;
const MESSAGE_CHARS_MAX = 300;
const CHILDREN_SHOWN_MAX = 200;
/** What a run's journal keeps of all children that were asked for. */
export const SPAWNED_CHARS_MAX = 32 * 1024 * 1024;

export interface ChildDeskOptions {
  loop: Pick<Loop, 'state' | 'submit' | 'isOver'>;
  nowMs(): number;
  /** Resolves when the task has ended, or the time is up. */
  wait(
    at: { task: string; attempt: number },
    task: string,
    seconds: number,
    left?: AbortSignal,
  ): Promise<unknown>;
}

export class ChildDesk {
  readonly #options: ChildDeskOptions;
  /** By the request's id. */
  readonly #asking = new Map<string, PromiseWithResolvers<string>>();
  /** How many ids were given out, where that is ahead of the state, and when. */
  readonly #given = new Map<string, { count: number; atMs: number[] }>();
  /** What was asked for, where that is ahead of the state. */
  #spawnedChars = 0;

  constructor(options: ChildDeskOptions) {
    this.#options = options;
  }

  /** What does the work behind the crew's tools, for one attempt. */
  toolsFor(task: string, attempt: number): Pick<CrewTools, 'spawn' | 'children' | 'cancel_child'> {
    return {
      spawn: async ({ wait, ...request }, left) => {
        const child = await this.#spawn(task, attempt, request);
        if (wait !== undefined) await this.#options.wait({ task, attempt }, child, wait, left);
        return this.#shown(nodeOf(this.#options.loop.state, child));
      },
      children: async () => this.#children(task),
      cancel_child: async ({ child }) => this.#cancel(task, child),
    };
  }

  /** Resolves with the id of the child's task, once that is in the journal. */
  async #spawn(parent: string, attempt: number, request: SpawnRequest): Promise<string> {
    const node = nodeOf(this.#options.loop.state, parent);
    const { id, number } = this.#nextId(node);
    const name = request.name ?? `child-${number}`;
    const child = await childTask(this.#options.loop.state, node, name, request);
    this.#countChars(JSON.stringify(child).length);
    if (this.#options.loop.isOver) throw new BosunError('wrong-state', 'the run is over');
    const asking = Promise.withResolvers<string>();
    this.#asking.set(id, asking);
    this.#options.loop.submit({ type: 'child.requested', task: parent, attempt, id, name, child });
    return asking.promise;
  }

  /** Those at work, and of the others those that were asked for last. */
  #children(parent: string): Children {
    const all = nodeOf(this.#options.loop.state, parent).children.filter(({ isChild }) => isChild);
    const newest = all.toReversed();
    const shown = new Set(
      [...newest.filter((child) => !hasEnded(child)), ...newest.filter(hasEnded)].slice(
        0,
        CHILDREN_SHOWN_MAX,
      ),
    );
    let leftChars = ALL_OUTPUT_CHARS_MAX;
    const children = all
      .filter((child) => shown.has(child))
      .map((child) => {
        const { output, ...rest } = this.#shown(child);
        leftChars -= output === undefined ? 0 : JSON.stringify(output).length;
        return output === undefined || leftChars < 0 ? rest : { ...rest, output };
      });
    const leftOut = all.length - children.length;
    return { children, ...(leftOut > 0 && { leftOut }) };
  }

  /** The child of this very task; nobody cancels another's. */
  #cancel(parent: string, named: string): Child {
    const node = nodeOf(this.#options.loop.state, parent);
    const child = this.#find(node, named);
    if (hasEnded(child))
      throw new BosunError('wrong-state', `${child.label} has ended already: it is ${child.state}`);
    if (!child.isDismissed)
      this.#options.loop.submit({ type: 'child.cancelling', task: child.id, by: node.label });
    return this.#shown(child);
  }

  added({ id, child }: EventOf<'child.added'>): void {
    this.#asking.get(id)?.resolve(child);
    this.#asking.delete(id);
  }

  refused({ id, why }: EventOf<'child.refused'>): void {
    this.#asking.get(id)?.reject(new BosunError('wrong-state', `no child was started: ${why}`));
    this.#asking.delete(id);
  }

  /** Nothing will be decided any more. */
  close(): void {
    for (const { reject } of this.#asking.values())
      reject(new BosunError('wrong-state', 'the engine stopped before there was an answer'));
    this.#asking.clear();
  }

  #find(node: Node, named: string): Node {
    const children = node.children.filter(({ isChild }) => isChild);
    const found = children.find(({ id, label, name }) => [id, label, name].includes(named));
    if (found) return found;
    const names = children.map(({ name }) => name).slice(0, 20);
    const there = names.length === 0 ? 'you have none' : `yours are ${names.join(', ')}`;
    throw new BosunError('not-found', `you have no child ${JSON.stringify(named.slice(0, 200))}; ${there}`);
  }

  #shown(child: Node): Child {
    const output = child.outputRef ? undefined : child.output;
    const isShort = output !== undefined && JSON.stringify(output).length <= OUTPUT_CHARS_MAX;
    const message = child.outcome && 'message' in child.outcome ? child.outcome.message : undefined;
    return {
      task: child.id,
      name: child.name,
      state: child.state,
      ...(message !== undefined && { message: message.slice(0, MESSAGE_CHARS_MAX) }),
      ...(isShort && output !== null && { output }),
      ...(child.changedCount !== undefined && { changedCount: child.changedCount }),
      ...(child.spending && { usd: child.spending.usd }),
    };
  }

  /** Also of those that are refused: they are in the journal. */
  #countChars(chars: number): void {
    this.#spawnedChars = Math.max(this.#spawnedChars, this.#options.loop.state.spawnedChars);
    if (this.#spawnedChars + chars > SPAWNED_CHARS_MAX)
      throw new BosunError(
        'busy',
        `the children of this run were told ${SPAWNED_CHARS_MAX / 1024 / 1024} MB in all: that is the limit`,
      );
    this.#spawnedChars += chars;
  }

  #nextId(node: Node): { id: string; number: number } {
    if ((node.spawns ?? 0) >= REQUESTS_MAX)
      throw new BosunError('busy', `your task has asked for ${REQUESTS_MAX} children: that is the limit`);
    const given = this.#given.get(node.id) ?? { count: 0, atMs: [] };
    this.#given.set(node.id, given);
    const nowMs = this.#options.nowMs();
    given.atMs = given.atMs.filter((atMs) => atMs > nowMs - RATE_MS && atMs <= nowMs);
    if (given.atMs.length >= RATE_MAX)
      throw new BosunError('busy', `you have asked for ${RATE_MAX} children within a second; wait a moment`);
    given.atMs.push(nowMs);
    given.count = Math.max(given.count, node.spawns ?? 0) + 1;
    // Task names hold no "+", so that nothing else has such a name.
    return { id: `${node.id}+child${given.count}`, number: given.count };
  }
}
