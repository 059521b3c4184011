/** A form that an agent wants filled in becomes a question to a person; never hangs, since the question has a time-out. */
import {
  CreateElicitationRequest,
  type CreateElicitationResponse,
  type ElicitationPropertySchema,
} from '@agentclientprotocol/sdk';
import { cut } from '../agent/story.ts';
import { wordsOfChoice } from '../claude-code/ask.ts';
import type { Job } from '../runtime.ts';

const TEXT_CHARS_MAX = 1000;

/** A person can say yes or no, so what is asked is whether the option that stands first may be taken, in every field. */
export async function fillIn(
  job: Pick<Job, 'ask' | 'emit'>,
  request: CreateElicitationRequest,
): Promise<CreateElicitationResponse> {
  if (!CreateElicitationRequest.isForm(request)) return { action: 'decline' };
  const { message, requestedSchema } = request;
  const fields = Object.entries(requestedSchema.properties ?? {}).map(
    ([name, schema]) => [name, schema as Field, valuesOf(schema as Field)] as const,
  );
  const isFillable = fields.every(
    ([name, , values]) => values.length > 0 || !requestedSchema.required?.includes(name),
  );
  if (!isFillable) return { action: 'decline' };
  const choices = fields.filter(([, , values]) => values.length > 0);
  const lines = choices.map(([, { description, title, type }, values]) => {
    const words = description ?? (choices.length === 1 ? message : (title ?? ''));
    return type === 'boolean' ? words : wordsOfChoice(words, values);
  });
  const text = cut(
    [...new Set([message, ...lines])].slice(choices.length === 1 ? -1 : 0).join('\n'),
    TEXT_CHARS_MAX,
  );
  const answer = await job.ask(text);
  job.emit({ kind: 'asked', id: toolCallOf(request) ?? 'form', text, answer });
  if (answer === 'no') return { action: 'decline' };
  const content = choices.map(([name, { type }, [first]]) => [
    name,
    type === 'array' ? [first!] : type === 'boolean' ? true : first!,
  ]);
  return { action: 'accept', content: Object.fromEntries(content) as Record<string, string> };
}

/** As far as fields matter here: with any of these keys or none. */
type Field = Extract<ElicitationPropertySchema, { [key: string]: unknown }> & {
  title?: string;
  description?: string;
  enum?: string[];
  oneOf?: { const: string }[];
  items?: { enum?: string[]; anyOf?: { const: string }[] };
};

function valuesOf({ type, enum: plain, oneOf, items }: Field): string[] {
  if (type === 'boolean') return ['yes'];
  return plain ?? items?.enum ?? (oneOf ?? items?.anyOf ?? []).map((option) => option.const);
}

function toolCallOf(request: object): string | undefined {
  return (request as { toolCallId?: string | null }).toolCallId ?? undefined;
}
