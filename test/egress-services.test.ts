/** Services behind the proxy of an attempt: what of a name comes through, and that nothing of it ever leaves the machine. */
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ask, makeRig, raw, type Rig } from './fixtures/egress.ts';
import type { FindService } from '../src/egress/services-door.ts';

let rig: Rig;
const servers: Server[] = [];
beforeAll(async () => {
  rig = await makeRig();
});
afterEach(() => rig.reset());
afterAll(async () => {
  for (const server of servers) server.close();
  await rig[Symbol.asyncDispose]();
});

/** What stands in a relay's place: says this to each connection, and nothing more where that is no 0. */
async function relay(name: string, first: number, heard: string[] = []): Promise<string> {
  const socketPath = path.join(rig.directory, `${name}.sock`);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(Buffer.from([first]));
    if (first !== 0) socket.end();
    else {
      socket.on('data', (chunk) => {
        heard.push(String(chunk));
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi');
      });
    }
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return socketPath;
}

it('looks no name of a service up, not even one that a scope names as a host', async () => {
  const proxy = await rig.open({ allow: ['web.bosun', '*.bosun'] });
  for (const url of ['http://web.bosun/', 'http://WEB.BOSUN./', 'http://bosun/', 'http://a.b.bosun/'])
    expect((await ask(proxy, url)).body).toMatch(/there are no services here|not a service name/);
  expect(rig.lookups).toEqual([]);
});

it.each([
  [1, 502, 'nothing listens on port 3000 of build now'],
  [2, 503, 'port 3000 of build has too many connections; try again later'],
  [3, 504, 'port 3000 of build takes no connection in time'],
  [9, 502, 'port 3000 of build is not served any more'],
])('says what a relay says with %d', async (word, status, why) => {
  const socketPath = await relay(`word-${word}`, word);
  const proxy = await rig.open({ allow: [], findService: () => ({ socketPath, port: 3000, of: 'build' }) });
  const answer = await ask(proxy, 'http://web.bosun/');
  expect(answer).toMatchObject({ status, body: `bosun: cannot reach web.bosun: ${why}\n` });
  const tunnel = await raw(proxy, 'CONNECT web.bosun:3000 HTTP/1.1\r\n\r\n');
  expect(tunnel).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

it('says so where the socket is gone, and lists what is denied', async () => {
  const found: Record<string, ReturnType<FindService>> = {
    gone: { socketPath: path.join(rig.directory, 'none.sock'), port: 1, of: 'build' },
    barred: { why: 'it is not yours', remedy: 'ask for it' },
    none: { why: 'nobody serves it' },
  };
  const proxy = await rig.open({ allow: [], findService: (name) => found[name]! });
  expect((await ask(proxy, 'http://gone.bosun/')).body).toContain('is not served any more');
  expect(await ask(proxy, 'http://none.bosun/')).toMatchObject({ status: 502 });
  expect(await ask(proxy, 'http://barred.bosun/')).toMatchObject({
    status: 403,
    body: 'bosun: barred.bosun:80 is denied: it is not yours; ask for it\n',
  });
  expect(rig.denied).toEqual([{ host: 'barred.bosun', port: 80, why: 'it is not yours' }]);
});

it('passes a WebSocket on with its own headers, and every other offer as a plain request', async () => {
  const heard: string[] = [];
  const socketPath = await relay('web', 0, heard);
  const proxy = await rig.open({ allow: [], findService: () => ({ socketPath, port: 3000, of: 'build' }) });
  const head = (...more: string[]): string =>
    ['GET http://web.bosun/x HTTP/1.1', 'Host: web.bosun', 'Connection: Upgrade', ...more, '', ''].join(
      '\r\n',
    );
  await raw(proxy, head('Upgrade: websocket', 'Sec-WebSocket-Key: k', 'Proxy-Authorization: secret'));
  expect(heard.pop()).toBe(
    'GET /x HTTP/1.1\r\nHost: web.bosun\r\nSec-WebSocket-Key: k\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  const offer = { headers: { Upgrade: 'h2c', 'HTTP2-Settings': 'x' }, connection: 'Upgrade, HTTP2-Settings' };
  expect((await ask(proxy, 'http://web.bosun/x', offer)).body).toBe('hi');
  expect(heard.pop()).toBe('GET /x HTTP/1.1\r\nHost: web.bosun\r\nConnection: close\r\n\r\n');
  expect(await raw(proxy, head('Upgrade: websocket', 'Content-Length: 5'))).toMatch(/ 403 .*has no body/s);
  expect(await raw(proxy, head('Upgrade: websocket').replace('Host: web', 'Host: api'))).toMatch(/ 403 .*names another host/s); // prettier-ignore
  expect(heard).toEqual([]);
});
