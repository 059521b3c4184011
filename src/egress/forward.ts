/** Carries one plain HTTP request to its target and the answer back, both as streams. Never decides where to. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { request } from '../system/net/http.ts';
import { HOP_BY_HOP } from '../base/hop-by-hop.ts';
import { formatAuthority } from './authority.ts';
import { EgressRefusal, type Target } from './gate.ts';

export interface Forward {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  target: Target;
  path: string;
  /** Connected to the target; serves this one request. */
  upstream: Socket;
  headerBytesMax: number;
  refuse(refusal: EgressRefusal): void;
}

export function forward({ incoming, outgoing, target, path, upstream, ...rest }: Forward): void {
  const asked = request({
    createConnection: () => upstream,
    method: incoming.method,
    path,
    headers: requestHeaders(incoming, formatAuthority(target.host, target.port, 80)),
    insecureHTTPParser: false,
    maxHeaderSize: rest.headerBytesMax,
  });
  const fail = (error: Error): void => {
    if (outgoing.writableEnded) return; // answered in full before the whole request was read
    if (outgoing.headersSent) outgoing.destroy();
    else
      rest.refuse(new EgressRefusal(502, `bosun: ${target.host} did not answer properly: ${error.message}`));
  };
  asked.on('error', fail);
  // Also of what Node takes for the end of HTTP, such as 101: then nothing else is said.
  asked.once('close', () => {
    if (!isAnswered) fail(new Error('it broke off the connection'));
  });
  let isAnswered = false;
  asked.once('response', (answer) => {
    isAnswered = true;
    try {
      outgoing.sendDate = false;
      outgoing.writeHead(answer.statusCode!, answer.statusMessage, endToEnd(answer).flat());
    } catch (error) {
      upstream.destroy();
      return fail(error as Error);
    }
    outgoing.flushHeaders(); // the first byte of a body may be long in coming
    pipeline(answer, outgoing, (error) => {
      if (error) outgoing.destroy();
    });
  });
  incoming.pipe(asked);
}

/** The body is framed as the parser understood it, whatever else the headers say. */
function requestHeaders(incoming: IncomingMessage, host: string): string[] {
  const kept = endToEnd(incoming).filter(
    ([name]) => !['host', 'content-length'].includes(name.toLowerCase()),
  );
  const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers;
  if (encoding !== undefined) kept.push(['Transfer-Encoding', 'chunked']);
  else if (length !== undefined) kept.push(['Content-Length', length]);
  return [['Host', host], ...kept, ['Connection', 'close']].flat();
}

/** As they came, without those that are for us and those that `Connection` names. */
export function endToEnd(message: IncomingMessage): [name: string, value: string][] {
  const named = (message.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  const { rawHeaders } = message;
  const kept: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    if (!dropped.has(rawHeaders[i]!.toLowerCase())) kept.push([rawHeaders[i]!, rawHeaders[i + 1]!]);
  return kept;
}
