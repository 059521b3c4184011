/** Answers an agent that asks whether it may: yes, since the fence holds what must be held; a person where nobody can tell what it is. */
import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { cut } from '../agent/story.ts';
import type { Job } from '../runtime.ts';

const INPUT_CHARS_MAX = 1000;
const EDITS = new Set<unknown>(['edit', 'delete', 'move']);

export async function permit(
  job: Pick<Job, 'ask' | 'emit' | 'isReadOnly' | 'mcp'>,
  { toolCall, options }: RequestPermissionRequest,
): Promise<RequestPermissionResponse> {
  const { kind, title, rawInput } = toolCall;
  if (job.isReadOnly && EDITS.has(kind)) return pick(options, 'no');
  const words = `${title ?? ''} ${toolCall.name ?? ''}`;
  const isOurs = Object.keys(job.mcp).some((server) => words.includes(server));
  if ((kind && kind !== 'other') || isOurs) return pick(options, 'yes');
  const input = rawInput === undefined ? '' : `: ${cut(JSON.stringify(rawInput), INPUT_CHARS_MAX)}`;
  const text = `${title ?? 'the agent wants to use a tool'}${input}`;
  const answer = await job.ask(text);
  job.emit({ kind: 'asked', id: toolCall.toolCallId, text, answer });
  return pick(options, answer);
}

/** For this once where that is offered: what is allowed for ever is written into the agent's settings. */
function pick(options: PermissionOption[], answer: 'yes' | 'no'): RequestPermissionResponse {
  const kinds = answer === 'yes' ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const option = kinds.flatMap((kind) => options.filter((one) => one.kind === kind))[0];
  return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
}
