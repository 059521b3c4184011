/** The head of a request that becomes a WebSocket, as it is passed on. What follows it is bytes, carried by whoever asks. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { formatAuthority } from './authority.ts';
import { endToEnd } from './forward.ts';

/** Whether the request asks for one, and for nothing else. */
export function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.trim().toLowerCase() === 'websocket';
}

/** Its parts are as the parser understood them: none holds the end of a line. */
export function upgrade(
  incoming: IncomingMessage,
  path: string,
  { target, upstream }: { target: { host: string; port: number }; upstream: Socket },
): void {
  const kept = endToEnd(incoming).filter(
    ([name]) => !['host', 'content-length'].includes(name.toLowerCase()),
  );
  const headers = [
    ['Host', formatAuthority(target.host, target.port, 80)],
    ...kept,
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
  ];
  const lines = [
    `${incoming.method} ${path} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  upstream.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
