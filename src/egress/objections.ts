/** What makes a request a trick although its host is allowed: two readers would not read it alike. */
import type { IncomingMessage } from 'node:http';
import { parseAuthority } from './authority.ts';
import { deny, EgressRefusal } from './gate.ts';

export type Objection = (
  incoming: IncomingMessage,
  asked: { host: string; port: number },
) => EgressRefusal | undefined;

export const objectToRequest: Objection = (incoming, asked) =>
  hostMismatch(incoming, asked) ?? oddEncoding(incoming);

/** A tunnel begins where the head ends; a body before it would be read as part of it. */
export const objectToConnect: Objection = (incoming, asked) => unwantedBody(incoming, asked, 'a CONNECT');

/** So does a WebSocket. */
export const objectToUpgrade: Objection = (incoming, asked) =>
  hostMismatch(incoming, asked) ?? unwantedBody(incoming, asked, 'a request for a WebSocket');

function unwantedBody(
  { headers }: IncomingMessage,
  { host, port }: { host: string; port: number },
  what: string,
): EgressRefusal | undefined {
  const { 'transfer-encoding': encoding, 'content-length': length = '0' } = headers;
  if (encoding === undefined && Number(length) === 0) return undefined;
  return deny(host, port, `${what} has no body`, 'send it without Content-Length and Transfer-Encoding');
}

/** A server that goes by its Host header must not be reached under another name than the one checked. */
const hostMismatch: Objection = ({ rawHeaders }, { host, port }) => {
  const values = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === 'host');
  const isSame = (text: string): boolean => {
    const named = parseAuthority(text);
    return typeof named !== 'string' && named.host === host && (named.port ?? 80) === port;
  };
  if (values.every(isSame)) return undefined;
  const why = 'its Host header names another host';
  return deny(host, port, why, 'send a Host header that is the same as the URL');
};

/** Only the framing is undone here, so another encoding would be lost on the way. */
function oddEncoding({ headers }: IncomingMessage): EgressRefusal | undefined {
  const encoding = headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  if (encoding === 'chunked') return undefined;
  return new EgressRefusal(400, 'bosun: of all transfer encodings only "chunked" is passed on');
}
