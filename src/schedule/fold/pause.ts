/**
 * What pauses do to the state. Like the rest of the fold it decides nothing: an attempt that runs when a pause comes is
 * put into `todo`, and what is done with it is a decision (`attempt.pausing`).
 *
 *   paused ──▶ attempts that run: todo ──▶ stop, hold or finish      unpaused ──▶ what was in its way goes on
 *          └─▶ what is ready stays ready, and is not started
 */
import type { Event } from '../../contract/event.ts';
import { hasEnded, pauseOf, taskPauseOf, withAllWithin, type Node, type State } from '../state.ts';
import { push } from './moves.ts';

export function pauseRun(state: State, by: string, atMs: number): void {
  if (state.paused || state.state !== 'running') return;
  state.paused = { by, sinceMs: atMs };
  for (const node of state.nodes.values()) askHow(state, node);
}

export function pauseTask(state: State, node: Node, by: string, atMs: number): void {
  if (node.paused || hasEnded(node) || state.state !== 'running') return;
  node.paused = { by, sinceMs: atMs };
  state.pausedTasks.add(node);
  for (const each of withAllWithin(node)) askHow(state, each);
}

/** All of it goes on, whatever was paused by itself. */
export function unpauseRun(state: State, atMs: number): void {
  const { paused } = state;
  for (const node of state.pausedTasks) unpauseTask(state, node, atMs);
  if (!paused) return;
  endIdle(state, atMs);
  delete state.paused;
  for (const node of state.nodes.values()) release(state, node);
  shiftTimes(state, state.nodes.values(), paused.sinceMs, atMs);
}

export function unpauseTask(state: State, node: Node, atMs: number): void {
  const { paused } = node;
  if (!paused) return;
  delete node.paused;
  state.pausedTasks.delete(node);
  const freed = [...withAllWithin(node)].filter((each) => taskPauseOf(state, each) === undefined);
  // First those that stood in line first.
  for (const each of freed.toReversed()) if (each.state === 'ready') state.ready.unshift(each);
  if (state.paused) return;
  for (const each of freed) release(state, each);
  shiftTimes(state, freed, paused.sinceMs, atMs);
}

/** More is known of an attempt that is held: it may be stopped now. */
export function pauseAgain(state: State, node: Node): void {
  const isHeld = node.pausing === 'hold' && node.state === 'running' && !node.ended && !node.stopping;
  if (isHeld && state.state === 'running' && pauseOf(state, node)) push(state, node);
}

/** Whether anything of a paused run is still at work. */
export function noteIdle(state: State, { type }: Event, atMs: number): void {
  if (state.state !== 'running' || type === 'attempt.output' || type === 'attempt.agent') return;
  for (const node of state.nodes.values()) {
    const isAtWork = node.state === 'running' && !node.ended && node.held?.by !== 'pause';
    if (isAtWork || node.state === 'merging') return endIdle(state, atMs);
  }
  state.idleSinceMs ??= atMs;
}

/** What it was idle is nobody's time. */
export function endIdle(state: State, atMs: number): void {
  if (state.idleSinceMs === undefined) return;
  state.idleMs += Math.max(0, atMs - state.idleSinceMs);
  delete state.idleSinceMs;
}

function askHow(state: State, node: Node): void {
  const { state: stands, ended, pausing, stopping } = node;
  if (stands === 'running' && !ended && !pausing && !stopping) push(state, node);
}

/** One that is being stopped ends in any case, and is followed by another. */
function release(state: State, node: Node): void {
  if (node.pausing !== 'stop') delete node.pausing;
  if (node.resting) push(state, node);
}

/** Nobody's time passed for whoever waits, as people are told it. */
function shiftTimes(state: State, nodes: Iterable<Node>, sinceMs: number, atMs: number): void {
  const freed = new Set(nodes);
  for (const node of freed)
    if (node.state === 'delayed' && node.retryAtMs !== undefined) node.retryAtMs += atMs - sinceMs;
  for (const question of state.questions.values())
    if (freed.has(state.nodes.get(question.task)!))
      question.askedAtMs += Math.max(0, atMs - Math.max(sinceMs, question.askedAtMs));
}
