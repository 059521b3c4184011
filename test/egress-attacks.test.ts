/** Tricks to get past the proxy, each as the bytes that an attacker would send. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, get, makeRig, raw, type Rig } from './fixtures/egress.ts';

let rig: Rig;
let port: number;
beforeAll(async () => {
  rig = await makeRig();
  ({ port } = rig);
});
afterEach(() => rig.reset());
afterAll(() => rig[Symbol.asyncDispose]());

describe('an attack', () => {
  it.each([
    ['loopback', '127.0.0.1'],
    ['the metadata address', '169.254.169.254'],
    ['a private address', '10.1.2.3'],
    ['loopback in an IPv6 address', '::ffff:127.0.0.1'],
    ['loopback behind NAT64', '64:ff9b::7f00:1'],
    ['loopback in a 6to4 address', '2002:7f00:1::'],
    ['something that is no address', 'localhost'],
  ])('a name that resolves to %s is denied', async (_what, address) => {
    const allow = [`site.test:${port}`];
    const proxy = await rig.open({ allow, resolve: async () => ['1.1.1.1', address] });
    const answer = await ask(proxy, `http://site.test:${port}/`);
    expect(answer.status).toBe(403);
    expect(answer.body).toContain(`it resolves to ${address}, `);
    expect(await raw(proxy, `CONNECT site.test:${port} HTTP/1.1\r\n\r\n`)).toContain(' 403 ');
    expect(rig.denied).toHaveLength(1);
  });

  it('a name that resolves to another address the second time reaches only the one that was checked', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1']];
    const proxy = await rig.open({
      allow: [`site.test:${port}`, `127.0.0.1:${port}`],
      resolve: async (host) => (rig.lookups.push(host), answers.shift()!),
    });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await ask(proxy, `http://site.test:${port}/`)).status);
    expect(statuses).toEqual([200, 403, 200]);
    expect(rig.lookups).toHaveLength(3); // one each: what was checked is what was connected to
  });

  it('an answer that changes the protocol is a failure, and nobody waits for it', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const proxy = await rig.open({ allow: [at] });
    expect(await ask(proxy, `http://${at}/`)).toMatchObject({ status: 502 });
    server.close();
  });

  it('an address that is named for one port is not named for another', async () => {
    const proxy = await rig.open({ allow: [`site.test:${port}`, '127.0.0.1:1'] });
    expect((await ask(proxy, `http://site.test:${port}/`)).status).toBe(403);
  });

  it.each(
    (
      '0x7f.1 0x7f000001 2130706433 127.1 0177.0.0.1 127.0.0.01 127.0.0.1.. [::ffff:127.0.0.1] [::ffff:7f00:1] ' +
      '[::1] [::] 0 0.0.0.0 [::1%25lo] site.test%00.evil.test site%2etest user@127.0.0.1 site.test@127.0.0.1 ' +
      '127.0.0.1\\@site.test site..test .site.test ①②⑦.⓪.⓪.① ｓite.test'
    ).split(' '),
  )('%s is not let through as another spelling', async (host) => {
    const proxy = await rig.open({ allow: [`site.test:${port}`, `127.0.0.1:${port}`] });
    for (const head of [`CONNECT ${host}:${port} HTTP/1.1`, `GET http://${host}:${port}/ HTTP/1.1`])
      expect(await raw(proxy, `${head}\r\nHost: ${host}:${port}\r\n\r\n`)).toMatch(/^HTTP\/1.1 40[03] /);
    expect(rig.seen).toEqual([]);
    expect(rig.lookups).toEqual([]);
  });

  it.each([
    [
      'both Content-Length and Transfer-Encoding',
      'POST',
      'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
      '0\r\n\r\n',
    ],
    ['two Content-Lengths', 'POST', 'Content-Length: 5\r\nContent-Length: 6\r\n', 'abcdef'],
    ['a Content-Length that is no number', 'POST', 'Content-Length: +5\r\n', 'abcde'],
    ['an encoding that is not chunked', 'POST', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
    ['an encoding before chunked', 'POST', 'Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'],
    ['a space before a colon', 'POST', 'Content-Length : 5\r\n', 'abcde'],
    ['lines that end without CR', 'GET', 'X: y\nZ: z\r\n', ''],
    ['a folded header', 'GET', 'X: y\r\n Content-Length: 5\r\n', ''],
    ['a NUL in a header', 'GET', 'X: a\0b\r\n', ''],
    ['a second Host header', 'GET', 'Host: evil.test\r\n', ''],
  ])('%s is refused', async (_what, method, header, body) => {
    const proxy = await rig.open({ allow: [`127.0.0.1:${port}`] });
    const head = `${method} http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
    expect(await raw(proxy, `${head}${header}\r\n${body}`)).toMatch(/^HTTP\/1.1 40[03] /);
    expect(rig.seen).toEqual([]);
  });

  it.each([
    ['whose lines end without CR', (at: string) => `GET http://${at}/ HTTP/1.1\nHost: ${at}\n\n`],
    ['whose Host header differs', (at: string) => `GET http://${at}/ HTTP/1.1\r\nHost: evil.test\r\n\r\n`],
    ['whose Host header is empty', (at: string) => `GET http://${at}/ HTTP/1.1\r\nHost:\r\n\r\n`],
    ['without a Host header', (at: string) => `GET http://${at}/ HTTP/1.1\r\n\r\n`],
    ['that is not for a proxy', (at: string) => `GET / HTTP/1.1\r\nHost: ${at}\r\n\r\n`],
    ['for another scheme', (at: string) => `GET ftp://${at}/ HTTP/1.1\r\nHost: ${at}\r\n\r\n`],
    ['for another user', (at: string) => `GET http://a:b@${at}/ HTTP/1.1\r\nHost: ${at}\r\n\r\n`],
    ['with a space in its URL', (at: string) => `GET http://${at}/ x HTTP/1.1\r\nHost: ${at}\r\n\r\n`],
    ['of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['CONNECT without a port', () => 'CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n'],
    ['CONNECT with a body', (at: string) => `CONNECT ${at} HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde`],
    ['CONNECT with chunks', (at: string) => `CONNECT ${at} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n`],
  ])('a request %s is refused', async (_what, text) => {
    const proxy = await rig.open({ allow: [`127.0.0.1:${port}`] });
    expect(await raw(proxy, text(`127.0.0.1:${port}`))).toMatch(/^HTTP\/1.1 40[03] /);
    expect(rig.seen).toEqual([]);
  });

  it('a second request on the same connection is decided anew', async () => {
    const proxy = await rig.open({ allow: [`127.0.0.1:${port}`] });
    const good = get(`http://127.0.0.1:${port}/good`);
    const answer = await raw(proxy, good + get('http://evil.test/') + good);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403']);
    expect(rig.denied).toMatchObject([{ host: 'evil.test', port: 80 }]);
    expect(await raw(proxy, `${good}CONNECT evil.test:443 HTTP/1.1\r\n\r\n`)).toContain('HTTP/1.1 403');
  });

  it('a body of a request that has none by habit is not read as the next request', async () => {
    const proxy = await rig.open({ allow: [`127.0.0.1:${port}`] });
    const inner = get(`http://127.0.0.1:${port}/inner`);
    const many = 'a:\r\n'.repeat(2100); // more headers than Node shows, or takes, unless told to
    const chunk = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
    const framings = [
      `Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
      `${many}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
      `Connection: close, content-length\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    ];
    for (const framing of framings) {
      const head = `GET http://127.0.0.1:${port}/outer HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
      await raw(proxy, head + framing);
    }
    expect(rig.seen.map(({ url, body }) => [url, body])).toEqual(framings.map(() => ['/outer', inner]));
  });
});
