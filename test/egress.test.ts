/** The way out of a sandbox, over real sockets of loopback; names resolve only as each test says. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BRIDGE_FAILED, bridged, proxyEnvironment } from '../src/sandbox/linux/bridge.ts';
import { EGRESS_LIMITS, type EgressProxy } from '../src/egress/proxy.ts';
import { openSocketPath } from '../src/system/net/socket-path.ts';
import { ask, BIG_BYTES, get, makeRig, raw, response, type Rig } from './fixtures/egress.ts';

let rig: Rig;
let port: number;
beforeAll(async () => {
  rig = await makeRig();
  ({ port } = rig);
});
afterEach(() => rig.reset());
afterAll(() => rig[Symbol.asyncDispose]());

describe('the proxy', () => {
  it('carries any method, both bodies and the headers that are meant for the other end', async () => {
    const proxy = await rig.open({ allow: [`site.test:${port}`, `127.0.0.1:${port}`] });
    const answer = await ask(proxy, `http://site.test:${port}/path?q=1`, {
      method: 'PATCH',
      headers: {
        'X-Own': 'kept',
        'X-Hop': 'gone',
        'Proxy-Authorization': 'Basic eDp5',
        TE: 'trailers',
        Upgrade: 'h2c',
      },
      connection: 'X-Hop',
      body: 'a body',
    });
    expect(answer).toMatchObject({ status: 200, body: 'served /path?q=1' });
    expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(answer.headers['keep-alive']).not.toBe('timeout=77');
    const [{ method, body, headers }] = rig.seen as [(typeof rig.seen)[0]];
    expect([method, body]).toEqual(['PATCH', 'a body']);
    const names = headers.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
    expect(names.sort()).toEqual(['connection', 'content-length', 'host', 'x-own']);
    expect(headers[headers.indexOf('Host') + 1]).toBe(`site.test:${port}`);
    expect(rig.denied).toEqual([]);
  });

  it('opens tunnels, and they end when either side does', async () => {
    const echo = createTcpServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(
      0,
      '127.0.0.1',
    );
    await once(echo, 'listening');
    const echoPort = (echo.address() as AddressInfo).port;
    const proxy = await rig.open({ allow: [`127.0.0.1:${echoPort}`] });
    const answer = await raw(proxy, `CONNECT 127.0.0.1:${echoPort} HTTP/1.1\r\nHost: x\r\n\r\nearly bytes`, {
      end: true,
    });
    expect(answer).toBe('HTTP/1.1 200 Connection Established\r\n\r\nearly bytes');
    echo.close();
    await once(echo, 'close'); // which waits for its connections
  });

  it('says what is denied, why and what to write, and tells it once', async () => {
    const proxy = await rig.open({ allow: ['example.com'] });
    const text =
      'bosun: evil.test:8080 is denied: scope.network does not name it; to allow it, add "evil.test:8080" to scope.network\n';
    for (let i = 0; i < 3; i += 1)
      expect(await ask(proxy, 'http://evil.test:8080/')).toMatchObject({ status: 403, body: text });
    expect(await raw(proxy, 'CONNECT evil.test:8080 HTTP/1.1\r\n\r\n')).toMatch(
      /^HTTP\/1.1 403 Forbidden\r\n[^]*\r\n\r\nbosun: evil.test:8080 is denied: [^\n]*\n$/,
    );
    expect(await raw(proxy, 'CONNECT evil.test:443 HTTP/1.1\r\n\r\n')).toContain('add "evil.test" to scope');
    const why = 'scope.network does not name it';
    expect(rig.denied).toEqual([
      { host: 'evil.test', port: 8080, why },
      { host: 'evil.test', port: 443, why },
    ]);
    expect(rig.lookups).toEqual([]); // a name that is not allowed leaks nothing through DNS
  });

  it('gives two attempts different lists at the same time', async () => {
    const [one, two] = await Promise.all([
      rig.open({ allow: [`one.test:${port}`, `127.0.0.1:${port}`] }),
      rig.open({ allow: [`two.test:${port}`, `127.0.0.1:${port}`] }),
    ]);
    const statuses = await Promise.all(
      [one, two].flatMap((proxy) =>
        ['one', 'two'].map(async (name) => (await ask(proxy, `http://${name}.test:${port}/`)).status),
      ),
    );
    expect(statuses).toEqual([200, 403, 403, 200]);
  });

  it('takes localhost as this machine, without looking it up', async () => {
    const proxy = await rig.open({ allow: [`localhost:${port}`] });
    expect((await ask(proxy, `http://LOCALHOST.:${port}/`)).status).toBe(200);
    expect((await ask(proxy, `http://127.0.0.1:${port}/`)).status).toBe(200);
    expect((await ask(proxy, `http://127.0.0.2:${port}/`)).status).toBe(403);
    expect(rig.lookups).toEqual([]);
  });

  it('streams: what nobody reads yet stays with its sender', async () => {
    const proxy = await rig.open({ allow: [`127.0.0.1:${port}`] });
    const answer = await response(proxy, `http://127.0.0.1:${port}/big`);
    let sentBytes = -1;
    while (sentBytes < rig.sentBytes) {
      ({ sentBytes } = rig);
      await sleep(200);
    }
    expect(sentBytes).toBeLessThan(BIG_BYTES / 4);
    let bytes = 0;
    for await (const chunk of answer) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(BIG_BYTES);
  });

  it('belongs to one user, and leaves nothing behind', async () => {
    const isRoot = process.getuid?.() === 0;
    const proxy = await rig.open({ allow: [`127.0.0.1:${port}`], uid: isRoot ? 64123 : process.getuid!() });
    const { mode, uid } = await stat(proxy.socketPath);
    expect([mode & 0o777, uid]).toEqual([0o600, isRoot ? 64123 : process.getuid!()]);
    const silent = raw(proxy, get(`http://127.0.0.1:${port}/silent`));
    const tunnel = raw(proxy, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`);
    await sleep(100);
    await proxy[Symbol.asyncDispose]();
    expect([await silent, await tunnel]).toEqual(['', expect.stringContaining(' 200 ')]);
    expect(existsSync(proxy.socketPath)).toBe(false);
    await expect.poll(() => rig.connections()).toBe(0);
  });

  it('connects for nobody who has left', async () => {
    const proxy = await rig.open({
      allow: [`127.0.0.1:${port}`, `slow.test:${port}`],
      resolve: () => sleep(100, ['127.0.0.1']),
    });
    const socket = connect(proxy.socketPath);
    socket.write(get(`http://slow.test:${port}/silent`));
    await sleep(50);
    socket.destroy();
    await sleep(150);
    expect(await rig.connections()).toBe(0);
  });

  it('closes when its signal says so, and takes the place of a socket that was left behind', async () => {
    const stop = new AbortController();
    const proxy = await rig.open({ allow: [], signal: stop.signal });
    const { socketPath } = proxy;
    stop.abort();
    await proxy[Symbol.asyncDispose]();
    expect(existsSync(socketPath)).toBe(false);
    await expect(rig.open({ allow: [], signal: stop.signal })).rejects.toThrow();
    const script = `require('net').createServer().listen(${JSON.stringify(socketPath)}, () => process.kill(process.pid, 9))`;
    await run([process.execPath, '-e', script]);
    expect(existsSync(socketPath)).toBe(true);
    expect((await ask(await rig.open({ allow: [], socketPath }), 'http://x.test/')).status).toBe(403);
    await expect(rig.open({ allow: [], socketPath: path.join(rig.directory, 'none', 'x') })).rejects.toThrow(
      'cannot open the way to the network',
    );
  });
});

it('works at a path that is longer than the kernel takes, leaves no descriptor and no file', async () => {
  const directory = path.join(rig.directory, 'x'.repeat(60), 'y'.repeat(60));
  mkdirSync(directory, { recursive: true });
  const open = (): number => readdirSync('/proc/self/fd').length;
  const before = open();
  const socketPath = path.join(directory, 'egress.sock');
  const proxy = await rig.open({ allow: [], socketPath });
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  using reached = openSocketPath(socketPath);
  const socket = connect(reached.path).end(
    'GET http://x.test/ HTTP/1.1\r\nHost: x.test\r\nConnection: close\r\n\r\n',
  );
  expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1.1 403/);
  reached[Symbol.dispose]();
  await proxy[Symbol.asyncDispose]();
  expect(existsSync(socketPath)).toBe(false);
  expect(open()).toBe(before);
});

describe('a limit', () => {
  it('is what the page on the network says', () => {
    expect(EGRESS_LIMITS).toEqual({
      connectionsMax: 256,
      headerBytesMax: 16_384,
      idleMs: 300_000,
      connectMs: 20_000,
      hostCharsMax: 253,
      serviceConnectionsMax: 64,
      toldMax: 1000,
    });
  });

  it('connections at once: one more is answered 503, and there is room again when one ends', async () => {
    const proxy = await rig.open({ allow: [`127.0.0.1:${port}`], limits: { connectionsMax: 2 } });
    const held = [connect(proxy.socketPath), connect(proxy.socketPath)];
    await Promise.all(held.map((socket) => once(socket, 'connect')));
    expect(await raw(proxy, get(`http://127.0.0.1:${port}/`))).toMatch(
      /^HTTP\/1.1 503 [^]*more than 2 connections/,
    );
    for (const socket of held) socket.destroy();
    await sleep(50);
    expect((await ask(proxy, `http://127.0.0.1:${port}/`)).status).toBe(200);
  });

  it('requests at once on one connection', async () => {
    const proxy = await rig.open({
      allow: [`127.0.0.1:${port}`],
      limits: { connectionsMax: 2, idleMs: 300 },
    });
    await raw(proxy, get(`http://127.0.0.1:${port}/silent`).repeat(20));
    await sleep(50);
    const held = raw(proxy, get(`http://127.0.0.1:${port}/silent`).repeat(20));
    await sleep(100);
    expect(await rig.connections()).toBe(2);
    expect(await raw(proxy, get(`http://127.0.0.1:${port}/`))).toMatch(
      /^HTTP\/1.1 503 [^]*more than 2 requests/,
    );
    await held;
  });

  it('header size: 431', async () => {
    const proxy = await rig.open({ allow: [`127.0.0.1:${port}`], limits: { headerBytesMax: 4096 } });
    const head = `${get(`http://127.0.0.1:${port}/`).slice(0, -2)}Connection: close\r\n`;
    expect(await raw(proxy, `${head}X: ${'x'.repeat(3500)}\r\n\r\n`)).toContain(' 200 ');
    expect(await raw(proxy, `${head}X: ${'x'.repeat(4500)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /);
  });

  it('idle time: whatever stands still is closed', async () => {
    const proxy = await rig.open({ allow: [`127.0.0.1:${port}`], limits: { idleMs: 150 } });
    const still = [
      '',
      'GET http://127',
      get(`http://127.0.0.1:${port}/silent`),
      `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`,
    ];
    const startMs = performance.now();
    await Promise.all(still.map((text) => raw(proxy, text)));
    expect(performance.now() - startMs).toBeGreaterThan(100);
    expect(performance.now() - startMs).toBeLessThan(5000);
    await expect.poll(() => rig.connections()).toBe(0);
  });

  it('time for the headers, however busily they come in', async () => {
    const proxy = await rig.open({ allow: [], limits: { idleMs: 200 } });
    const socket = connect(proxy.socketPath);
    socket.on('error', () => {}).resume(); // what comes late finds nobody
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('GET http://x.test/ HTTP/1.1\r\nX: ');
    const trickle = setInterval(() => socket.write('x'), 20);
    await closed.finally(() => clearInterval(trickle));
  });

  it('connect time: a name that is not found in time is 504, a port that is closed 502', async () => {
    const proxy = await rig.open({
      allow: ['slow.test', 'gone.test', '127.0.0.1:1'],
      resolve: (host) => (host === 'slow.test' ? new Promise(() => {}) : Promise.reject(new Error('no'))),
      limits: { connectMs: 100 },
    });
    expect(await ask(proxy, 'http://slow.test/')).toMatchObject({
      status: 504,
      body: 'bosun: cannot reach slow.test:80: no answer within 100 ms\n',
    });
    expect(await ask(proxy, 'http://gone.test/')).toMatchObject({ status: 502 });
    expect((await ask(proxy, 'http://127.0.0.1:1/')).body).toContain('ECONNREFUSED');
    expect(rig.denied).toEqual([]);
  });

  it('connect time: a machine that takes no connection is 504', async () => {
    // a listener that accepts nothing, its queue full, answers as a machine behind a dropping firewall does
    await using full = await fullListener();
    const proxy = await rig.open({ allow: [`127.0.0.1:${full.port}`], limits: { connectMs: 200 } });
    expect((await ask(proxy, `http://127.0.0.1:${full.port}/`)).status).toBe(504);
  });

  it('length of a name', async () => {
    const proxy = await rig.open({
      allow: [`site.test:${port}`, `127.0.0.1:${port}`],
      limits: { hostCharsMax: 9 },
    });
    expect((await ask(proxy, `http://site.test:${port}/`)).status).toBe(200);
    expect((await ask(proxy, `http://xsite.test:${port}/`)).body).toContain('more than 9 characters');
  });

  it('denials that are told', async () => {
    const proxy = await rig.open({ allow: [], limits: { toldMax: 2 } });
    for (const name of ['a', 'b', 'a', 'c', 'd', 'e']) await ask(proxy, `http://${name}.test/`);
    expect(rig.denied.map(({ host }) => host)).toEqual(['a.test', 'b.test', '*']);
    expect(rig.denied[2]!.why).toBe('more than 2 were denied; no more are listed');
  });
});

describe('the bridge', () => {
  it('lets curl and Node out through the socket, and nothing else', async () => {
    const proxy = await rig.open({ allow: [`site.test:${port}`, `127.0.0.1:${port}`] });
    const inside = (argv: string[]): ReturnType<typeof run> => run(sandboxed(proxy, argv));
    const url = `http://site.test:${port}/x`;
    expect(await inside(['curl', '-sS', url])).toMatchObject({ code: 0, stdout: 'served /x' });
    expect(await inside(['curl', '-sS', '--proxytunnel', url])).toMatchObject({ stdout: 'served /x' });
    expect((await inside(['curl', '-sS', 'http://evil.test/'])).stdout).toContain('evil.test:80 is denied');
    expect((await inside(['curl', '-sS', '--noproxy', '*', `http://127.0.0.1:${port}/`])).code).toBe(7);
    const script = `fetch('${url}').then((r) => r.text()).then(console.log)`;
    expect((await inside([process.execPath, '-e', script])).stdout).toBe('served /x\n');
  });

  it('reaches an allowed port of the machine where a program insists on the proxy', async () => {
    const proxy = await rig.open({ allow: [`localhost:${port}`] });
    const { stdout } = await run(
      sandboxed(proxy, ['curl', '-sS', '--noproxy', '', `http://localhost:${port}/`]),
    );
    expect(stdout).toBe('served /');
  });

  it('leaves the command its exit code, its arguments, its input and no child', async () => {
    const proxy = await rig.open({ allow: [] });
    const inside = (argv: string[]): ReturnType<typeof run> => run(sandboxed(proxy, argv));
    expect((await inside(['sh', '-c', 'exit 42'])).code).toBe(42);
    expect((await inside(['sh', '-c', 'kill -TERM $$'])).code).toBe(128 + 15);
    expect((await inside(['printf', '[%s]', 'a b', '', '$x', "'"])).stdout).toBe("[a b][][$x][']");
    expect((await inside(['cat'])).stdout).toBe('input');
    expect((await inside(['sh', '-c', 'cat /proc/$$/task/$$/children'])).stdout.trim()).toMatch(/^\d+$/); // cat alone
    const open =
      'for p in /proc/[0-9]*; do [ "$(cat $p/comm)" != socat ] || readlink $p/fd/0 $p/fd/1 $p/fd/2; done';
    expect((await inside(['sh', '-c', open])).stdout).toBe('/dev/null\n'.repeat(3));
    const group = 'trap : TERM; kill -TERM 0; sleep 0.1; curl -sS http://x.test/';
    expect((await inside(['sh', '-c', group])).stdout).toContain('x.test:80 is denied');
  });

  it('fails with a message where it cannot be opened', async () => {
    const proxy = await rig.open({ allow: [] });
    const { code, stderr } = await run(sandboxed(proxy, ['true'], { PATH: '/nowhere' }));
    expect(code).toBe(BRIDGE_FAILED);
    expect(stderr).toContain('bosun: socat could not open the way to the network on port 3128');
  });
});

async function fullListener() {
  const script = `import socket, sys
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(0); print(s.getsockname()[1], flush=True); sys.stdin.read()`;
  const child = execFile('python3', ['-c', script]);
  const [line] = (await once(child.stdout!, 'data')) as [string];
  const sockets: Socket[] = [];
  for (let i = 0; i < 4; i += 1) sockets.push(connect(Number(line), '127.0.0.1').on('error', () => {}));
  await sleep(100);
  return {
    port: Number(line),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      child.stdin!.end();
      await once(child, 'close');
    },
  };
}

/** As an attempt runs: no network, the socket in its place, the bridge in front. */
function sandboxed(proxy: EgressProxy, argv: string[], env: Record<string, string> = {}): string[] {
  const all = { PATH: '/usr/bin:/bin', ...proxyEnvironment(), ...env };
  const mounts = [
    '--ro-bind',
    '/',
    '/',
    '--tmpfs',
    '/run',
    '--bind',
    proxy.socketPath,
    '/run/bosun/egress.sock',
  ];
  const set = Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value]);
  const surroundings = [
    '--unshare-all',
    '--new-session',
    '--die-with-parent',
    '--clearenv',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
  ];
  return ['bwrap', ...mounts, ...surroundings, ...set, '--', ...bridged(argv)];
}

function run([command, ...args]: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(command!, args, { timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({
        code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1,
        stdout,
        stderr,
      });
    });
    child.stdin!.on('error', () => {}).end('input');
  });
}
