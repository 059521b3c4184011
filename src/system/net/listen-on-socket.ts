/** Makes a server listen on a unix socket of its own, which nobody but its owner can enter. The only code that does. */
import { chmodSync, chownSync, lstatSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { listen } from './listen.ts';
import { openSocketPath } from './socket-path.ts';

export interface SocketAt {
  socketPath: string;
  /** Whose it becomes, where the engine is root. */
  uid?: number;
}

/** Rejects with the server closed. What it gives is to be let go of once the server has closed. */
export async function listenOnSocket(
  server: Server,
  { socketPath, uid }: SocketAt,
): Promise<AsyncDisposable> {
  // One that a killed engine left behind. All this is at once: every attempt waits for it before it starts.
  if (lstatSync(socketPath, { throwIfNoEntry: false })?.isSocket()) rmSync(socketPath);
  const reached = openSocketPath(socketPath);
  const letGo = async (): Promise<void> => {
    reached[Symbol.dispose]();
    await rm(socketPath, { force: true });
  };
  try {
    await listen(server, { path: reached.path });
    chmodSync(socketPath, 0o600);
    if (uid !== undefined && process.getuid?.() === 0) chownSync(socketPath, uid, -1);
    return { [Symbol.asyncDispose]: letGo };
  } catch (error) {
    const wasListening = server.listening;
    await new Promise<void>((resolve) => server.close(() => resolve()));
    if (wasListening) await letGo();
    else reached[Symbol.dispose](); // what is there is somebody else's
    throw error;
  }
}
