/** Everything that an attack could try to reach, in a network of its own: nothing here leaves the machine. */
import dgram from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';

/** The runner's network namespace has these addresses on its loopback, see start-runner.ts. */
export const OTHER_HOST = '192.0.2.53';
export const METADATA_HOST = '169.254.169.254';

/** Starts all of them, each answering with the secret; gives what the programs must know to find them. */
export async function startServers(directory: string, secret: string): Promise<Record<string, string>> {
  const answer = `HTTP/1.0 200 OK\r\n\r\n${secret}\n`;
  const tell = (): net.Server => net.createServer((socket) => void socket.on('error', () => {}).end(answer));
  const loopback = await listen(tell(), { port: 0, host: '127.0.0.1' });
  const any = await listen(tell(), { port: 0, host: '0.0.0.0' });
  await listen(tell(), { port: 80, host: METADATA_HOST });
  const abstractName = `bosun-attack-${secret}`;
  await listen(tell(), { path: `\0${abstractName}` });
  const engineSocket = path.join(directory, 'engine.sock');
  await listen(tell(), { path: engineSocket, readableAll: true, writableAll: true });
  const [ownSocket, otherSocket] = ['mine', 'other'].map((name) =>
    path.join(directory, 's', name, 'agent.sock'),
  );
  for (const [file, server] of [
    [ownSocket!, net.createServer((socket) => void socket.on('error', () => {}).end('mine\n'))],
    [otherSocket!, tell()],
  ] as const) {
    mkdirSync(path.dirname(file), { recursive: true });
    await listen(server, { path: file, readableAll: true, writableAll: true });
  }
  const proxy = await listen(openProxy(), { port: 0, host: '127.0.0.1' });
  await startResolver(secret);
  return {
    VICTIM_PORT: String(loopback),
    ANY_PORT: String(any),
    OTHER_HOST,
    ABSTRACT_SOCKET: abstractName,
    ENGINE_SOCKET: engineSocket,
    OWN_SOCKET: ownSocket!,
    OTHER_SOCKET: otherSocket!,
    HTTP_PROXY: `http://127.0.0.1:${proxy}`,
  };
}

async function listen(server: net.Server, options: net.ListenOptions): Promise<number> {
  server.listen(options).unref();
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Leads anywhere, as a proxy must not. */
function openProxy(): net.Server {
  return net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (head) => {
      const [, host, port] = /^CONNECT ([^:]+):(\d+) /.exec(head.toString()) ?? [];
      if (host === undefined) return socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      const target = net.connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        target.write(head.subarray(head.indexOf('\r\n\r\n') + 4));
        target.pipe(socket);
      });
      return target.on('error', () => socket.destroy());
    });
  });
}

async function startResolver(secret: string): Promise<void> {
  const resolver = dgram.createSocket('udp4').unref();
  resolver.on('message', (_question, from) => resolver.send(secret, from.port, from.address));
  resolver.bind(53, OTHER_HOST);
  await once(resolver, 'listening');
}
