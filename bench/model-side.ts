/**
 * A program: a provider on loopback for `gateway.ts`. It streams events that hold the moment they were sent, in
 * nanoseconds of the machine's own clock, or answers small. Prints its base URL; ends with its stdin.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const EVENTS = 100;
/** Fifty pieces a second are as many as fast models give. */
const EVERY_MS = 20;
const USAGE = { input_tokens: 1000, output_tokens: 1, cache_read_input_tokens: 500 };
const SMALL = JSON.stringify({ type: 'message', content: [{ type: 'text', text: 'hello' }], usage: USAGE });
const TEXT = 'some words of an answer, as long as such pieces are';
// Written once: the provider is not what is measured, and shares the cores with what is.
const START = event({ type: 'message_start', message: { usage: USAGE } });
const DELTA = event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } });

const server = createServer((incoming, outgoing) => {
  incoming.resume();
  incoming.once('end', () => {
    if (incoming.headers['x-bench'] === 'stream') return stream(outgoing);
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': SMALL.length });
    outgoing.end(SMALL);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.stdin.resume().once('end', () => process.exit());

function stream(outgoing: ServerResponse): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const send = (): void => {
    sent += 1;
    const [before, after] = sent === 1 ? START : DELTA;
    outgoing.write(`${before}${process.hrtime.bigint()}${after}`);
    if (sent < EVENTS) return;
    clearInterval(timer);
    outgoing.end('event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":900}}\n\n');
  };
  const timer = setInterval(send, EVERY_MS);
  send();
}

/** What comes before and after the moment. */
function event(data: { type: string; [field: string]: unknown }): [string, string] {
  return [`event: ${data.type}\ndata: {"at":`, `,${JSON.stringify(data).slice(1)}\n\n`];
}
