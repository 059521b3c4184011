/** How a provider is reached: certificates are checked, and the proxies of the engine's environment are used. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NEVER, openUpstream, requestOf, textOf, transportTo, type Upstream } from './fixtures/upstream.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'bosun-test-'));
const files = { key: path.join(directory, 'key.pem'), cert: path.join(directory, 'cert.pem') };
const usual = tls.getCACertificates();

beforeAll(() => {
  const names = 'subjectAltName=DNS:models.test,DNS:localhost';
  const options =
    '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=models.test';
  const out = ['-addext', names, '-keyout', files.key, '-out', files.cert];
  execFileSync('openssl', ['req', ...options.split(' '), ...out], { stdio: 'ignore' });
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('https', () => {
  it('is refused where the certificate is not one to trust, and the key is not sent', async () => {
    await using upstream = await openSecure();
    await using transport = transportTo(secureUrl(upstream));
    const sent = transport.send(requestOf(), NEVER);
    await expect(sent).rejects.toThrow(
      /certificate that is not to be trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/,
    );
    await expect(sent).rejects.toMatchObject({ kind: 'network' });
    expect(upstream.received).toEqual([]);
  });

  it('is used where the certificate is good', async () => {
    await using upstream = await openSecure();
    using _ = trusting();
    await using transport = transportTo(secureUrl(upstream));
    expect(await textOf(await transport.send(requestOf(), NEVER))).toBe('secure');
  });
});

describe('an answer that is compressed as nobody knows', () => {
  it.each(['rot13', 'constructor', '__proto__'])('(%s) is refused, and nothing breaks', async (encoding) => {
    await using upstream = await openUpstream((response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end('x'),
    );
    await using transport = transportTo(upstream.url, {}, { limits: { triesMax: 1 } });
    await expect(transport.send(requestOf(), NEVER)).rejects.toThrow(
      `compressed its response with "${encoding}", which bosun cannot read`,
    );
  });
});

describe('a proxy of the environment', () => {
  it('is used for http', async () => {
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using proxy = await openProxy(upstream);
    await using transport = transportTo('http://models.test/v1', {}, { env: { HTTP_PROXY: proxy.url } });
    expect(await textOf(await transport.send(requestOf(), NEVER))).toBe('ok');
    expect(proxy.asked).toEqual(['POST http://models.test/v1/chat/completions']);
  });

  it('is used for https, and sees nothing but the name of the host', async () => {
    await using upstream = await openSecure();
    using _ = trusting();
    await using proxy = await openProxy(upstream);
    await using transport = transportTo('https://models.test', {}, { env: { https_proxy: proxy.url } });
    expect(await textOf(await transport.send(requestOf(), NEVER))).toBe('secure');
    expect(proxy.asked).toEqual(['CONNECT models.test:443']);
  });

  it('is not used for what NO_PROXY names, nor for this machine', async () => {
    await using upstream = await openUpstream((response) => response.end('ok'));
    await using proxy = await openProxy(upstream);
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: 'models.test' };
    await using local = transportTo(upstream.url, {}, { env });
    expect(await textOf(await local.send(requestOf(), NEVER))).toBe('ok');
    await using named = transportTo('http://models.test', {}, { env, limits: { triesMax: 1 } });
    await expect(named.send(requestOf(), NEVER)).rejects.toThrow(/models\.test: E/);
    expect(proxy.asked).toEqual([]);
  });

  it('that does not answer is an error like any other, without the password of the proxy', async () => {
    const env = { HTTPS_PROXY: 'http://user:secret-word@127.0.0.1:9' };
    await using transport = transportTo('https://models.test', {}, { env, limits: { triesMax: 1 } });
    const error = await transport.send(requestOf(), NEVER).catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ kind: 'network' });
    expect((error as Error).message).not.toContain('secret-word');
  });
});

function openSecure(): Promise<Upstream> {
  const server = createHttpsServer({ key: readFileSync(files.key), cert: readFileSync(files.cert) });
  return openUpstream((response) => response.end('secure'), server);
}

function secureUrl({ url }: Upstream): string {
  return url.replace('http://127.0.0.1', 'https://localhost');
}

function trusting(): Disposable {
  tls.setDefaultCACertificates([...usual, readFileSync(files.cert, 'utf8')]);
  return { [Symbol.dispose]: () => tls.setDefaultCACertificates(usual) };
}

/** Leads all names to one server. */
async function openProxy(
  target: Upstream,
): Promise<{ url: string; asked: string[]; [Symbol.asyncDispose](): Promise<void> }> {
  const asked: string[] = [];
  const { port } = target.server.address() as AddressInfo;
  const server = createHttpServer((request, response) => {
    const { method, url = '', headers } = request;
    asked.push(`${method} ${url}`);
    const onward = httpRequest({ port, method, path: new URL(url).pathname, headers }, (answer) =>
      answer.pipe(response),
    );
    request.pipe(onward);
  });
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const each of [socket, onward]) each.on('error', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
