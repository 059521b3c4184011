/**
 * What a continuous task does next. Pure, as all of decide.
 *
 *   expanded ──▶ a round ──▶ resting ──▶ its time, or what it listens to ──▶ a round ──▶ …
 *                               └──▶ all other tasks have ended ──▶ the final round ──▶ done
 *
 * While it is paused it rests, whatever happens; once it is not, it is looked at again.
 */
import { parseDurationMs } from '../../base/units.ts';
import type { Decision } from '../../contract/event.ts';
import { endCancelled, isBeingCancelled } from './cancelled.ts';
import { isRestOver, pauseOf, type Node, type State } from '../state.ts';

/** While rounds fail the wait doubles, from this or from `every` where that is longer. */
const FAILED_DELAY_MS = 1000;
const FAILED_DELAY_MS_MAX = 10 * 60_000;

export function decideContinuous(state: State, node: Node): Decision {
  const next = nextOf(state, node);
  return next.type === 'task.round' && pauseOf(state, node) ? { type: 'task.resting', task: node.id } : next;
}

function nextOf(state: State, node: Node): Decision {
  const { id: task, children } = node;
  const last = children.at(-1);
  if (isBeingCancelled(state, node)) return endCancelled(node);
  if (!last) return { type: 'task.round', task, why: 'first' };
  if (isRestOver(node)) {
    const isFinal = node.task.finalize === undefined || last.round === 'final';
    return isFinal ? end(node, last) : { type: 'task.round', task, why: 'final' };
  }
  const everyMs = node.task.continuous!.every && parseDurationMs(node.task.continuous!.every);
  const failures = failuresInARow(children);
  const mayBegin = failures === 0 || node.isDue === true;
  if (node.isCalled && mayBegin) return { type: 'task.round', task, why: 'on' };
  if (node.isDue && everyMs) return { type: 'task.round', task, why: 'every' };
  if (node.resting) return { type: 'task.resting', task }; // as before
  const delayMs = failures > 0 ? backoffMs(everyMs || 0, failures) : everyMs;
  return { type: 'task.resting', task, ...(delayMs && { delayMs }) };
}

function end({ id: task }: Node, last: Node): Decision {
  if (last.state === 'done') {
    const { output = null, outputRef } = last;
    return {
      type: 'task.finished',
      task,
      outcome: { kind: 'done' },
      ...(outputRef ? { outputRef } : { output }),
    };
  }
  const why = last.outcome && 'message' in last.outcome ? last.outcome.message : last.state;
  const message = `${last.label} failed: ${why}`;
  return { type: 'task.finished', task, outcome: { kind: 'failed', reason: 'tasks', message } };
}

function failuresInARow(rounds: readonly Node[]): number {
  const lastGood = rounds.findLastIndex(({ state }) => state !== 'failed');
  return rounds.length - 1 - lastGood;
}

function backoffMs(everyMs: number, failures: number): number {
  const doubled = Math.max(everyMs, FAILED_DELAY_MS) * 2 ** Math.min(failures, 20);
  return Math.max(everyMs, Math.min(doubled, FAILED_DELAY_MS_MAX));
}
