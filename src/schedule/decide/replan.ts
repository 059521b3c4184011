/**
 * Whether a planner is asked again since some of the tasks that it wrote failed, and what it is told. Pure, as all of
 * decide.
 *
 *   a plan whose tasks have ended ──▶ some failed, `replan` allows it ──▶ again (replan) ──▶ further tasks ──▶ …
 *                                                                            └──▶ none: failed
 */
import type { Decision } from '../../contract/event.ts';
import { hasFailed, type Node, type State } from '../state.ts';
import { outputOf, said } from '../workflow/said.ts';

/** What a planner is told of its tasks: so many of them, and so much of each. */
const TASKS_TOLD_MAX = 50;
const TOLD_CHARS_MAX = 500;

/** The tasks within that did not succeed, and that nothing was written in place of. */
export function brokenIn({ children }: Node): Node[] {
  return children.filter((child) => hasFailed(child) && !child.isReplaced);
}

/** What a person cancelled, nobody is to write again. */
function isToReplace({ state }: Node): boolean {
  return state !== 'cancelled';
}

export function replan(state: State, node: Node, broken: readonly Node[]): Decision | undefined {
  const { id: task, attempt, own, replans = 0 } = node;
  const { replan: most = 0 } = node.task;
  if (own === undefined || replans >= most) return undefined;
  const first = broken.find((child) => child.state === 'failed');
  if (first === undefined) return undefined; // none failed: the run stops, and they were skipped
  return {
    type: 'task.again',
    task,
    attempt,
    why: 'replan',
    because: `${first.label} failed: ${messageOf(first)}`,
    place: 'first',
    feedback: tell(state, node, broken, most - replans - 1),
  };
}

/** What a planner is told that writes tasks again, in whichever attempt: a retry has to know it too. */
export function tellBroken(state: State, node: Node): string | undefined {
  const broken = node.isReplanning ? brokenIn(node) : [];
  if (!broken.some(isToReplace)) return undefined;
  return tell(state, node, broken, Math.max(0, (node.task.replan ?? 0) - (node.replans ?? 0)));
}

/** A planner that has nothing to put in the place of what failed. */
export function gaveUp(node: Node): Decision {
  const broken = brokenIn(node).filter(isToReplace);
  const message = `the planner had no other tasks in place of ${broken.map(({ label }) => label).join(', ')}`;
  return { type: 'task.finished', task: node.id, outcome: { kind: 'failed', reason: 'tasks', message } };
}

function tell(state: State, { children }: Node, broken: readonly Node[], left: number): string {
  const done = children.filter((child) => child.state === 'done');
  return [
    'You wrote a plan before, and a part of it failed:',
    ...listed(broken.filter(isToReplace), (child) => `${child.name} ${child.state}: ${messageOf(child)}`),
    ...(done.length > 0
      ? [
          'These tasks of it are done, and the files are as they left them:',
          ...listed(done, (child) => `${child.name}: ${said(outputOf(state, child), TOLD_CHARS_MAX)}`),
        ]
      : []),
    `Write a plan with other tasks that take the place of those that failed; leave out what is done. ${left === 0 ? 'This is the last time that you are asked' : `You are asked at most ${left} times more`}. A plan without tasks gives up.`,
  ].join('\n');
}

function listed(nodes: readonly Node[], line: (node: Node) => string): string[] {
  const shown = nodes.slice(0, TASKS_TOLD_MAX).map((node) => `- ${line(node)}`);
  const left = nodes.length - shown.length;
  return left > 0 ? [...shown, `- and ${left} more`] : shown;
}

function messageOf({ outcome, state }: Node): string {
  return outcome && 'message' in outcome ? outcome.message.slice(0, TOLD_CHARS_MAX) : state;
}
