/** Gemini generateContent: reads requests, writes answers. It decides nothing. */
import type { AskedModel, ChatMessage, ContentPart, ScriptedReply, Schema, Speech } from './asked.ts';
import { countTurns, piecesOf, fieldsIn, listIn, sse, textIn, type WireFields } from './wire.ts';

export const gemini: Speech = { dialect: 'gemini', read, whole, pieces, error };

const STOPS = { end: 'STOP', tools: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const;

function read(body: WireFields, path: string): AskedModel {
  const { systemInstruction, system_instruction, contents, tools, generationConfig } = body;
  const system = fieldsIn(systemInstruction ?? system_instruction).parts;
  const messages: ChatMessage[] = [{ role: 'system', text: textIn(system) }];
  for (const { role, parts } of listIn(contents)) {
    if (role === 'model') messages.push({ role: 'assistant', text: textIn(parts) });
    else messages.push(...listIn(parts).map(messageOf));
  }
  const config = fieldsIn(generationConfig);
  return {
    dialect: 'gemini',
    model: /models\/([^/:]+)/.exec(path)?.[1] ?? '',
    isStream: path.includes(':streamGenerateContent'),
    messages,
    tools: listIn(tools)
      .flatMap((group) => listIn(group.functionDeclarations))
      .map(({ name, parameters, parametersJsonSchema }) => ({
        name: String(name),
        schema: (parametersJsonSchema ?? parameters ?? {}) as Schema,
      })),
    format: (config.responseJsonSchema ?? config.responseSchema) as Schema | undefined,
    turn: countTurns(messages),
    wantsUsage: true,
  };
}

function messageOf(part: WireFields): ChatMessage {
  const { functionResponse } = part;
  if (functionResponse !== undefined)
    return { role: 'tool', text: textIn(Object.values(fieldsIn(fieldsIn(functionResponse).response))) };
  const text = textIn(part);
  // What the agent says of its surroundings comes as if a person had said it.
  return { role: /^\s*<(session_context|environment)/.test(text) ? 'system' : 'user', text };
}

function whole(reply: ScriptedReply): WireFields {
  return answer(reply, reply.parts.map(partOf), true);
}

function pieces(reply: ScriptedReply): string[] {
  const parts = reply.parts.flatMap((part): WireFields[] =>
    part.kind === 'text' ? piecesOf(part.text).map((text) => ({ text })) : [partOf(part)],
  );
  if (parts.length === 0) parts.push({ text: '' });
  return parts.map((part, n) => sse(answer(reply, [part], n === parts.length - 1)));
}

function partOf(part: ContentPart): WireFields {
  if (part.kind === 'text') return { text: part.text };
  return { functionCall: { id: `call_${part.id}`, name: part.name, args: part.input } };
}

function answer(
  { id, model, stop, tokens }: ScriptedReply,
  parts: WireFields[],
  isLast: boolean,
): WireFields {
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  const content = { role: 'model', parts };
  return {
    candidates: [{ content, index: 0, ...(isLast && { finishReason: STOPS[stop] }) }],
    ...(isLast && {
      usageMetadata: {
        promptTokenCount: prompt,
        candidatesTokenCount: tokens.output,
        totalTokenCount: prompt + tokens.output,
        ...(tokens.cacheRead > 0 && { cachedContentTokenCount: tokens.cacheRead }),
      },
    }),
    modelVersion: model,
    responseId: id,
  };
}

const KINDS: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function error(code: number, message: string, retryAfterMs: number | undefined): WireFields {
  const retry = {
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: `${(retryAfterMs ?? 0) / 1000}s`,
  };
  const details = retryAfterMs === undefined ? {} : { details: [retry] };
  return { error: { code, message, status: KINDS[code] ?? 'INTERNAL', ...details } };
}
