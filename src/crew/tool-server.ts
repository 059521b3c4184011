/**
 * Our tools for an agent's model: a server of the Model Context Protocol on the stdin and stdout of `bosun agent mcp`.
 * It is started with each agent, so it imports little; every call goes to the engine, which decides.
 */
import type { Readable, Writable } from 'node:stream';
import { BosunError } from '../contract/errors.ts';
import { callTool } from './client.ts';
import { holdUntilDrained, readLines } from './lines.ts';
import {
  CALLS_MAX,
  linesOf,
  withoutControls,
  rowOf,
  schemaOfInput,
  TOOL_NAMES,
  type ToolName,
} from './tools.ts';
import { isFields, type Fields } from '../base/fields.ts';

const MESSAGE_BYTES_MAX = 1024 * 1024;
/** The stateless era: each request says its version, and there is no handshake. */
const MODERN_VERSIONS = ['2026-07-28'];
/** Those that begin with a handshake, whose messages for tools are as they are here; the newest first. */
const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

const INVALID_REQUEST = -32600;
const NO_METHOD = -32601;
const INVALID_PARAMS = -32602;
const BROKEN_JSON = -32700;
const UNSUPPORTED_VERSION = -32022;
const META = 'io.modelcontextprotocol/';
const SERVER_INFO = { name: 'bosun', version: '1' };
const CAPABILITIES = { tools: {} };
/** The tools stay the same for as long as the process lives. */
const CACHE_MS = 3_600_000;

type Id = string | number;
class RpcProblem extends Error {
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Resolves when the agent has closed its end, or has sent what cannot be read any further. */
export function serveTools(input: Readable, output: Writable): Promise<void> {
  const underWay = new Map<Id, AbortController>();
  const send = (message: object): void => {
    if (!output.writable || output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)) return;
    holdUntilDrained(input, output); // who does not read is not heard
  };
  const fail = (id: Id | null, { code, message, data }: RpcProblem): void =>
    send({ id, error: { code, message, ...(data && { data }) } });

  const onMessage = async (line: string): Promise<void> => {
    const message = parsed(line);
    if (message === undefined) return fail(null, new RpcProblem(BROKEN_JSON, 'the message is not JSON'));
    if (!isFields(message))
      return fail(null, new RpcProblem(INVALID_REQUEST, 'the message is not an object'));
    const { id, method } = message;
    const params = isFields(message.params) ? message.params : {};
    if (method === 'notifications/cancelled') underWay.get(params.requestId as Id)?.abort();
    if (typeof method !== 'string' || !isId(id)) return; // a notification, or an answer to nothing
    const stop = new AbortController();
    try {
      if (underWay.size >= CALLS_MAX || underWay.has(id))
        throw new RpcProblem(INVALID_REQUEST, `more than ${CALLS_MAX} calls at once, or one id twice`);
      underWay.set(id, stop);
      const result = await answer(method, params, stop.signal);
      if (!stop.signal.aborted) send({ id, result });
    } catch (error) {
      if (!(error instanceof RpcProblem)) throw error;
      fail(id, error);
    } finally {
      if (underWay.get(id) === stop) underWay.delete(id);
    }
  };

  return new Promise((resolve, reject) => {
    const end = (): void => {
      for (const stop of underWay.values()) stop.abort();
      input.destroy();
      resolve();
    };
    readLines(input, {
      bytesMax: MESSAGE_BYTES_MAX,
      onLine: (line) => void onMessage(line).catch(reject),
      onTooLong: () => {
        fail(null, new RpcProblem(INVALID_REQUEST, 'the message is longer than it may be'));
        end();
      },
    });
    output.on('error', end); // who does not read any more has gone
    input.once('close', end);
    input.once('end', end);
  });
}

/** A request that says its version is of the stateless era; so is the one that asks which there are. */
async function answer(method: string, params: Fields, signal: AbortSignal): Promise<object> {
  const { _meta: said } = params;
  const meta = isFields(said) ? said : {};
  const version = meta[`${META}protocolVersion`];
  if (version === undefined && method !== 'server/discover') return answerHandshaken(method, params, signal);
  if (typeof version !== 'string' || !isFields(meta[`${META}clientCapabilities`]))
    throw new RpcProblem(
      INVALID_PARAMS,
      `_meta needs ${META}protocolVersion, a text, and ${META}clientCapabilities, an object`,
    );
  if (!MODERN_VERSIONS.includes(version))
    throw new RpcProblem(UNSUPPORTED_VERSION, 'that version of the protocol is not supported', {
      supported: MODERN_VERSIONS,
      requested: version.slice(0, 100),
    });
  const result =
    method === 'server/discover'
      ? { supportedVersions: MODERN_VERSIONS, capabilities: CAPABILITIES }
      : await answerTools(method, params, signal);
  return {
    ...result,
    resultType: 'complete',
    ...(method !== 'tools/call' && { ttlMs: CACHE_MS, cacheScope: 'private' }),
    _meta: { [`${META}serverInfo`]: SERVER_INFO },
  };
}

async function answerHandshaken(method: string, params: Fields, signal: AbortSignal): Promise<object> {
  if (method === 'ping') return {};
  if (method !== 'initialize') return answerTools(method, params, signal);
  const wanted = HANDSHAKE_VERSIONS.find((version) => version === params.protocolVersion);
  return {
    protocolVersion: wanted ?? HANDSHAKE_VERSIONS[0],
    capabilities: CAPABILITIES,
    serverInfo: SERVER_INFO,
  };
}

async function answerTools(method: string, params: Fields, signal: AbortSignal): Promise<object> {
  if (method === 'tools/list') return { tools: TOOL_NAMES.map(listed) };
  if (method !== 'tools/call')
    throw new RpcProblem(NO_METHOD, `there is no method "${method.slice(0, 100)}"`);
  const name = TOOL_NAMES.find((known) => known === params.name);
  if (!name) {
    const names = TOOL_NAMES.join(', ');
    throw new RpcProblem(INVALID_PARAMS, `there is no tool of that name; there are ${names}`);
  }
  return call(name, isFields(params.arguments) ? params.arguments : {}, signal);
}

function listed(name: ToolName): object {
  return { name, description: rowOf(name).description, inputSchema: schemaOfInput(name) };
}

/** What goes wrong is told as the tool's result: so the model reads it, and can do better. */
async function call(name: ToolName, input: Fields, signal: AbortSignal): Promise<object> {
  try {
    const { answer: said, notice } = await callTool(name, relative(input), { signal });
    const text = linesOf(name, said).join('\n') || (rowOf(name).nothing ?? '');
    const told = notice === undefined ? [] : [{ type: 'text', text: withoutControls(notice) }];
    return { content: [{ type: 'text', text }, ...told] };
  } catch (error) {
    if (!(error instanceof BosunError)) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

/** Agents work at the top of the repository, and like to write paths in full. */
function relative(input: Fields): Fields {
  if (!Array.isArray(input.paths)) return input;
  const top = `${process.cwd()}/`;
  const paths = input.paths.map((path: unknown) =>
    typeof path === 'string' && path.startsWith(top) ? path.slice(top.length) : path,
  );
  return { ...input, paths };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number';
}
