/** Requests that come in one piece on a connection are taken one after the other, and nobody else waits for them. */
import { createServer, request, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { paceRequests } from '../src/system/net/pace-requests.ts';

const COUNT = 1000;
const GET = 'GET /n HTTP/1.1\r\nHost: x\r\n\r\n';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

interface Seen {
  port: number;
  begun: string[];
  /** How many were under way at once, and how many began in one turn. */
  most: number;
  perTurn: number;
}

/** Answers with what was in the body, after some time. */
async function listening(afterMs: number): Promise<Seen> {
  const seen: Seen = { port: 0, begun: [], most: 0, perTurn: 0 };
  let [open, inTurn] = [0, 0];
  server = createServer((incoming, outgoing) => {
    seen.begun.push(incoming.url!);
    seen.most = Math.max(seen.most, (open += 1));
    if (inTurn === 0) void setImmediate().then(() => (inTurn = 0));
    seen.perTurn = Math.max(seen.perTurn, (inTurn += 1));
    outgoing.once('close', () => (open -= 1));
    void (async () => {
      let body = '';
      try {
        for await (const piece of incoming) body += String(piece);
      } catch {
        return; // who asked has left
      }
      if (afterMs > 0) await setTimeout(afterMs);
      outgoing.end(`${incoming.url} ${body.length};`);
    })();
  });
  paceRequests(server);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  seen.port = (server.address() as AddressInfo).port;
  return seen;
}

/** All that is answered, until what is expected is there. */
async function said(port: number, pieces: string[], isAll: (text: string) => boolean): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  const done = new Promise<void>((resolve) => {
    socket.on('data', (piece) => {
      text += piece.toString();
      if (isAll(text)) resolve();
    });
  });
  for (const piece of pieces) {
    socket.write(piece);
    await setTimeout(2);
  }
  await done;
  socket.destroy();
  return text;
}

const count = (text: string): number => text.split(';').length - 1;

it('begins one request of a connection at a time, in order, however many come at once', async () => {
  const seen = await listening(0);
  const all = Array.from({ length: COUNT }, (_, n) => GET.replace('/n', `/${n}`));
  await said(seen.port, [all.join('')], (text) => count(text) === COUNT);
  expect(seen.begun).toEqual(all.map((_, n) => `/${n}`));
  expect(seen).toMatchObject({ most: 1, perTurn: 1 });
});

it('begins no second request before the first is answered, also where they come one by one', async () => {
  const seen = await listening(20);
  await said(seen.port, Array<string>(5).fill(GET), (text) => count(text) === 5);
  expect(seen).toMatchObject({ most: 1 });
});

it('finds the end of a head that is cut in two', async () => {
  const seen = await listening(0);
  for (const at of [1, 2, 3]) {
    const before = seen.begun.length;
    await said(seen.port, [GET.slice(0, -at), GET.slice(-at) + GET.repeat(20)], (text) => count(text) === 21);
    expect(seen.begun.length - before).toBe(21);
  }
  expect(seen).toMatchObject({ most: 1, perTurn: 1 });
});

it('begins no two requests whose lines end as they should not', async () => {
  const seen = await listening(0);
  const socket = connect(seen.port, '127.0.0.1');
  socket.write(GET.replaceAll('\r', '').repeat(100));
  await new Promise((resolve) => socket.resume().once('close', resolve));
  expect(seen.begun.length).toBeLessThan(2);
});

it('takes bodies in chunks, too', async () => {
  const seen = await listening(0);
  const chunks = '4\r\nab\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n';
  const post = `POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;
  const text = await said(seen.port, [post.repeat(20)], (so) => count(so) === 20);
  expect(text.match(/\/\w+ \d+;/g)).toEqual(Array<string>(20).fill('/c 8;'));
  expect(seen.most).toBe(1);
});

it('gives bodies on as they are, whatever is in them and however they are cut', async () => {
  const seen = await listening(0);
  const body = 'a\r\n\r\nGET /no HTTP/1.1\r\n\r\n'.repeat(500);
  const post = `POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const all = post + GET + post;
  for (const size of [all.length, 1000, 7777]) {
    const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
      all.slice(n * size, (n + 1) * size),
    );
    const text = await said(seen.port, pieces, (so) => count(so) === 3);
    expect(text.match(/\/\w+ \d+;/g)).toEqual([`/body ${body.length};`, '/n 0;', `/body ${body.length};`]);
  }
});

it('takes a large body of a client of Node, and notices one that leaves', async () => {
  const seen = await listening(0);
  const size = 20 * 1024 * 1024;
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request(
      { port: seen.port, host: '127.0.0.1', method: 'POST', path: '/large' },
      (answer) => {
        let all = '';
        answer.on('data', (piece) => (all += String(piece))).on('end', () => resolve(all));
      },
    );
    asked.on('error', reject);
    asked.end(Buffer.alloc(size, '\r\n'));
  });
  expect(text).toBe(`/large ${size};`);

  const left = Promise.withResolvers<void>();
  server!.prependListener('request', (_, response) => response.once('close', () => left.resolve()));
  const socket = connect(seen.port, '127.0.0.1');
  socket.write(`POST /gone HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345`);
  await expect.poll(() => seen.begun.at(-1)).toBe('/gone');
  socket.destroy();
  await left.promise;
});
