/**
 * What the agents of a `handoff` are asked for, one after another, and how what they say is read: go on, or back to
 * whom and why. Pure.
 */
import { asksModels } from '../../contract/runtimes.ts';
import type { Json, Task } from '../../contract/workflow.ts';
import type { Node, State } from '../state.ts';
import { objectWith } from './object-in-text.ts';
import type { PromptContext } from './prompt-context.ts';
import { cutLines, outputOf, said, textOf } from './said.ts';

const ROUNDS_DEFAULT = 3;
/** What is told of an agent's reasons; longer ones are cut. */
const REASONS_CHARS_MAX = 4000;

/** What an agent is asked to end with, where its runtime can be held to it. */
const VERDICT_SCHEMA: Record<string, Json> = {
  type: 'object',
  properties: {
    verdict: { type: 'string', enum: ['accept', 'reject'] },
    to: {
      type: 'string',
      description: 'With a reject: the agent it goes back to; empty for the one before.',
    },
    reasons: { type: 'string', description: 'With a reject: what has to change.' },
    summary: { type: 'string', description: 'What you did, for the next agent.' },
  },
  required: ['verdict', 'to', 'reasons', 'summary'],
  additionalProperties: false,
};

export interface Rejection {
  /** The turn that it goes back to. */
  to: number;
  reasons: string;
}

export function roundsOf({ task }: Node): number {
  return task.rounds ?? ROUNDS_DEFAULT;
}

/** The task of one turn: its own agent, and only the last has to satisfy what is asked of the whole. */
export function turnTask({ task, workflow }: Node, at: number): Task {
  const {
    handoff,
    rounds: _,
    output,
    check,
    artifacts,
    expand,
    budget: __,
    if: ___,
    'for-each': ____,
    ...rest
  } = task;
  const agent = handoff![at]!;
  const isLast = at === handoff!.length - 1;
  const runtime = workflow.agents[agent]?.runtime ?? 'cli';
  const verdict = at > 0 && asksModels(runtime) ? VERDICT_SCHEMA : undefined;
  const schema = isLast && output ? output : verdict;
  return {
    ...rest,
    needs: [],
    agent,
    // A turn that fails may be sent back; what fails is the handoff.
    'on-failure': 'continue',
    ...(schema && { output: schema }),
    ...(isLast && check !== undefined && { check }),
    ...(isLast && artifacts && { artifacts }),
    ...(isLast && expand && { expand }),
  };
}

/** Whether the work goes back, and to whom. A check that fails after the last turn sends it back too. */
export function rejectionOf(state: State, group: Node, last: Node): Rejection | undefined {
  const { at } = last.turn!;
  const before = Math.max(0, at - 1);
  if (last.state === 'failed') {
    if (last.outcome?.kind !== 'failed' || last.outcome.reason !== 'check') return undefined;
    return { to: before, reasons: cutLines(last.feedback ?? last.outcome.message, REASONS_CHARS_MAX) };
  }
  if (last.state !== 'done' || at === 0) return undefined;
  const verdict = rejectIn(outputOf(state, last), last.task);
  if (verdict === undefined) return undefined;
  const named =
    typeof verdict.to === 'string' ? group.task.handoff!.slice(0, at).lastIndexOf(verdict.to) : -1;
  return { to: named < 0 ? before : named, reasons: cutLines(reasonsIn(verdict), REASONS_CHARS_MAX) };
}

const NO = /^reject(ed|s)?$/;
const YES = /^(accept|approve|pass)(ed|d|s|es)?$|^(ok|okay|yes|lgtm|true)$/;

/**
 * What an agent said that sends the work back. Nobody holds a command to the two words of the verdict: whatever is not a
 * yes is a no, unless the task asks for an output of another form.
 */
export function rejectIn(
  output: Json,
  { output: form }: Pick<Task, 'output'>,
): Record<string, Json> | undefined {
  const found = objectWith('verdict', output);
  if (found === undefined) return undefined;
  const verdict = textOf(found.verdict!).trim().replace(/[.!]$/, '').toLowerCase();
  return (form === undefined ? !YES.test(verdict) : NO.test(verdict)) ? found : undefined;
}

/** The prompt of a turn: the request, what the agent before said, and why it came back. */
export function turnPrompt(state: State, node: Node, request: string, context: PromptContext): string {
  const group = node.parent!;
  const order = group.task.handoff!;
  const { at, agent, rejected } = node.turn!;
  const before = node.needs[0];
  const parts = [request];
  parts.push(
    `You are ${agent} in a chain of agents that work on this one after another, each from what the one before left: ${order.join(' → ')}.`,
  );
  if (before) {
    const { agent: other } = before.turn!;
    const words = context.fit(said(outputOf(state, before)), `what ${other} said`);
    parts.push(`${other} worked on it before you and said:\n\n${words}`);
  }
  if (rejected) parts.push(`It was sent back to you. What has to change:\n\n${rejected.reasons}`);
  if (at > 0)
    parts.push(
      [
        'If what you got is not good enough to build on, do not repair it: send it back. Either way end with one JSON object:',
        '{"verdict": "accept" or "reject", "to": the agent it goes back to or "", "reasons": what has to change or "", "summary": what you did}',
      ].join('\n'),
    );
  return parts.join('\n\n');
}

function reasonsIn({ reasons, why, summary, verdict = '' }: Record<string, Json>): string {
  const given = [reasons, why, summary].find(
    (value) => value !== undefined && value !== null && value !== '',
  );
  return given === undefined ? `no reasons were given (verdict: ${textOf(verdict)})` : textOf(given);
}
