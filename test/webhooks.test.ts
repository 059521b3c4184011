/** Webhooks and notifications, sent to a real server on loopback, which answers as the test says. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HookQuestion, RunEnded } from '../src/contract/hook.ts';
import type { TellUntil } from '../src/hooks/hook.ts';
import { tellNtfy, tellSlack } from '../src/hooks/notification.ts';
import { tellWebhook } from '../src/hooks/webhook.ts';
import { noticeOf } from '../src/run/notice.ts';

interface Heard {
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

let server: Server;
let heard: Heard[];
/** What the nth request is answered with. */
let answer: (response: ServerResponse, n: number) => void;
let origin: string;

beforeEach(async () => {
  heard = [];
  answer = (response) => response.writeHead(204).end();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      heard.push({ url: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString() });
      answer(response, heard.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const never = (): AbortSignal => new AbortController().signal;
const UNTIL: TellUntil = { signal: never(), closing: never() };
const SECRET = `whsec_${Buffer.from('a secret of some length').toString('base64')}`;

function tell(options: Partial<Parameters<typeof tellWebhook>[0]> = {}, until = UNTIL): Promise<void> {
  return tellWebhook(
    { url: `${origin}/hook?key=hidden`, env: {}, backoffMs: 1, ...options },
    { type: 'x' },
    until,
  );
}

describe('a webhook', () => {
  it('is signed over its id, its time and its body', async () => {
    await tell({ secret: async () => SECRET });
    const [{ url, headers, body }] = heard as [Heard];
    expect([url, body, headers['content-type']]).toEqual([
      '/hook?key=hidden',
      '{"type":"x"}',
      'application/json',
    ]);
    const signed = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${body}`;
    const mac = createHmac('sha256', 'a secret of some length').update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${mac}`);
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(300);
  });

  it('is sent again under the same id where the server could not take it, and not once it has', async () => {
    answer = (response, n) => response.writeHead([503, 429, 200][n - 1]!).end();
    await tell({ secret: async () => 'plain words sign too' });
    expect(heard).toHaveLength(3);
    expect(new Set(heard.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(
      heard.every(({ headers }) => /^v1,[\w+/]{43}=$/.test(headers['webhook-signature'] as string)),
    ).toBe(true);
  });

  it('goes through the proxy, but for this machine, which no name of another host passes for', async () => {
    const env = { HTTP_PROXY: origin };
    await tell({ url: 'http://127.hooks.test/hook', env });
    await tell({ env: { HTTP_PROXY: 'http://127.0.0.1:9' } });
    expect(heard.map(({ url }) => url)).toEqual(['http://127.hooks.test/hook', '/hook?key=hidden']);
  });

  it('has no signature without a secret', async () => {
    await tell();
    expect(heard[0]!.headers).not.toHaveProperty('webhook-signature');
  });

  it.each([
    ['that always fails', 500, '127.0.0.1 answered 500 (tried 5 times)', 5],
    ['that is refused', 404, '127.0.0.1 answered 404 (tried once)', 1],
    ['that is redirected', 302, '127.0.0.1 answered 302, a redirect, and none is followed (tried once)', 1],
  ])('%s is given up, and its address stands in no message', async (_, status, message, tries) => {
    answer = (response) =>
      response.writeHead(status, { location: `${origin}/elsewhere` }).end('x'.repeat(100_000));
    await expect(tell()).rejects.toThrow(message);
    expect(heard).toHaveLength(tries);
    expect(heard.filter(({ url }) => url === '/elsewhere')).toEqual([]);
  });

  it('is done once the status is there, whatever else would come', async () => {
    answer = (response) => response.writeHead(200).write('and then nothing');
    await tell();
    answer = (response) => response.socket!.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`);
    await expect(tell()).rejects.toThrow('127.0.0.1 cannot be reached (HPE_HEADER_OVERFLOW)');
  });

  it('where nobody listens says why', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    await expect(tell({ url: `http://127.0.0.1:${port}/secret` })).rejects.toThrow(
      '127.0.0.1 cannot be reached (ECONNREFUSED) (tried 5 times)',
    );
  });

  it('is not tried again once the engine wants to end, and ends at once where it must', async () => {
    const closing = new AbortController();
    answer = (response) => {
      response.writeHead(500).end();
      setImmediate(() => closing.abort());
    };
    const told = tell({ backoffMs: 3_600_000 }, { ...UNTIL, closing: closing.signal });
    await expect(told).rejects.toThrow('answered 500');
    expect(heard.length).toBeLessThanOrEqual(2);

    const stop = new AbortController();
    answer = () => stop.abort(new Error('no more time'));
    await expect(tell({}, { ...UNTIL, signal: stop.signal })).rejects.toThrow('no more time');
  });
});

it('whoever waits for a secret waits no longer than there is time', async () => {
  const hangs = (): Promise<never> => new Promise(() => {});
  const tells = [
    (until: TellUntil) => tell({ secret: hangs }, until),
    (until: TellUntil) => tellSlack({ address: hangs, env: {} }, noticeOf(QUESTION), until),
    (until: TellUntil) =>
      tellNtfy({ address: () => origin, env: {}, token: hangs }, noticeOf(QUESTION), until),
  ];
  for (const tellIt of tells) {
    const stop = new AbortController();
    const told = tellIt({ ...UNTIL, signal: stop.signal });
    setImmediate(() => stop.abort(new Error('no more time')));
    await expect(told).rejects.toThrow('no more time');
  }
  expect(heard).toEqual([]);
});

const EVIL = '<!channel> @channel <https://evil.test|click> &\u001b[31m\u202e"; title: x\r\nX-Evil: 1';
const WHERE = { at: '2026-01-01T00:00:00.000Z', run: 'w-1', workflow: 'w', repository: '/r' };
const QUESTION: HookQuestion = {
  type: 'question',
  ...WHERE,
  id: 'q',
  task: 'ship',
  text: EVIL,
  default: 'no',
};

describe('a notification', () => {
  it('says who needs a person, in one bounded line in which nothing acts', () => {
    const { title, text } = noticeOf({ ...QUESTION, text: `${EVIL}${'x'.repeat(10_000)}` });
    expect(title).toBe('bosun: w-1 needs you');
    expect(text).toMatch(/^ship: <!channel> @channel <https:\/\/evil.test\|click> &/);
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\x00-\x1f\u202e]/);
    expect(text).toHaveLength(500);
  });

  it('says how a run ended, how long it took and what it cost', () => {
    const ended: RunEnded = {
      type: 'run-ended',
      ...WHERE,
      state: 'cancelled',
      because: 'budget',
      counts: { done: 3, failed: 1 },
      durationMs: 65_000,
      usd: 0.421,
      branch: 'bosun/w-1',
    };
    expect(noticeOf(ended)).toEqual({
      title: 'bosun: w-1 cancelled (budget spent)',
      text: '3 done, 1 failed, 1m05s, $0.42',
      isUrgent: false,
    });
  });

  it('in Slack has no markup and mentions nobody', async () => {
    await tellSlack({ address: () => origin, env: {} }, noticeOf(QUESTION), UNTIL);
    const { text, ...rest } = JSON.parse(heard[0]!.body) as { text: string };
    expect(text).toContain('&lt;!channel&gt; @\u2060channel &lt;https://evil.test|click&gt; &amp;');
    expect(text).not.toMatch(/[<>]/);
    expect(rest).toEqual({ mrkdwn: false, link_names: false, unfurl_links: false, unfurl_media: false });
  });

  it('in ntfy has what agents wrote in its body alone', async () => {
    const token = async (): Promise<string> => 'tk_secret';
    await tellNtfy({ address: () => `${origin}/topic`, env: {}, token }, noticeOf(QUESTION), UNTIL);
    const [{ url, headers, body }] = heard as [Heard];
    expect([url, headers.title, headers.priority, headers.authorization]).toEqual([
      '/topic',
      'bosun: w-1 needs you',
      'high',
      'Bearer tk_secret',
    ]);
    expect(headers).not.toHaveProperty('x-evil');
    expect(body).toContain('X-Evil: 1');
  });
});
