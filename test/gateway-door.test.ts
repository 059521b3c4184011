/** Doors of the gateway, and what comes through them. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, begin, events, makeRig, sendJson, until, type Rig } from './fixtures/gateway.ts';

const MESSAGES = '/anthropic/v1/messages';
const HELLO = { model: 'claude-opus-5-5', max_tokens: 1000, messages: [{ role: 'user', content: 'hello' }] };
const USAGE = { input_tokens: 100, output_tokens: 20 };

let rig: Rig;
beforeAll(async () => void (rig = await makeRig()));
afterEach(() => rig.reset());
afterAll(() => rig[Symbol.asyncDispose]());

describe('a body', () => {
  it('is bounded', async () => {
    const door = await rig.open(undefined, { limits: { bodyBytesMax: 1024 } });
    const answer = await ask(door, MESSAGES, JSON.stringify({ ...HELLO, system: 'x'.repeat(2000) }));
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body).error.type).toBe('request_too_large');
    expect(rig.wishes).toEqual([]);
  });

  it('is bounded also where its length is not said before, and not read where it is', async () => {
    const door = await rig.open(undefined, { limits: { bodyBytesMax: 1024 } });
    for (const length of [undefined, 5000]) {
      const headers = length === undefined ? {} : { 'content-length': length };
      const outgoing = request({ socketPath: door.socketPath, path: MESSAGES, method: 'POST', headers });
      if (length === undefined) outgoing.write('x'.repeat(5000));
      else outgoing.flushHeaders();
      const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
      expect([incoming.statusCode, incoming.headers.connection]).toEqual([413, 'close']);
      outgoing.on('error', () => {}).destroy();
    }
  });

  it('that unpacks to more than the limit is refused', async () => {
    const door = await rig.open(undefined, { limits: { bodyBytesMax: 10_000 } });
    const bomb = gzipSync(JSON.stringify({ ...HELLO, system: 'x'.repeat(20_000) }));
    expect((await ask(door, MESSAGES, bomb, { 'content-encoding': 'gzip' })).status).toBe(413);
  });

  it('shares a limit with those of the other requests under way, for as long as they are', async () => {
    let admit = (): void => {};
    const waiting = new Promise<void>((resolve) => (admit = resolve));
    const door = await rig.open(undefined, { limits: { heldBytesMax: 1500 } }, async () => {
      await waiting;
      return { isAdmitted: true, settle() {} };
    });
    rig.serve((outgoing) => sendJson(outgoing, {}));
    const body = { ...HELLO, system: 'x'.repeat(1000) };
    const first = ask(door, MESSAGES, body);
    await until(() => rig.wishes.length === 1);
    expect((await ask(door, MESSAGES, body)).status).toBe(503);
    admit();
    expect((await first).status).toBe(200);
    expect((await ask(door, MESSAGES, body)).status).toBe(200);
  });

  it('that is packed is unpacked, so that it cannot hide what it asks for', async () => {
    rig.serve((outgoing) => sendJson(outgoing, { usage: USAGE }));
    const packed = zstdCompressSync(JSON.stringify(HELLO));
    await ask(await rig.open(), MESSAGES, packed, { 'content-encoding': 'zstd' });
    expect(rig.wishes).toMatchObject([{ model: 'claude-opus-5-5' }]);
    expect(rig.got[0]!.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(rig.got[0]!.body)).toEqual(HELLO);
  });

  it('that is no JSON, or packed as nobody knows, goes nowhere', async () => {
    const door = await rig.open();
    expect((await ask(door, MESSAGES, 'nonsense')).status).toBe(400);
    expect((await ask(door, MESSAGES, 'x', { 'content-encoding': 'rot13' })).status).toBe(415);
    const named = { 'content-encoding': 'constructor' };
    expect((await ask(door, MESSAGES, JSON.stringify(HELLO), named)).status).toBe(415);
    expect((await ask(door, MESSAGES, 'x', { 'content-encoding': 'gzip' })).status).toBe(400);
    expect(rig.got).toEqual([]);
  });
});

describe('a door', () => {
  it('is a socket that only its owner may use, and is gone with it', async () => {
    const socketPath = path.join(rig.directory, 'own.sock');
    const door = await rig.open({ socketPath, uid: 12345 });
    const { mode, uid } = await stat(socketPath);
    expect(mode & 0o777).toBe(0o600);
    expect(uid).toBe(process.getuid!() === 0 ? 12345 : process.getuid!());
    await door[Symbol.asyncDispose]();
    expect(existsSync(socketPath)).toBe(false);
  });

  it('says what stands in its way', async () => {
    const socketPath = path.join(rig.directory, 'taken');
    await writeFile(socketPath, '');
    await expect(rig.open({ socketPath })).rejects.toThrow(/^cannot open the way to models at .*EADDRINUSE/);
    expect(existsSync(socketPath)).toBe(true);
  });

  it('can lie at a path that is longer than the kernel takes', async () => {
    const directory = path.join(rig.directory, 'x'.repeat(150));
    await mkdir(directory);
    const door = await rig.open({ socketPath: path.join(directory, 'gateway.sock') });
    expect((await stat(door.socketPath!)).isSocket()).toBe(true);
    await door[Symbol.asyncDispose]();
    expect(existsSync(door.socketPath!)).toBe(false);
  });

  it('takes the place of one that a killed engine left behind', async () => {
    const socketPath = path.join(rig.directory, 'left.sock');
    const server = createServer().listen(`${socketPath}.new`);
    await once(server, 'listening');
    await rename(`${socketPath}.new`, socketPath);
    server.close();
    expect(existsSync(socketPath)).toBe(true);
    rig.serve((outgoing) => sendJson(outgoing, { usage: USAGE }));
    expect((await ask(await rig.open({ socketPath }), MESSAGES, HELLO)).status).toBe(200);
  });

  it('on loopback opens only to whoever knows its whole address', async () => {
    rig.serve((outgoing) => sendJson(outgoing, { usage: USAGE }));
    const door = await rig.open('tcp');
    expect((await ask(door, MESSAGES, HELLO)).status).toBe(200);
    expect(door.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}$/);
    const { origin } = new URL(door.baseUrl!);
    for (const url of [MESSAGES, `/${'x'.repeat(32)}${MESSAGES}`, '/']) {
      const answer = await fetch(`${origin}${url}`, { method: 'POST', body: JSON.stringify(HELLO) });
      expect(answer.status).toBe(404);
    }
    expect(rig.got).toHaveLength(1);
  });

  it('that closes ends what is under way, and settles it first', async () => {
    rig.serve((outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write(events({ type: 'message_start', message: { usage: USAGE } }));
    });
    const door = await rig.open();
    const incoming = await begin(door, MESSAGES, HELLO);
    await once(incoming, 'data');
    incoming.on('error', () => {});
    await door[Symbol.asyncDispose]();
    expect(rig.settled).toMatchObject([{ tokens: { input: 100 } }]);
  });

  it('that closes waits for a transport that takes a moment to let go', async () => {
    const send = (_request: unknown, signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason), 30));
      });
    const door = await rig.open(undefined, { transport: { send } });
    const asking = begin(door, MESSAGES, HELLO).catch(() => {});
    await until(() => rig.wishes.length === 1);
    await sleep(10);
    await door[Symbol.asyncDispose]();
    expect(rig.settled).toEqual([undefined]);
    await asking;
  });
});
