/** How somebody is told that a request goes nowhere. The connection ends with it, so that nothing of a refused request is ever read as the next one. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { STATUS_CODES } from '../system/net/http.ts';
import type { EgressRefusal } from './gate.ts';

export function answerRefusal(outgoing: ServerResponse, { status, message }: EgressRefusal): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  outgoing.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
  outgoing.end(`${message}\n`);
}

/** Where there is nothing but the connection. */
export function writeRefusal(client: Duplex, { status, message }: EgressRefusal): void {
  const body = Buffer.from(`${message}\n`);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  client.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]), () => client.destroy());
}
