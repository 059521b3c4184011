/**
 * Who sums up what is too long for a prompt, and what comes of it. Pure, as all of decide.
 *
 *   ready ──▶ all of its prompt fits ──────────────────────────────────────────────▶ started
 *     └─────▶ something is too long, `summarize` names an agent ──▶ waiting ──▶ ready, with a summary
 *                     └▶ a task within for each text, once ──▶ done, or failed ──┘  or an outline
 */
import type { Decision } from '../../contract/event.ts';
import type { LongText } from '../../contract/summary.ts';
import type { TooLong } from '../workflow/prompt-context.ts';
import { shortWhat, summaryIn, summaryKey } from '../workflow/summary.ts';
import { hasEnded, type Node, type State } from '../state.ts';
import { checkRoom } from './room.ts';

/** Of one task, in all its attempts; of others the prompt gets outlines. */
const SUMMARIES_MAX = 16;

/** Undefined where nobody is asked any more. */
export function decideSummaries(state: State, node: Node, tooLong: readonly TooLong[]): Decision | undefined {
  const agent = node.task.summarize!;
  const texts = new Map<string, LongText>();
  let n = node.summaries?.length ?? 0;
  for (const long of tooLong) {
    const hash = state.hash(long.text);
    if (texts.has(hash)) continue;
    const what = shortWhat(long.what);
    const known = state.summaries.get(summaryKey(node, agent, hash));
    if (known && !hasEnded(known)) {
      texts.set(hash, { hash, what, by: known.id });
      continue;
    }
    if (++n > SUMMARIES_MAX) break;
    texts.set(hash, { hash, what, by: placeFor(state, node, n), text: long.text });
  }
  if (texts.size === 0) return undefined;
  checkRoom(state, texts.size);
  return { type: 'task.summarizing', task: node.id, agent, texts: [...texts.values()] };
}

/** The attempt of one that sums up has ended well. */
export function summed(state: State, node: Node): Decision {
  if (summaryIn(state, node) === '') return toNoAvail(node, 'output', 'it said nothing');
  const { outputRef, output = null } = node;
  const given = outputRef ? { outputRef } : { output };
  return { type: 'task.finished', task: node.id, outcome: { kind: 'done' }, ...given };
}

/** It did not: nobody waits for another try, but for one that is lost or makes way for a pause. */
export function unsummed(node: Node, next: (node: Node) => Decision): Decision {
  const { outcome } = node.ended!;
  if (outcome.kind === 'lost' || node.pausing === 'stop') return next(node);
  if (outcome.kind !== 'failed') return { type: 'task.finished', task: node.id, outcome };
  const decided = next(node);
  if (decided.type !== 'task.finished') return decided; // another of its runtimes may do it
  return toNoAvail(node, outcome.reason, outcome.message);
}

function toNoAvail(
  { id: task }: Node,
  reason: Extract<NonNullable<Node['ended']>['outcome'], { kind: 'failed' }>['reason'],
  why: string,
): Decision {
  const message = `${why}; an outline takes the place of the summary`;
  return { type: 'task.finished', task, outcome: { kind: 'failed', reason, message } };
}

/** Not one that a child has, or had. */
function placeFor(state: State, { id }: Node, n: number): string {
  let place = n;
  while (state.nodes.has(`${id}/summary-${place}`)) place += SUMMARIES_MAX;
  return `${id}/summary-${place}`;
}
