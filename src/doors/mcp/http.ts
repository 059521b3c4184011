/**
 * This door over HTTP (the protocol's streamable HTTP, both eras), for a server of ours to mount at a path of its own.
 * It looks at Host and Origin, so that no website reaches it by a name of its own; who may ask is for the server that
 * mounts it to check, before a request comes here.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { createServer, type McpServerOptions } from './server.ts';

/** In which repository a request asks, and for whom; what its token allows. */
export type Place = Omit<McpServerOptions, 'version'>;

export interface HttpOptions {
  version: string;
  /** Rejects where there is no such repository, or the asking one may not use it. */
  where(request: Request): Place | Promise<Place>;
  /** Names by which this server is known, without ports; those of loopback if not given. */
  hosts?: string[];
  /** Origins of pages that may ask; those of loopback if not given. */
  origins?: string[];
  /** Is told what no client is: a request that failed here. */
  onError?(error: Error): void;
}

export interface McpHttp extends AsyncDisposable {
  fetch(request: Request): Promise<Response>;
  /** The same for Node's own server, in a place that is known: `where` is not asked. */
  serve(request: IncomingMessage, response: ServerResponse, place?: Place): Promise<void>;
}

const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Streams that clients hold open to hear of changes. */
const SUBSCRIPTIONS_MAX = 100;

export function openMcpHttp(options: HttpOptions): McpHttp {
  const { version, where, onError } = options;
  const { hosts = localhostAllowedHostnames(), origins = localhostAllowedOrigins() } = options;
  const known = new AsyncLocalStorage<Place | undefined>();
  const handler = createMcpHandler(
    async ({ requestInfo }) =>
      createServer({ version, ...(known.getStore() ?? (await where(requestInfo!))) }),
    {
      maxRequestBodySize: BODY_BYTES_MAX,
      maxSubscriptions: SUBSCRIPTIONS_MAX,
      ...(onError && { onerror: onError }),
    },
  );
  const answer = async (request: Request): Promise<Response> =>
    hostHeaderValidationResponse(request, hosts) ??
    originValidationResponse(request, origins) ??
    handler.fetch(request);
  return {
    fetch: (request) => answer(request),
    async serve(incoming, response, place) {
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const request = webRequest(incoming, gone.signal);
      await send(await known.run(place, () => answer(request)), response);
    },
    [Symbol.asyncDispose]: () => handler.close(),
  };
}

function webRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headers, url = '/' } = request;
  const pairs = Object.entries(headers).flatMap(([name, value = '']) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, each]),
  );
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? (Readable.toWeb(request) as ReadableStream<Uint8Array>) : null;
  return new Request(new URL(url, 'http://localhost'), {
    method,
    headers: pairs,
    signal,
    ...(body && { body: body as never, duplex: 'half' }),
  });
}

async function send(from: Response, to: ServerResponse): Promise<void> {
  to.writeHead(from.status, Object.fromEntries(from.headers));
  if (!from.body) return void to.end();
  to.flushHeaders();
  try {
    await pipeline(Readable.fromWeb(from.body), to);
  } catch {
    to.destroy(); // the client has gone, or the call was ended
  }
}
