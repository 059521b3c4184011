/** Makes a server listen: resolves once it does, and rejects where it cannot. */
import type { ListenOptions, Server } from 'node:net';

export function listen(server: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      server.on('error', () => {}); // one connection that cannot be accepted is not the end
      resolve();
    });
  });
}
