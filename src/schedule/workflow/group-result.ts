/** What came of a task and of those within it, in one value: who failed and why, and a summary for people. Pure. */
import { cutText } from '../../base/cut-text.ts';
import type { GroupResult } from '../../contract/report.ts';
import { hasEnded, isGroup, type Node } from '../state.ts';

/** Of what is within, so many are told of, and so much of each. */
const FAILURES_MAX = 100;
const LINES_MAX = 200;
const LINE_CHARS_MAX = 200;

/** All of its text together is no longer. */
export const RESULT_CHARS_MAX = (FAILURES_MAX + LINES_MAX) * (LINE_CHARS_MAX + 200);

/** Those within, or the task alone; nobody in whose place a planner wrote others. */
export function membersOf(node: Node): Node[] {
  return isGroup(node) ? node.children.filter(({ isReplaced }) => !isReplaced) : [node];
}

export function groupResult(node: Node): GroupResult {
  const members = membersOf(node);
  const done = members.filter(({ state }) => state === 'done').length;
  const failures = members
    .filter((member) => hasEnded(member) && member.state !== 'done')
    .slice(0, FAILURES_MAX)
    .map((member) => ({ task: member.label, state: member.state, message: messageOf(member) }));
  const lines = members.slice(0, LINES_MAX).map((member) => `- ${member.label} ${describe(member)}`);
  const left = members.length - lines.length;
  return {
    done,
    all: members.length,
    failures,
    summary: [
      `${node.label}: ${done} of ${members.length} done`,
      ...lines,
      ...(left > 0 ? [`- and ${left} more`] : []),
    ].join('\n'),
  };
}

function describe(node: Node): string {
  const { state, output, outputRef } = node;
  if (state !== 'done') return `${state}: ${messageOf(node)}`;
  if (outputRef) return `done (${outputRef.bytes} bytes of output)`;
  if (output === undefined || output === null || output === '') return 'done';
  return `done: ${oneLine(typeof output === 'string' ? output : JSON.stringify(output))}`;
}

function messageOf({ outcome, state }: Node): string {
  return oneLine(outcome && 'message' in outcome ? outcome.message : state);
}

function oneLine(text: string): string {
  const line = text
    .slice(0, LINE_CHARS_MAX * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return cutText(line, LINE_CHARS_MAX);
}
