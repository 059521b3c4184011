/** What a failure leaves out: where a workflow stops on failure, nothing new is started beside it. Pure. */
import type { Decision } from '../../contract/event.ts';
import { hasEnded, isTolerated, type Node, type State } from '../state.ts';

/** A decision that fails a task also says which others are not started any more. */
export function withHalts(state: State, node: Node, decision: Decision): Decision {
  if (decision.type !== 'task.finished' || decision.outcome.kind !== 'failed') return decision;
  if (isTolerated(node) || (node.task['on-failure'] ?? node.workflow['on-failure']) !== 'stop')
    return decision;
  const halts = haltedBy(state, node);
  return halts.length > 0 ? { ...decision, halts } : decision;
}

/** What runs may end, with its children, and what is continuous has its final round. The parent, once it ends, answers for its own level. */
function haltedBy(state: State, failed: Node): string[] {
  const halts: string[] = [];
  const visit = (node: Node): void => {
    if (node === failed || hasEnded(node) || node.awaiting) return;
    if (node.state === 'expanded')
      return node.kind === 'continuous' ? undefined : node.children.forEach(visit);
    if (node.state === 'running' || node.state === 'merging' || runsAnyway(node)) return;
    halts.push(node.id);
  };
  for (const sibling of failed.parent ? failed.parent.children : state.top.values()) visit(sibling);
  return halts;
}

/** Its condition speaks of failure: it is there to run after one. */
export function runsAnyway(node: Node): boolean {
  return node.task.if !== undefined && /\b(always|failed)\s*\(/.test(node.task.if);
}
