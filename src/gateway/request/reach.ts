/**
 * What in a request would make the provider reach out for the agent, past the fence: tools that run at the provider,
 * tool servers, and addresses of pictures and files. Changes the parsed request it is given; sends nothing.
 */
import type { Api } from './route.ts';
import { meantBy, type Where } from './spelling.ts';
import { fieldsOf, isFields, type Fields } from '../../base/fields.ts';

export interface ProviderReach {
  /** Whether `scope.network` names the host. */
  mayReach(url: URL): boolean;
  /** Whether the user's configuration lets agents have this tool of the provider. */
  mayUse(tool: string): boolean;
}

export interface Reached {
  /** Tools of the provider that were taken out, by name. */
  removed: string[];
  /** Those that the user allows: what they cost nobody can tell. */
  allowed: string[];
  /** It has what is more input than it has bytes: what the provider fetches or keeps, documents, sound. */
  hasMore: boolean;
  /** How many pictures it has: each can be more tokens than bytes. */
  pictures: number;
  /** The request is not what the agent sent any more. */
  isChanged: boolean;
  /** Why the request may not go at all; `isFinal` where nothing allows it. */
  refusal?: { host: string; port: number; message: string; isFinal?: true };
}

/** Tools that the agent itself runs. All others are taken for the provider's: new ones come faster than we learn. */
const OWN: Record<Exclude<Api, 'embeddings' | 'generate'>, RegExp> = {
  messages: /^(custom|(bash|text_editor|computer|memory|tool_search_tool(_\w+)?)_\d{8})$/,
  chat: /^(function|custom)$/,
  responses:
    /^(function|custom|namespace|local_shell|shell|apply_patch|computer|computer_use_preview|tool_search)$/,
};
const OWN_OF_GEMINI = /^(functionDeclarations|function_declarations|computerUse|computer_use)$/;
/** At several providers, which take them in each of their interfaces. */
const SEARCH_FIELDS = ['web_search_options', 'search_parameters', 'plugins'];
const SEARCH_MODELS = /:online$|-search-(preview|api)\b/;
/** Other models, or another server, than the request is judged and paid for: routers take them. */
const OTHER_MODELS = [
  'models',
  'fallbacks',
  'fallback_models',
  'context_window_fallbacks',
  'context_window_fallback_dict',
  'content_policy_fallbacks',
  'api_base',
  'base_url',
  'extra_body',
];
const NAME_CHARS_MAX = 100;
const URL_CHARS_MAX = 200;
/** Where the items of a conversation are: below the list of all that is looked through, and their own. */
const ITEM_DEPTH = 2;
/** Content nests a few levels at most; what is deeper is not looked through, so it may not go. */
const DEPTH_MAX = 30;

export function limitReach(api: Api, body: Fields, reach: ProviderReach): Reached {
  const reached: Reached = { removed: [], allowed: [], hasMore: false, pictures: 0, isChanged: false };
  const look: Look = {
    api,
    mayReach: (url) => reach.mayReach(url) && (reached.hasMore = true),
    onMore: () => (reached.hasMore = true),
    onPicture: () => (reached.pictures += 1),
  };
  const misspelt = misspeltIn(api, body);
  if (misspelt) return refuse(reached, misspelt);
  if (api === 'embeddings') return refuse(reached, refusedContent(body, look));
  const isKept = (tool: string): boolean => {
    const mayUse = reach.mayUse(tool);
    (mayUse ? reached.allowed : reached.removed).push(tool.slice(0, NAME_CHARS_MAX));
    return mayUse;
  };
  for (const field of OTHER_MODELS)
    if (isSet(body[field])) {
      reached.removed.push(field);
      delete body[field];
      reached.isChanged = true;
    }
  const hadTools = limitTools(api, body, isKept, () => (reached.isChanged = true));
  const refusal = refusedServer(body, reach) ?? refusedModel(body, reach) ?? refusedContent(body, look);
  if (refusal) return refuse(reached, refusal);
  const isAllOfIt = hadTools && countOf(body.tools) === 0 && countOf(body.input, 'tools') === 0;
  if (reached.removed.length > 0 && (isAllOfIt || isDemanded(body, reached.removed)))
    return refuse(reached, refused(reached.removed[0]!, 0, `use its tool ${reached.removed[0]}`));
  return reached;
}

/** Of the request and of what says what it reaches and costs; conversations are looked through later. */
function misspeltIn(api: Api, body: Fields): Reached['refusal'] {
  const lists = [body.tools, ...(api === 'responses' ? listOf(body.input).map(toolsOf) : [])];
  const places: [unknown[], Where][] = [
    [[body], 'request'],
    [lists.flatMap(partsOfTools), 'tool'],
    [listOf(body.mcp_servers), 'server'],
    [[body.generationConfig, body.generation_config], 'config'],
  ];
  for (const [objects, where] of places)
    for (const one of objects) {
      const refusal = isFields(one) ? refusedSpelling(Object.keys(one), where) : undefined;
      if (refusal) return refusal;
    }
  return undefined;
}

