/** How often an agent made the very same tool call, one right after the other, at the end of its conversation. Pure. */
import type { RequestEstimate } from '../../contract/model.ts';
import type { Api } from './route.ts';

/** Those that have conversations. */
export type TalkApi = Exclude<Api, 'embeddings'>;

interface Call {
  tool: string;
  input: unknown;
}

/** Undefined where the last two calls differ, or there are no two. */
export function loopOf(api: TalkApi, body: unknown): RequestEstimate['loop'] {
  let first: { tool: string; input: string } | undefined;
  let times = 0;
  for (const { tool, input } of callsFromTheEnd(api, body)) {
    const text = typeof input === 'string' ? input : (JSON.stringify(input) ?? '');
    first ??= { tool, input: text };
    if (tool !== first.tool || text !== first.input) break;
    times += 1;
  }
  return first !== undefined && times > 1 ? { tool: first.tool, times } : undefined;
}

function* callsFromTheEnd(api: TalkApi, body: unknown): Generator<Call> {
  const turns = { messages: 'messages', chat: 'messages', responses: 'input', generate: 'contents' }[api];
  for (const turn of backwards(fieldOf(body, turns))) {
    if (api === 'responses') yield* responsesCall(turn);
    else if (api === 'chat') {
      for (const call of backwards(fieldOf(turn, 'tool_calls'))) {
        const said = fieldOf(call, 'function') ?? fieldOf(call, 'custom');
        yield* named(fieldOf(said, 'name'), fieldOf(said, 'arguments') ?? fieldOf(said, 'input'));
      }
    } else if (api === 'messages') {
      for (const block of backwards(fieldOf(turn, 'content')))
        if (fieldOf(block, 'type') === 'tool_use')
          yield* named(fieldOf(block, 'name'), fieldOf(block, 'input'));
    } else {
      for (const part of backwards(fieldOf(turn, 'parts'))) {
        const call = fieldOf(part, 'functionCall');
        yield* named(fieldOf(call, 'name'), fieldOf(call, 'args'));
      }
    }
  }
}

/** `function_call` and `custom_tool_call` have a name; `local_shell_call` and its like have an action. */
function* responsesCall(item: unknown): Generator<Call> {
  const type = fieldOf(item, 'type');
  if (typeof type !== 'string' || !type.endsWith('_call')) return;
  const input = fieldOf(item, 'arguments') ?? fieldOf(item, 'input') ?? fieldOf(item, 'action');
  yield* named(fieldOf(item, 'name') ?? type, input);
}

function* named(tool: unknown, input: unknown): Generator<Call> {
  if (typeof tool === 'string') yield { tool, input };
}

function* backwards(list: unknown): Generator {
  if (!Array.isArray(list)) return;
  for (let at = list.length - 1; at >= 0; at--) yield list[at];
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
