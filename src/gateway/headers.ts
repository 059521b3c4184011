/** Which headers are passed on: all but those that belong to one connection. */
import type { IncomingHttpHeaders } from 'node:http';
import { HOP_BY_HOP, namedByConnection } from '../base/hop-by-hop.ts';

/** They belong to one connection, or are set anew for the next one. */
export const OF_THE_CONNECTION: ReadonlySet<string> = new Set([...HOP_BY_HOP, 'host']);

/** Some servers do another thing then than the one that was judged. */
const OTHER_METHOD = /^x-(http-)?method(-override)?$/;

/** As the transport wants them: without length and encoding, as the body is handed on plain. */
export function requestHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const named = namedByConnection(headers.connection);
  const passed: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || OF_THE_CONNECTION.has(name) || named.has(name)) continue;
    if (name === 'content-length' || name === 'content-encoding' || OTHER_METHOD.test(name)) continue;
    passed[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  passed['accept-encoding'] = 'identity'; // counts are read from the answer as it passes
  return passed;
}

export function responseHeaders(headers: Record<string, string>): Record<string, string> {
  const named = namedByConnection(headers.connection);
  const passed: Record<string, string> = {};
  for (const name in headers)
    if (!OF_THE_CONNECTION.has(name) && !named.has(name)) passed[name] = headers[name]!;
  return passed;
}
