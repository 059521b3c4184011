/** The path under which a unix socket can be bound or reached, also where its own is longer than the kernel takes. */
import { constants, closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';

/** What the kernel takes as the path of a unix socket. */
const SOCKET_PATH_BYTES_MAX = 107;

export interface SocketPath extends Disposable {
  path: string;
}

/**
 * A long one is reached through a descriptor of its directory, which must stay open for as long as the path is in
 * use: a server unlinks it when it closes, and the number could be another directory's by then.
 */
export function openSocketPath(socketPath: string): SocketPath {
  if (Buffer.byteLength(socketPath) <= SOCKET_PATH_BYTES_MAX)
    return { path: socketPath, [Symbol.dispose]: () => {} };
  if (process.platform !== 'linux')
    throw new BosunError(
      'system',
      `cannot use a socket at ${socketPath}: its path has more than ${SOCKET_PATH_BYTES_MAX} bytes; use a repository with a shorter path`,
    );
  const directory = openSync(path.dirname(socketPath), constants.O_RDONLY | constants.O_DIRECTORY);
  let isOpen = true;
  return {
    path: `/proc/self/fd/${directory}/${path.basename(socketPath)}`,
    [Symbol.dispose]: () => {
      if (isOpen) closeSync(directory);
      isOpen = false;
    },
  };
}
