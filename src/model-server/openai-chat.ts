/** OpenAI chat completions: reads requests, writes answers. It decides nothing. */
import type { AskedModel, ChatMessage, ContentPart, ScriptedReply, Schema, Speech } from './asked.ts';
import { countTurns, piecesOf, fieldsIn, listIn, sse, textIn, type WireFields } from './wire.ts';

export const openaiChat: Speech = { dialect: 'openai', read, whole, pieces, error: openaiError };

const STOPS = { end: 'stop', tools: 'tool_calls', length: 'length', refusal: 'content_filter' } as const;
const ROLES: Record<string, ChatMessage['role']> = {
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

function read(body: WireFields): AskedModel {
  const messages = listIn(body.messages).map(({ role, content }): ChatMessage => {
    return { role: ROLES[String(role)] ?? 'user', text: textIn(content) };
  });
  return {
    dialect: 'openai',
    model: String(body.model),
    isStream: body.stream === true,
    messages,
    tools: listIn(body.tools).map((tool) => {
      const { name, parameters } = fieldsIn(tool.function);
      return { name: String(name), schema: parameters ?? {} };
    }),
    format: fieldsIn(fieldsIn(body.response_format).json_schema).schema as Schema | undefined,
    turn: countTurns(messages),
    wantsUsage: fieldsIn(body.stream_options).include_usage === true,
  };
}

function whole(reply: ScriptedReply): WireFields {
  const text = reply.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const calls = callsOf(reply).map((part) => callOf(part, argumentsOf(part)));
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    ...head(reply, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: STOPS[reply.stop] }],
    usage: usageOf(reply),
  };
}

function pieces(reply: ScriptedReply, { wantsUsage }: AskedModel): string[] {
  const first = head(reply, 'chat.completion.chunk');
  const chunk = (delta: WireFields, finish_reason: string | null = null): string =>
    sse({ ...first, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  const calls = callsOf(reply);
  return [
    chunk({ role: 'assistant', content: '' }),
    ...reply.parts.flatMap((part) =>
      part.kind === 'text' ? piecesOf(part.text).map((content) => chunk({ content })) : [],
    ),
    ...calls.flatMap((part, index) => [
      chunk({ tool_calls: [{ index, ...callOf(part, '') }] }),
      ...piecesOf(argumentsOf(part)).map((text) =>
        chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
      ),
    ]),
    chunk({}, STOPS[reply.stop]),
    ...(wantsUsage ? [sse({ ...first, choices: [], usage: usageOf(reply) })] : []),
    'data: [DONE]\n\n',
  ];
}

type Call = Extract<ContentPart, { kind: 'call' }>;

function callsOf({ parts }: ScriptedReply): Call[] {
  return parts.filter((part) => part.kind === 'call');
}

function callOf({ id, name }: Call, text: string): WireFields {
  return { id: `call_${id}`, type: 'function', function: { name, arguments: text } };
}

function argumentsOf({ input }: Call): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

function head({ id, model }: ScriptedReply, object: string): WireFields {
  return { id: `chatcmpl-${id}`, object, created: Math.floor(Date.now() / 1000), model };
}

/** Nothing here tells what was written to a cache: it is input. */
function usageOf({ tokens: { input, output, cacheRead, cacheWrite } }: ScriptedReply): WireFields {
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

const KINDS: Record<number, [type: string, code: string | null]> = {
  400: ['invalid_request_error', null],
  401: ['invalid_request_error', 'invalid_api_key'],
  404: ['invalid_request_error', 'not_found'],
  429: ['requests', 'rate_limit_exceeded'],
};

export function openaiError(status: number, message: string): WireFields {
  const [type, code] = KINDS[status] ?? ['server_error', null];
  return { error: { message, type, param: null, code } };
}
