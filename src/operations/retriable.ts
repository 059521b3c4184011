/** Refuses to try a task again where nothing would come of it, and says what can be tried. It changes nothing. */
import { BosunError } from '../contract/errors.ts';
import { isRetriable } from '../schedule/decide/reopen.ts';
import { agentOf } from '../schedule/workflow/agent-of.ts';
import { isPast, type Node, type State } from '../schedule/state.ts';

/** `name` is what the person typed. */
export function requireRetriable(state: State, node: Node, name: string): void {
  if (node.state === 'done')
    throw new BosunError(
      'wrong-state',
      `task ${name} is done and its work is on the branch; start a new run to do it again`,
    );
  if (!isRetriable(state, node))
    throw new BosunError('wrong-state', `task ${name} cannot be retried by itself: ${whyNot(node)}`);
}

/** Refuses what a person says to a task that nobody would read. */
export function requireAgent(node: Node, name: string): void {
  if (node.kind === 'work' && agentOf(node, 'work')) return;
  throw new BosunError(
    'wrong-state',
    `task ${name} has no agent of its own that could be told: try it again without feedback`,
  );
}

/** What is around it, if that did not succeed, is what can be tried again. */
function whyNot(node: Node): string {
  if (node.state === 'skipped') return 'its condition is false, and nothing that it needs has failed';
  let around = node.parent;
  while (around?.parent && (around.isChild || isPast(around))) around = around.parent;
  if (!around) return 'others came after it';
  return around.state === 'done'
    ? `it worked for ${around.id}, which is done without it`
    : `it worked for ${around.id}; to try that again: bosun retry ${around.id}`;
}
