/** OpenAI responses: reads requests, writes answers. It keeps no responses, so each request must bring its whole conversation. */
import type {
  AskedModel,
  ChatMessage,
  ContentPart,
  ScriptedReply,
  Schema,
  Speech,
  OfferedTool,
} from './asked.ts';
import { openaiError } from './openai-chat.ts';
import { countTurns, piecesOf, fieldsIn, listIn, named, textIn, type WireFields } from './wire.ts';

export const openaiResponses: Speech = { dialect: 'openai', read, whole, pieces, error: openaiError };

function read(body: WireFields): AskedModel {
  const messages: ChatMessage[] = [{ role: 'system', text: textIn(body.instructions) }];
  if (typeof body.input === 'string') messages.push({ role: 'user', text: body.input });
  else messages.push(...listIn(body.input).map(messageOf));
  return {
    dialect: 'openai',
    model: String(body.model),
    isStream: body.stream === true,
    messages,
    tools: [...listIn(body.tools), ...listIn(body.input).flatMap(({ tools }) => listIn(tools))].flatMap(
      (tool) => toolsOf(tool),
    ),
    format: fieldsIn(fieldsIn(body.text).format).schema as Schema | undefined,
    turn: countTurns(messages),
    wantsUsage: true,
  };
}

function messageOf(item: WireFields): ChatMessage {
  const type = typeof item.type === 'string' ? item.type : 'message';
  if (type.endsWith('_output')) return { role: 'tool', text: textIn(item.output) };
  if (type === 'additional_tools') return { role: 'system', text: '' };
  if (type !== 'message') return { role: 'assistant', text: textIn(item.arguments ?? item.input) };
  if (item.role === 'assistant') return { role: 'assistant', text: textIn(item.content) };
  const text = textIn(item.content);
  // What the agent says of its surroundings comes as if a person had said it.
  const isAside =
    item.role !== 'user' || /^\s*(<environment_context>|<user_instructions>|# AGENTS\.md)/.test(text);
  return { role: isAside ? 'system' : 'user', text };
}

function toolsOf(tool: WireFields, namespace?: string): OfferedTool[] {
  const name = String(tool.name ?? tool.type);
  if (tool.type === 'namespace') return listIn(tool.tools).flatMap((inner) => toolsOf(inner, name));
  const schema = tool.type === 'custom' ? undefined : ((tool.parameters ?? {}) as Schema);
  const within = namespace === undefined ? {} : { namespace };
  const inner = tool.type === 'custom' ? declaredIn(textIn(tool.description)) : [];
  return [{ name, schema, ...within }, ...inner.map((each) => ({ ...each, ...within, program: name }))];
}

const DECLARED = /declare const tools: \{ (\w+)\((?:(args): \{([\s\S]*?)\n\}|\w+: string)?\)/g;

/** Codex offers its newer models one tool that takes programs, and describes in words what these can call. */
function declaredIn(description: string): OfferedTool[] {
  return Array.from(description.matchAll(DECLARED), ([, name, hasFields, fields = '']) => {
    const all = Array.from(fields.matchAll(/^ {2}(\w+)(\?)?: (\w+)/gm));
    const properties = Object.fromEntries(all.map(([, field, , type]) => [field, type ? { type } : {}]));
    const required = all.flatMap(([, field, optional]) => (optional ? [] : [field!]));
    return { name: name!, schema: hasFields ? { type: 'object', properties, required } : undefined };
  });
}

function whole(reply: ScriptedReply): WireFields {
  const isCut = reply.stop === 'length';
  return {
    ...head(reply),
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: reply.parts.map((part, n) => itemOf(part, itemId(part, `${reply.id}_${n}`), true)),
    usage: usageOf(reply),
  };
}

function pieces(reply: ScriptedReply): string[] {
  let sequence = 0;
  const event = (type: string, data: WireFields): string =>
    named({ type, ...data, sequence_number: sequence++ });
  const started = { ...head(reply), status: 'in_progress', output: [], usage: null };
  const done = whole(reply);
  return [
    event('response.created', { response: started }),
    event('response.in_progress', { response: started }),
    ...reply.parts.flatMap((part, output_index) => {
      const item_id = itemId(part, `${reply.id}_${output_index}`);
      const within = (type: string, data: WireFields): string =>
        event(type, { item_id, output_index, ...data });
      return [
        event('response.output_item.added', { output_index, item: itemOf(part, item_id, false) }),
        ...(part.kind === 'text' ? textPieces(part.text, within) : callPieces(part, within)),
        event('response.output_item.done', { output_index, item: itemOf(part, item_id, true) }),
      ];
    }),
    event(done.status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response: done }),
  ];
}

type Within = (type: string, data: WireFields) => string;

function textPieces(text: string, within: Within): string[] {
  const content_index = 0;
  return [
    within('response.content_part.added', { content_index, part: outputText('') }),
    ...piecesOf(text).map((delta) => within('response.output_text.delta', { content_index, delta })),
    within('response.output_text.done', { content_index, text }),
    within('response.content_part.done', { content_index, part: outputText(text) }),
  ];
}

function callPieces({ input }: Extract<ContentPart, { kind: 'call' }>, within: Within): string[] {
  if (typeof input === 'string')
    return [
      ...piecesOf(input).map((delta) => within('response.custom_tool_call_input.delta', { delta })),
      within('response.custom_tool_call_input.done', { input }),
    ];
  const text = JSON.stringify(input);
  return [
    ...piecesOf(text).map((delta) => within('response.function_call_arguments.delta', { delta })),
    within('response.function_call_arguments.done', { arguments: text }),
  ];
}

function itemOf(part: ContentPart, id: string, isDone: boolean): WireFields {
  const status = isDone ? 'completed' : 'in_progress';
  if (part.kind === 'text')
    return {
      id,
      type: 'message',
      status,
      role: 'assistant',
      content: isDone ? [outputText(part.text)] : [],
    };
  const { name, namespace, input } = part;
  const call = { call_id: `call_${part.id}`, name, ...(namespace !== undefined && { namespace }) };
  if (typeof input === 'string')
    return { id, type: 'custom_tool_call', status, ...call, input: isDone ? input : '' };
  return {
    id,
    type: 'function_call',
    status,
    ...call,
    arguments: isDone ? JSON.stringify(input) : '',
  };
}

function itemId(part: ContentPart, id: string): string {
  if (part.kind === 'text') return `msg_${id}`;
  return typeof part.input === 'string' ? `ctc_${id}` : `fc_${id}`;
}

function outputText(text: string): WireFields {
  return { type: 'output_text', text, annotations: [] };
}

function head({ id, model }: ScriptedReply): WireFields {
  const created_at = Math.floor(Date.now() / 1000);
  return { id: `resp_${id}`, object: 'response', created_at, model, error: null, incomplete_details: null };
}

function usageOf({ tokens: { input, output, cacheRead, cacheWrite } }: ScriptedReply): WireFields {
  const all = input + cacheRead + cacheWrite;
  return {
    input_tokens: all,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: all + output,
  };
}
