/** Answers an agent that asks whether it may: yes, since the fence holds what must be held; a person where nobody can tell what it is. */
import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { askPerson } from '../agent/ask-person.ts';
import { cutAndCount } from '../../base/cut-text.ts';
import type { Job } from '../runtime.ts';

const INPUT_CHARS_MAX = 1000;
const EDITS = new Set<unknown>(['edit', 'delete', 'move']);

export async function permit(
  job: Pick<Job, 'ask' | 'emit' | 'isReadOnly' | 'mcp'>,
  { toolCall, options }: RequestPermissionRequest,
): Promise<RequestPermissionResponse> {
  const { kind, title, rawInput } = toolCall;
  if (job.isReadOnly && EDITS.has(kind)) return pick(options, 'reject');
  const words = `${title ?? ''} ${toolCall.name ?? ''}`;
  const isOurs = Object.keys(job.mcp).some((server) => words.includes(server));
  if ((kind && kind !== 'other') || isOurs) return pick(options, 'allow');
  const input = rawInput === undefined ? '' : `: ${cutAndCount(JSON.stringify(rawInput), INPUT_CHARS_MAX)}`;
  const text = `${title ?? 'the agent wants to use a tool'}${input}`;
  const choices = options.map(({ name }) => ({ label: name }));
  const { picked } = await askPerson(job, { id: toolCall.toolCallId, text, choices, tool: true });
  const option = options[picked[0] ?? -1];
  return option ? selected(option) : pick(options, 'reject');
}

/** For this once where that is offered: what is allowed for ever is written into the agent's settings. */
function pick(options: PermissionOption[], how: 'allow' | 'reject'): RequestPermissionResponse {
  const option =
    options.find(({ kind }) => kind === `${how}_once`) ??
    options.find(({ kind }) => kind === `${how}_always`);
  return option ? selected(option) : { outcome: { outcome: 'cancelled' } };
}

function selected({ optionId }: PermissionOption): RequestPermissionResponse {
  return { outcome: { outcome: 'selected', optionId } };
}
