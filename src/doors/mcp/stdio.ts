/** This door on stdin and stdout, for a client that starts it: both eras of the protocol, until the client is gone. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer, type McpServerOptions } from './server.ts';

export async function serveOnStdio(options: McpServerOptions, say: (text: string) => void): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const handle = serveStdio(() => createServer(options), { onerror: ({ message }) => say(message) });
  for (const sign of ['end', 'close', 'error'] as const) process.stdin.once(sign, () => resolve());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  await ended;
  await handle.close();
}
