/**
 * What a pause does to an attempt that runs. Pure, as all of decide. An agent is stopped only where another attempt can
 * go on with its conversation, in its workspace; nothing that could not be gone on with is ended.
 */
import type { EventOf, PauseHow } from '../../contract/event.ts';
import { asksModels } from '../../contract/runtimes.ts';
import { runtimeOf } from '../fold/session.ts';
import type { Node } from '../state.ts';

export function decidePausing(node: Node): EventOf<'attempt.pausing'> {
  const [how, because] = howOf(node);
  return { type: 'attempt.pausing', task: node.id, attempt: node.attempt, how, because };
}

function howOf(node: Node): [how: PauseHow, because: string] {
  const { session, attempt, started } = node;
  const runtime = runtimeOf(node);
  if (node.waitsForSlot) return ['stop', 'it had not begun'];
  if (!asksModels(runtime)) return ['finish', 'a command cannot continue where it was stopped'];
  if (node.isAgentDone) return ['finish', 'its agent has finished'];
  if (session?.attempt !== attempt || session.runtime !== runtime)
    return ['hold', 'it has not begun a conversation'];
  if (session.forgets) return ['hold', 'its agent cannot continue an earlier conversation'];
  if (node.workspace === undefined) return ['hold', 'it has no workspace to continue in'];
  if (!node.hasUsedModel && started?.session === undefined) return ['hold', 'no model has answered it yet'];
  return ['stop', 'it continues its conversation after the pause'];
}
