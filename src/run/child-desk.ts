/**
 * Where agents ask for children: other agents with tasks of their own, within what the parent may do itself. Checks what
 * they ask for, makes facts of it, and answers once it is in the journal. It decides nothing: whether there is room for a
 * child is decided.
 */
import { BosunError } from '../contract/errors.ts';
import type { EventOf } from '../contract/event.ts';
import type { Json, Task } from '../contract/workflow.ts';
import type { Child, Children, SpawnRequest } from '../contract/child.ts';
import type { CrewTools } from '../crew/tools.ts';
import { checkExpansionApart } from '../definition/expansion/thread.ts';
import { hasEnded, nodeOf, type Node } from '../schedule/state.ts';
import { agentOf, onConflict } from '../schedule/workflow/agent-of.ts';
import { childScope } from '../schedule/workflow/child-scope.ts';
import { effectiveLimits, effectiveScope, withGranted } from '../schedule/workflow/scope-of.ts';
import type { Loop } from './loop.ts';

/** Of one task, within `RATE_MS`. */
const RATE_MAX = 200;
const RATE_MS = 1000;
/** Of one task, in all its attempts, also those that were refused. */
const REQUESTS_MAX = 2000;
/** What `children` gives of one that has ended; the rest is what `outputs` is for. */
const OUTPUT_CHARS_MAX = 16 * 1024;
const ALL_OUTPUT_CHARS_MAX = 128 * 1024;
const MESSAGE_CHARS_MAX = 300;
const CHILDREN_SHOWN_MAX = 200;
/** What a run's journal keeps of all children that were asked for. */
const SPAWNED_CHARS_MAX = 32 * 1024 * 1024;

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
    const child = await taskOf(node, name, request);
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
    this.#asking.get(id)?.reject(new BosunError('wrong-state', `there is no child: ${why}`));
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
        `the children of this run were told ${SPAWNED_CHARS_MAX / 1024 / 1024} MB in all, which is all they may be`,
      );
    this.#spawnedChars += chars;
  }

  #nextId(node: Node): { id: string; number: number } {
    if ((node.spawns ?? 0) >= REQUESTS_MAX)
      throw new BosunError('busy', `your task has asked for ${REQUESTS_MAX} children, which is all it may`);
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

/** Checked as a task that a planner wrote: it gets at most what its parent has. Nothing that the agent wrote is a template. */
async function taskOf(node: Node, name: string, request: SpawnRequest): Promise<Task> {
  const { prompt, agent, runtime, model, write, check, usd, tokens } = request;
  if (agent !== undefined && (runtime ?? model) !== undefined)
    throw new BosunError('usage', 'name an agent of the workflow, or a runtime and a model, but not both');
  for (const text of [prompt, check ?? 'true'])
    if (text.trim() === '' || text.includes('\0'))
      throw new BosunError('usage', 'a prompt and a check must have text, with no NUL character in it');
  const own = agentOf(node, 'work');
  const isInline = runtime !== undefined || model !== undefined;
  const isSame = agent === undefined && !isInline;
  if (isSame && own === undefined)
    throw new BosunError(
      'usage',
      `say which agent the child is (${Object.keys(node.workflow.agents).join(', ') || 'or which runtime'}): ${node.label} runs a plain command, and has none to inherit`,
    );
  const inline = { runtime: runtime ?? own?.agent.runtime, ...(model !== undefined && { model }) };
  const source = {
    // Of the same kind as its parent: there is nothing to check about that.
    ...(isSame ? { run: 'true' } : { agent: agent ?? inline, prompt: 'x' }),
    ...(write && { scope: { write } }),
    ...((usd ?? tokens) !== undefined && {
      budget: { ...(usd !== undefined && { usd }), ...(tokens !== undefined && { tokens }) },
    }),
  };
  const parent = {
    scope: withGranted(effectiveScope(node.task, own?.agent), node.granted),
    limits: effectiveLimits(node.task, own?.agent),
    budget: own?.agent.budget,
    globsOfPeople: [],
  };
  const refuse = (problem: string): never => {
    throw new BosunError('usage', `there is no child: ${problem}`);
  };
  const checked = await checkExpansionApart({ [name]: source } as Json, node.workflow, parent);
  if ('problem' in checked) return refuse(checked.problem);
  const { run: _, ...task } = checked.tasks[name]!;
  const who = isSame ? node.task.agent! : task.agent!;
  const bounded = childScope(
    effectiveScope(task, typeof who === 'string' ? node.workflow.agents[who] : who),
    parent.scope,
  );
  if ('problem' in bounded) return refuse(bounded.problem);
  const { workspace, timeout, attempts } = node.task;
  return {
    ...task,
    agent: who,
    prompt,
    scope: bounded.scope,
    attempts,
    'on-conflict': onConflict(node),
    // What becomes of it is its parent's to judge.
    'on-failure': 'continue',
    ...(check !== undefined && { check }),
    ...(timeout !== undefined && { timeout }),
    // Who has no copy of the repository has no child with one.
    ...(workspace !== undefined && { workspace }),
  };
}
