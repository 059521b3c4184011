/** Anthropic Messages: reads requests, writes answers. It decides nothing. */
import type { AskedModel, ChatMessage, ContentPart, ScriptedReply, Schema, Speech } from './asked.ts';
import { countTurns, piecesOf, fieldsIn, listIn, named, textIn, type WireFields } from './wire.ts';

export const anthropic: Speech = { dialect: 'anthropic', read, whole, pieces, error };

const STOPS = { end: 'end_turn', tools: 'tool_use', length: 'max_tokens', refusal: 'refusal' } as const;
/** What the agent adds to what a person says. */
const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>\s*/g;

function read(body: WireFields): AskedModel {
  const messages: ChatMessage[] = [{ role: 'system', text: textIn(body.system) }];
  for (const { role, content } of listIn(body.messages)) {
    if (role === 'assistant') messages.push({ role, text: textIn(content) });
    else if (role === 'system') messages.push({ role, text: textIn(content) });
    else if (typeof content === 'string') messages.push(...said(content));
    else {
      for (const block of listIn(content)) {
        if (block.type === 'tool_result') messages.push({ role: 'tool', text: textIn(block) });
        else messages.push(...said(textIn(block)));
      }
    }
  }
  return {
    dialect: 'anthropic',
    model: String(body.model),
    isStream: body.stream === true,
    messages,
    tools: listIn(body.tools)
      .filter(({ name }) => typeof name === 'string')
      .map(({ name, input_schema }) => ({ name: name as string, schema: input_schema as Schema })),
    format: fieldsIn(fieldsIn(body.output_config).format ?? body.output_format).schema as Schema | undefined,
    turn: countTurns(messages),
    wantsUsage: true,
  };
}

function said(text: string): ChatMessage[] {
  if (!text.includes('<system-reminder>')) return [{ role: 'user', text }];
  const rest = text.replaceAll(REMINDER, '');
  const reminders: ChatMessage = { role: 'system', text };
  return rest.trim() === '' ? [reminders] : [reminders, { role: 'user', text: rest }];
}

function whole(reply: ScriptedReply): WireFields {
  return {
    ...head(reply),
    content: reply.parts.map((part) =>
      part.kind === 'text'
        ? { type: 'text', text: part.text }
        : { type: 'tool_use', id: `toolu_${part.id}`, name: part.name, input: part.input },
    ),
    stop_reason: STOPS[reply.stop],
    usage: usageOf(reply, reply.tokens.output),
  };
}

function pieces(reply: ScriptedReply): string[] {
  const start = { ...head(reply), content: [], stop_reason: null, usage: usageOf(reply, 1) };
  return [
    named({ type: 'message_start', message: start }),
    ...reply.parts.flatMap(blockPieces),
    named({
      type: 'message_delta',
      delta: { stop_reason: STOPS[reply.stop], stop_sequence: null },
      usage: usageOf(reply, reply.tokens.output),
    }),
    named({ type: 'message_stop' }),
  ];
}

function blockPieces(part: ContentPart, index: number): string[] {
  const isText = part.kind === 'text';
  const block = isText
    ? { type: 'text', text: '' }
    : { type: 'tool_use', id: `toolu_${part.id}`, name: part.name, input: {} };
  const deltas = isText
    ? piecesOf(part.text).map((text) => ({ type: 'text_delta', text }))
    : piecesOf(JSON.stringify(part.input)).map((json) => ({ type: 'input_json_delta', partial_json: json }));
  return [
    named({ type: 'content_block_start', index, content_block: block }),
    ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta })),
    named({ type: 'content_block_stop', index }),
  ];
}

function head({ id, model }: ScriptedReply): WireFields {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
}

function usageOf({ tokens }: ScriptedReply, output: number): WireFields {
  return {
    input_tokens: tokens.input,
    cache_creation_input_tokens: tokens.cacheWrite,
    cache_read_input_tokens: tokens.cacheRead,
    output_tokens: output,
  };
}

const KINDS: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function error(status: number, message: string): WireFields {
  return { type: 'error', error: { type: KINDS[status] ?? 'api_error', message } };
}
