/**
 * Finds agents that wait for each other: nobody outside of them can do what any of them waits for, so that all would wait
 * until their time is up. Pure. An agent that waits is taken to do nothing else; where it cannot tell, it says nothing.
 */
import type { EventOf } from '../../contract/event.ts';
import {
  hasEnded,
  nodeOf,
  withAllWithin,
  type Interface,
  type Node,
  type State,
  type Wait,
} from '../state.ts';
import { isReader } from '../workflow/addressees.ts';
import { isSettled } from '../workflow/publications.ts';
import { awaitedInterface, describeWait, sendersOf, takenPlaces } from './waits.ts';

/** How far needs are followed: beyond it, somebody is taken to be able to go on. */
const DEPTH_MAX = 200;
const NAMES_MAX = 10;

export function decideCircle(state: State): EventOf<'wait.circled'> | undefined {
  // Whoever paused something may let it go on.
  if (state.away === 0 || state.paused || state.pausedTasks.size > 0) return undefined;
  // Whoever asks a person may go on with the answer.
  const asking = new Set([...state.asked.values()].map(({ task }) => task));
  const waits = [...state.agentWaits.values()].filter(
    ({ task }) => nodeOf(state, task).isAway && !asking.has(task),
  );
  const stuck = new Set(waits.map(({ task }) => nodeOf(state, task)));
  // Whoever can go on may be what another waits for.
  for (let before = -1; before !== stuck.size && stuck.size > 0;) {
    before = stuck.size;
    const look = new Outlook(state, stuck);
    for (const wait of waits) if (look.canBeMet(wait)) stuck.delete(nodeOf(state, wait.task));
  }
  if (stuck.size === 0) return undefined;
  const told = waits.filter(({ task }) => stuck.has(nodeOf(state, task)));
  return {
    type: 'wait.circled',
    waits: told.map(({ task, attempt, id }) => ({ task, attempt, id })),
    text: describe(state, told),
  };
}

/** Of each wait for others, one that could end it when it was last looked at: who asks again need not look at all tasks. */
const speakers = new WeakMap<Wait, Node>();

/** What can still happen if none of the stuck ones does anything. */
class Outlook {
  readonly #state: State;
  readonly #stuck: ReadonlySet<Node>;
  readonly #ends = new Map<Node, boolean>();
  readonly #hasPlace: boolean;

  constructor(state: State, stuck: ReadonlySet<Node>) {
    this.#state = state;
    this.#stuck = stuck;
    this.#hasPlace = takenPlaces(state) < state.workflow.concurrency || state.running > stuck.size;
  }

  canBeMet(wait: Wait): boolean {
    if (wait.for.kind === 'end') return this.#canEnd(nodeOf(this.#state, wait.for.task), 0);
    if (wait.for.kind === 'publication')
      return this.#canBePublished(awaitedInterface(this.#state, wait.for), 0);
    const isSender = sendersOf(wait);
    const known = speakers.get(wait);
    if (known && this.#canSpeak(known)) return true;
    for (const node of this.#state.nodes.values()) {
      if (!isSender(node) || !this.#canSpeak(node)) continue;
      speakers.set(wait, node);
      return true;
    }
    return false;
  }

  /** An agent or a command of its own has a turn, now or later. */
  #canSpeak(node: Node): boolean {
    if (hasEnded(node) || node.kind === 'approve') return false;
    if (isReader(node)) return this.#canGoOn(node, 0);
    if (node.state !== 'expanded') return this.#canGoOn(node, 0);
    if (node.kind === 'handoff') return this.#canEndAll(node.children, 0);
    if (node.kind !== 'continuous') return false; // those within speak for themselves
    if (node.resting && node.delayMs !== undefined) return true;
    if (node.task.continuous?.on?.includes('publication') && this.#canAnyWork()) return true;
    return this.#canAnyEnd(node);
  }

  #canAnyEnd({ siblings }: Node): boolean {
    for (const other of siblings.values())
      if (other.kind !== 'continuous' && !hasEnded(other) && this.#canEnd(other, 0)) return true;
    return false;
  }

  #canAnyWork(): boolean {
    for (const node of this.#state.nodes.values())
      if (node.state === 'running' && !this.#stuck.has(node)) return true;
    return false;
  }

  /** By one of those that the publisher stands for, or it ends and it is certain that nothing comes. */
  #canBePublished({ publisher }: Interface, depth: number): boolean {
    if (this.#canEnd(publisher, depth + 1)) return true;
    for (const node of withAllWithin(publisher))
      if (node.children.length === 0 && !hasEnded(node) && this.#canGoOn(node, depth + 1)) return true;
    return false;
  }

  #canEnd(node: Node, depth: number): boolean {
    if (hasEnded(node) || depth > DEPTH_MAX) return true;
    const known = this.#ends.get(node);
    if (known !== undefined) return known;
    this.#ends.set(node, true); // a task within may look at the one around it
    const can = this.#canGoOn(node, depth);
    this.#ends.set(node, can);
    return can;
  }

  #canGoOn(node: Node, depth: number): boolean {
    switch (node.state) {
      case 'running':
        return !this.#stuck.has(node);
      case 'ready':
        return this.#hasPlace;
      case 'waiting':
        return (
          this.#canEndAll(node.needs, depth) &&
          this.#canEndAll([...(node.awaits ?? [])], depth) &&
          node.apis.every((needed) => isSettled(this.#state, needed) || this.#canBePublished(needed, depth))
        );
      case 'merging':
        return this.#canEndAll(
          (node.mergesAfter ?? []).map((id) => nodeOf(this.#state, id)),
          depth,
        );
      case 'expanded':
        if (node.kind === 'continuous') {
          const others = [...node.siblings.values()].filter(({ kind }) => kind !== 'continuous');
          return this.#canEndAll([...node.children, ...others], depth);
        }
        return this.#canEndAll(node.children, depth);
      default:
        return true;
    }
  }

  #canEndAll(nodes: readonly Node[], depth: number): boolean {
    return nodes.every((node) => this.#canEnd(node, depth + 1));
  }
}

function describe(state: State, waits: readonly Wait[]): string {
  const shown = waits
    .slice(0, NAMES_MAX)
    .map((wait) => `${nodeOf(state, wait.task).label} waits for ${describeWait(state, wait)}`);
  const more = waits.length > NAMES_MAX ? `, and ${waits.length - NAMES_MAX} more` : '';
  const [only] = waits;
  if (waits.length === 1 && only?.for.kind === 'service')
    return `nobody is left who could serve it: ${shown.join('')}`;
  if (waits.length === 1 && only?.for.kind === 'message')
    return `nobody is left who could send it: ${shown.join('')}`;
  const isFull = state.ready.size > 0 ? `; ${state.ready.peek()!.label} has no place to start in` : '';
  return `nobody of these can go on: ${shown.join(', ')}${more}${isFull}`;
}
