/** Connects to the socket of a relay and reads its first byte, which says whether it has reached the port. */
import { connect, type Socket } from 'node:net';
import { openSocketPath } from './socket-path.ts';

/** As native/relay.c says them; `gone`: there is no relay any more. */
const WORDS = { 1: 'nobody-listens', 2: 'too-many', 3: 'no-answer' } as const;
export type Unreached = (typeof WORDS)[keyof typeof WORDS] | 'gone';

/** A relay gives up before that. */
const TIMEOUT_MS = 20_000;

/** The socket lives until it ends, or `signal` says that nobody wants it any longer. It is half open for as long as it likes. */
export function dialRelay(socketPath: string, signal?: AbortSignal): Promise<Socket | Unreached> {
  return new Promise((resolve) => {
    let reached: Disposable & { path: string };
    try {
      reached = openSocketPath(socketPath);
    } catch {
      return resolve('gone'); // its directory went with it
    }
    const socket = connect({ path: reached.path, allowHalfOpen: true });
    let isSettled = false;
    const settle = (answer: Socket | Unreached): void => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(late);
      socket.off('readable', read);
      reached[Symbol.dispose]();
      if (answer !== socket) socket.destroy();
      resolve(answer);
    };
    const read = (): void => {
      const first = socket.read(1) as Buffer | null;
      if (first === null) return; // its end comes
      const [said] = first as unknown as [number];
      settle(said === 0 ? socket : (WORDS[said as keyof typeof WORDS] ?? 'gone'));
    };
    const late = setTimeout(() => settle('no-answer'), TIMEOUT_MS);
    socket.on('readable', read);
    socket.on('error', () => settle('gone')); // stays: whoever uses the socket learns of its end by its close
    socket.once('end', () => settle('gone'));
    socket.once('close', () => settle('gone'));
    const drop = (): void => void socket.destroy();
    signal?.addEventListener('abort', drop);
    socket.once('close', () => signal?.removeEventListener('abort', drop));
    if (signal?.aborted) drop();
  });
}