/** The tools of a list, those within them, and where they run. */
function partsOfTools(list: unknown): unknown[] {
  return listOf(list).flatMap((tool) => [tool, fieldsOf(tool).environment, ...partsOfTools(toolsOf(tool))]);
}

function toolsOf(item: unknown): unknown {
  return fieldsOf(item).tools;
}

function refuse(reached: Reached, refusal: Reached['refusal']): Reached {
  return refusal ? { ...reached, refusal } : reached;
}

function limitTools(
  api: Exclude<Api, 'embeddings'>,
  body: Fields,
  isKept: (tool: string) => boolean,
  onChange: () => void,
): boolean {
  const before = countOf(body.tools) + countOf(body.input, 'tools');
  if (api === 'generate') {
    if (Array.isArray(body.tools)) {
      body.tools = body.tools.flatMap((tool) => geminiTool(tool, isKept));
      onChange();
    }
    return before > 0;
  }
  const own = OWN[api];
  const keep = (tools: unknown): unknown[] => {
    const kept = listOf(tools).filter((tool) => {
      if (!isFields(tool)) return false;
      const type = typeof tool.type === 'string' ? tool.type : tool.type === undefined ? 'custom' : '';
      if (type === 'namespace') tool.tools = keep(tool.tools);
      const isLocal = !isFields(tool.environment) || tool.environment.type === 'local';
      return (own.test(type) && isLocal) || isKept(type);
    });
    if (!Array.isArray(tools) || kept.length < tools.length) onChange();
    return kept;
  };
  if (body.tools !== undefined) body.tools = keep(body.tools);
  if (api === 'responses')
    for (const item of listOf(body.input))
      if (isFields(item) && 'tools' in item) item.tools = keep(item.tools);
  let isSearch = false;
  for (const field of SEARCH_FIELDS)
    if (isSet(body[field]) && !isKept(field)) {
      delete body[field];
      onChange();
      isSearch = true;
    }
  return before > 0 || isSearch;
}

