/** Which API a path belongs to. Only how it ends matters, so that any prefix may stand before it. */
import { anthropic } from './anthropic.ts';
import type { Speech } from './asked.ts';
import { gemini } from './gemini.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

export type ServerRoute =
  | {
      kind: 'model';
      speech: Speech;
      /** Gemini streams a list where no server-sent events are asked for. */
      isArray: boolean;
    }
  | { kind: 'count' | 'models' | 'alive' | 'unknown'; status: number; value(bodyBytes: number): unknown };

const MODELS = ['claude-scripted', 'gpt-scripted', 'gemini-scripted'];
const CHARS_PER_TOKEN = 4;

export function serverRouteOf(method: string, url: string): ServerRoute {
  const [path = '', query = ''] = url.split('?', 2);
  if (method === 'POST') {
    if (path.endsWith('/messages')) return model(anthropic);
    if (path.endsWith('/chat/completions')) return model(openaiChat);
    if (path.endsWith('/responses')) return model(openaiResponses);
    if (path.endsWith(':generateContent')) return model(gemini);
    if (path.endsWith(':streamGenerateContent')) return model(gemini, !query.includes('alt=sse'));
    if (path.endsWith('/messages/count_tokens')) return count('input_tokens');
    if (path.endsWith(':countTokens')) return count('totalTokens');
  }
  if (method === 'GET' && path.endsWith('/models')) {
    const list = path.endsWith('/v1beta/models') ? geminiModels : plainModels;
    return { kind: 'models', status: 200, value: list };
  }
  if (path === '/') return { kind: 'alive', status: 200, value: () => ({ ok: true }) };
  const message = `the scripted model server has nothing at ${method} ${path}`;
  return {
    kind: 'unknown',
    status: 404,
    value: () => ({ type: 'error', error: { type: 'not_found_error', message } }),
  };
}

function model(speech: Speech, isArray = false): ServerRoute {
  return { kind: 'model', speech, isArray };
}

function count(field: string): ServerRoute {
  return {
    kind: 'count',
    status: 200,
    value: (bodyBytes) => ({ [field]: Math.ceil(bodyBytes / CHARS_PER_TOKEN) }),
  };
}

/** In the words of Anthropic and of OpenAI at once. */
function plainModels(): unknown {
  const data = MODELS.map((id) => ({
    id,
    object: 'model',
    type: 'model',
    display_name: id,
    created: 0,
    created_at: '2026-01-01T00:00:00Z',
    owned_by: 'bosun',
  }));
  return { object: 'list', data, has_more: false, first_id: MODELS[0], last_id: MODELS.at(-1) };
}

function geminiModels(): unknown {
  return {
    models: MODELS.map((id) => ({
      name: `models/${id}`,
      displayName: id,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    })),
  };
}
