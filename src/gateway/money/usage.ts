/** Reads what an answer cost in tokens out of its JSON, for each interface. Pure; it never guesses. */
import type { Tokens } from '../../contract/model.ts';
import type { Api } from '../request/route.ts';
import { fieldsOf, isFields } from '../../base/fields.ts';

/** Tokens as the price table wants them. */
export interface Counted extends Tokens {
  /** The part of `cacheWrite` that is kept for an hour, which costs more. */
  cacheWriteHour?: number;
  /** The output was counted, and there was none; else 0 only means that nothing was said of it. */
  isEmpty?: true;
}

/** Of a whole answer or of one event of a stream; undefined where it says nothing of tokens. */
export function usageIn(api: Api, answer: unknown): Counted | undefined {
  // Gemini streams a JSON array where it is not asked for events; what comes last is the sum.
  if (Array.isArray(answer))
    return answer.reduce<Counted | undefined>(
      (seen, part) => later(api, seen, usageIn(api, part)),
      undefined,
    );
  if (!isFields(answer)) return undefined;
  if (api === 'messages')
    return fromMessages(answer.usage ?? (isFields(answer.message) ? answer.message.usage : undefined));
  if (api === 'responses')
    return fromOpenAi(isFields(answer.response) ? answer.response.usage : answer.usage, 'input', 'output');
  if (api === 'chat') return fromOpenAi(answer.usage, 'prompt', 'completion');
  if (api === 'embeddings') return fromEmbeddings(answer.usage);
  return fromGemini(answer.usageMetadata);
}

/**
 * Counts in a stream are running totals, and an event may leave some out or say 0. Messages count every kind on its
 * own, so the highest of each is true; elsewhere the input is a rest, which only later counts make smaller.
 */
export function later(api: Api, before: Counted | undefined, now: Counted | undefined): Counted | undefined {
  if (before === undefined || now === undefined) return now ?? before;
  const output = Math.max(before.output, now.output);
  const empty = output === 0 && (now.isEmpty ?? before.isEmpty) && { isEmpty: true as const };
  if (api !== 'messages') {
    const { isEmpty: _, ...last } = now.input + now.cacheRead > 0 ? now : before;
    return { ...last, output, ...empty };
  }
  const cacheWriteHour = Math.max(before.cacheWriteHour ?? 0, now.cacheWriteHour ?? 0);
  return {
    input: Math.max(before.input, now.input),
    output,
    cacheRead: Math.max(before.cacheRead, now.cacheRead),
    cacheWrite: Math.max(before.cacheWrite, now.cacheWrite),
    ...(cacheWriteHour > 0 && { cacheWriteHour }),
    ...empty,
  };
}

/** Whether a whole answer has anything in it that a model wrote. */
export function hasContent(api: Api, answer: unknown): boolean {
  if (Array.isArray(answer)) return answer.some((part) => hasContent(api, part));
  const { content, output, choices, candidates } = fieldsOf(answer);
  if (api === 'messages') return isFilled(content);
  if (api === 'responses') return isFilled(output);
  if (api === 'generate')
    return listOf(candidates).some((one) => isFilled(fieldsOf(fieldsOf(one).content).parts));
  return listOf(choices).some((choice) => {
    const { content: text, reasoning_content, reasoning, tool_calls } = fieldsOf(fieldsOf(choice).message);
    return [text, reasoning_content, reasoning, tool_calls].some(isFilled);
  });
}

/** Whether an event of a stream that has counts is the one with the final counts. */
export function isLast(api: Api, event: unknown): boolean {
  if (!isFields(event)) return false;
  if (api === 'messages') return event.type === 'message_delta';
  if (api === 'responses')
    return typeof event.type === 'string' && /^response\.(completed|incomplete|failed)$/.test(event.type);
  if (api === 'chat') return Array.isArray(event.choices) && event.choices.length === 0;
  const [candidate] = Array.isArray(event.candidates) ? (event.candidates as unknown[]) : [];
  return isFields(candidate) && typeof candidate.finishReason === 'string';
}

function fromMessages(usage: unknown): Counted | undefined {
  if (!isFields(usage)) return undefined;
  const counted: Counted = {
    input: count(usage.input_tokens),
    output: count(usage.output_tokens),
    cacheRead: count(usage.cache_read_input_tokens),
    cacheWrite: count(usage.cache_creation_input_tokens),
    ...(usage.output_tokens === 0 && { isEmpty: true }),
  };
  const hour = isFields(usage.cache_creation) ? count(usage.cache_creation.ephemeral_1h_input_tokens) : 0;
  return hour > 0 ? { ...counted, cacheWriteHour: Math.min(hour, counted.cacheWrite) } : counted;
}

/** What was read from or written to a cache is part of the total here. */
function fromOpenAi(usage: unknown, input: string, output: string): Counted | undefined {
  if (!isFields(usage)) return undefined;
  const details = usage[`${input}_tokens_details`];
  const cacheRead = isFields(details) ? count(details.cached_tokens) : 0;
  const cacheWrite = isFields(details) ? count(details.cache_write_tokens) : 0;
  return {
    input: Math.max(0, count(usage[`${input}_tokens`]) - cacheRead - cacheWrite),
    output: count(usage[`${output}_tokens`]),
    cacheRead,
    cacheWrite,
    ...(usage[`${output}_tokens`] === 0 && { isEmpty: true }),
  };
}

/** They are all input; some servers say only the total. */
function fromEmbeddings(usage: unknown): Counted | undefined {
  if (!isFields(usage)) return undefined;
  const input = count(usage.prompt_tokens) || count(usage.total_tokens);
  return { input, output: 0, cacheRead: 0, cacheWrite: 0 };
}

function fromGemini(usage: unknown): Counted | undefined {
  if (!isFields(usage)) return undefined;
  const cacheRead = count(usage.cachedContentTokenCount);
  const asked = count(usage.promptTokenCount) + count(usage.toolUsePromptTokenCount);
  const output = count(usage.candidatesTokenCount) + count(usage.thoughtsTokenCount);
  // A count of 0 is left out here, but not from the total.
  const isEmpty = output === 0 && asked > 0 && usage.totalTokenCount === asked;
  return {
    input: Math.max(0, count(usage.promptTokenCount) - cacheRead) + count(usage.toolUsePromptTokenCount),
    output,
    cacheRead,
    cacheWrite: 0,
    ...(isEmpty && { isEmpty }),
  };
}

function isFilled(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