function geminiTool(tool: unknown, isKept: (tool: string) => boolean): Fields[] {
  if (!isFields(tool)) return [];
  const kept = Object.entries(tool).filter(
    ([key]) => OWN_OF_GEMINI.test(key) || isKept(key.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`)),
  );
  return kept.length > 0 ? [Object.fromEntries(kept)] : [];
}

/** The agent wants that very tool to be used: without it the answer would not be what it takes it for. */
function isDemanded({ tool_choice: choice }: Fields, removed: string[]): boolean {
  if (!isFields(choice)) return false;
  const text = JSON.stringify(choice);
  return removed.some((tool) => text.includes(`"${tool.replace(/_\d{8}$/, '')}`));
}

/** Tool servers that the provider connects to, and containers that it runs. */
function refusedServer(body: Fields, reach: ProviderReach): Reached['refusal'] {
  for (const server of listOf(body.mcp_servers)) {
    const refusal = refusedUrl(isFields(server) ? server.url : undefined, 'connect to', reach);
    if (refusal) return refusal;
  }
  if (isSet(body.container) && !reach.mayUse('container')) return refused('container', 0, 'run a container');
  return undefined;
}

function refusedModel({ model }: Fields, reach: ProviderReach): Reached['refusal'] {
  if (typeof model !== 'string' || !SEARCH_MODELS.test(model)) return undefined;
  return reach.mayUse('web_search') ? undefined : refused('web_search', 0, 'search the web');
}

/** How content is looked through. */
interface Look extends Pick<ProviderReach, 'mayReach'> {
  api: Api;
  /** Told of what has more tokens than bytes. */
  onMore(): void;
  onPicture(): void;
}

/** Conversations are looked through, but not what tools were called with: that is the agent's own. */
function refusedContent(body: Fields, look: Look): Reached['refusal'] {
  const { messages, system, input, contents, systemInstruction, system_instruction } = body;
  return refusedIn([messages, system, input, contents, systemInstruction, system_instruction], look, 0);
}

/** Fields of a call, by the exact type: lenient servers read the others of a message that only says it is a call. */
const CALLS: Partial<Record<Api, RegExp>> = {
  messages: /^(server_|mcp_)?tool_use$/,
  responses:
    /^(function|custom_tool|local_shell|shell|apply_patch|computer|web_search|file_search|mcp|tool_search)_call$/,
};
const OF_CALLS = new Set(['input', 'action', 'operation', 'results']);
/** Of Gemini's and of chat completions, in the one object where each belongs. */
const OF_PARTS: Readonly<Record<string, string>> = {
  functionCall: 'args',
  function_call: 'args',
  functionResponse: 'response',
  function_response: 'response',
  toolCall: 'args',
  tool_call: 'args',
  toolResponse: 'response',
  tool_response: 'response',
};
/** Schemas of a tool: the names in them are those of its own fields. */
const OF_TOOLS = new Set(['parameters', 'input_schema', 'output_schema']);

function refusedIn(value: unknown, look: Look, depth: number, within = ''): Reached['refusal'] {
  if (depth > DEPTH_MAX) return refused('deep', 0, 'read content that is nested too deep');
  if (Array.isArray(value)) {
    for (const item of value) {
      const refusal = refusedIn(item, look, depth + 1, within);
      if (refusal) return refusal;
    }
    return undefined;
  }
  if (!isFields(value)) return undefined;
  const { type } = value;
  const isCall = typeof type === 'string' && CALLS[look.api]?.test(type) === true;
  if (look.api === 'responses' && depth === ITEM_DEPTH && isReference(value)) look.onMore();
  for (const key in value) {
    if (isOwn(key, { isCall, within, type, api: look.api })) continue;
    const misspelt = refusedSpelling([key], 'content');
    if (misspelt) return misspelt;
    const item = value[key];
    if (isSet(item) && (key === 'file_id' || key === 'file_ids')) look.onMore();
    const media = mediaIn(key, item, value);
    if (media?.startsWith('image/')) look.onPicture();
    else if (media !== undefined && !media.startsWith('text/')) look.onMore();
    const url = urlIn(key, item);
    const refusal =
      (url === undefined ? undefined : refusedUrl(url, 'fetch', look)) ??
      refusedIn(item, look, depth + 1, key);
    if (refusal) return refusal;
  }
  return undefined;
}

/** Whether what a field has is the agent's own, which no provider takes for content. */
function isOwn(
  key: string,
  { isCall, within, type, api }: { isCall: boolean; within: string; type: unknown; api: Api },
): boolean {
  if (isCall && OF_CALLS.has(key)) return true;
  if (api === 'generate') return OF_PARTS[within] === key;
  if (key === 'arguments') return isCall || within === 'function' || within === 'function_call';
  if (api !== 'responses') return false;
  if (key === 'tools') return within === '' && type === 'additional_tools';
  if (OF_TOOLS.has(key)) return within === 'tools';
  return key === 'annotations' && type === 'output_text';
}

function refusedSpelling(keys: string[], where: Where): Reached['refusal'] {
  for (const key of keys) {
    const meant = meantBy(key, where);
    if (meant === undefined) continue;
    const shown = key.slice(0, NAME_CHARS_MAX);
    return {
      host: meant,
      port: 0,
      message: `the provider may take "${shown}" for "${meant}"; send "${meant}"`,
      isFinal: true,
    };
  }
  return undefined;
}

/** To an item that the provider keeps; its type need not be said. */
function isReference({ type, id, role }: Fields): boolean {
  return type === 'item_reference' || (!isSet(type) && !isSet(role) && typeof id === 'string');
}

/** The kind of what is sent encoded, such as image/png; empty where it is not said, undefined where there is none. */
function mediaIn(key: string, value: unknown, within: Fields): string | undefined {
  const text = isFields(value) && key.endsWith('_url') ? value.url : value;
  if (typeof text !== 'string') return undefined;
  if (key === 'data' && within.type !== 'redacted_thinking') {
    const said = within.media_type ?? within.mimeType ?? within.mime_type;
    return typeof said === 'string' ? said.toLowerCase() : '';
  }
  if (key !== 'file_data' && !key.endsWith('_url')) return undefined;
  return (
    /^data:([^;,]*)/i.exec(text.slice(0, 100))?.[1]?.toLowerCase() ?? (key === 'file_data' ? '' : undefined)
  );
}

/** Some servers take an address there, too. */
const MAY_BE_ADDRESSES = new Set(['file_data', 'file_id', 'image', 'video', 'audio', 'file']);

/** What the provider would take for an address. */
function urlIn(key: string, value: unknown): unknown {
  if (key.endsWith('_url') || key === 'fileUri' || key === 'file_uri')
    return isFields(value) ? (value.url ?? undefined) : (value ?? undefined);
  if (key === 'source' && isFields(value) && (value.type === 'url' || isSet(value.url))) return value.url;
  return MAY_BE_ADDRESSES.has(key) && typeof value === 'string' && /^\s*\w+:\/\//.test(value)
    ? value
    : undefined;
}

function refusedUrl(text: unknown, verb: string, reach: Pick<ProviderReach, 'mayReach'>): Reached['refusal'] {
  if (typeof text === 'string' && /^data:/i.test(text)) return undefined;
  const url = typeof text === 'string' ? URL.parse(text) : null;
  const isWeb = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  if (isWeb && reach.mayReach(url)) return undefined;
  const shown = String(text).slice(0, URL_CHARS_MAX);
  const port = isWeb ? Number(url.port) || (url.protocol === 'https:' ? 443 : 80) : 0;
  return refused(url?.hostname || shown, port, `${verb} ${shown}`);
}

function refused(host: string, port: number, what: string): NonNullable<Reached['refusal']> {
  return { host, port, message: `the provider would ${what} for the agent, past its fence` };
}

function countOf(list: unknown, within?: string): number {
  const all = listOf(list);
  if (within === undefined) return all.length;
  return all.reduce<number>((sum, item) => sum + (isFields(item) ? listOf(item[within]).length : 0), 0);
}

/** Something that is no list but could be taken for one is a list of itself. */
function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isFields(value) ? [value] : [];
}

function isSet(value: unknown): boolean {
  return (
    value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)
  );
}
