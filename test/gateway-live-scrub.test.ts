/** A provider that repeats the key: nothing that reaches an agent or a cassette holds it, however it is cut. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordingTransport } from '../src/gateway/cassette/record.ts';
import { Scrub } from '../src/gateway/live/scrub.ts';
import type { Answerer } from './fixtures/upstream.ts';
import { KEY, NEVER, openUpstream, requestOf, textOf, transportTo } from './fixtures/upstream.ts';

const MASK = '*'.repeat(KEY.length);
const EVENTS = { 'content-type': 'text/event-stream' };

async function heard(answer: Answerer, headers: Record<string, string> = {}): Promise<string> {
  await using upstream = await openUpstream(answer);
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'bosun-scrub-')), 'tape');
  const live = transportTo(upstream.url, { headers });
  const recorder = recordingTransport(live, file, { placeOf: () => undefined, secrets: [] });
  const response = await recorder.send(requestOf(), NEVER);
  const told = JSON.stringify(response.headers) + (await textOf(response));
  await recorder[Symbol.asyncDispose]();
  await live[Symbol.asyncDispose]();
  expect(await readFile(file, 'utf8')).not.toContain(KEY);
  expect(told).not.toContain(KEY);
  return told;
}

describe('a key that the provider repeats', () => {
  it.each<[string, Answerer]>([
    ['in an answer', (out) => out.writeHead(200).end(`{"key":"${KEY}"}`)],
    ['in a complaint', (out) => out.writeHead(400).end(`{"error":{"message":"bad key ${KEY}"}}`)],
    ['in events', (out) => out.writeHead(200, EVENTS).end(`data: {"x":"${KEY}"}\n\ndata: ${KEY}\n\n`)],
    ['compressed unasked', (out) => out.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(KEY))],
    [
      'compressed in a complaint',
      (out) => out.writeHead(403, { 'content-encoding': 'br' }).end(brotliCompressSync(KEY)),
    ],
    [
      'byte by byte',
      (out) => {
        out.writeHead(200, EVENTS);
        const bytes = [...`data: ${KEY}\n\n`];
        const write = (): void => {
          const byte = bytes.shift();
          if (byte === undefined) out.end();
          else out.write(byte, () => setTimeout(write, 1));
        };
        write();
      },
    ],
  ])('%s is masked', async (_, answer) => {
    expect(await heard(answer)).toContain(MASK);
  });

  it('in a header takes the header away', async () => {
    const headers = { 'x-echo': `Bearer ${KEY}`, location: `/?key=${encodeURIComponent(KEY)}`, 'x-ok': 'ok' };
    const told = await heard((out) => out.writeHead(200, headers).end('{}'));
    expect(told).toContain('x-ok');
    expect(told).not.toMatch(/x-echo|location/);
  });

  it('is one also where it stands in a header that the user configured', async () => {
    const told = await heard((out) => out.end('{"k":"other-secret-1"}'), {
      'x-proxy-token': 'other-secret-1',
    });
    expect(told).not.toContain('other-secret-1');
  });

  it('leaves the length as it was said', async () => {
    const body = `{"key":"${KEY}"}`;
    await heard((out) => out.writeHead(200, { 'content-length': String(body.length) }).end(body));
  });
});

const hex = (text: string): string => Buffer.from(text).toString('hex');
const each = (text: string, write: (code: string) => string): string =>
  [...text].map((one) => write(hex(one))).join('');
const SPELLINGS: [string, (key: string) => string][] = [
  ['as JSON may escape it', (key) => each(key, (code) => String.raw`\u00${code}`)],
  ['as JSON within JSON has it', (key) => each(key, (code) => String.raw`\\u00${code.toUpperCase()}`)],
  ['with one character escaped', (key) => key.replace('s', String.raw`\u0073`)],
  ['as JavaScript may escape it', (key) => each(key, (code) => String.raw`\x${code}`)],
  ['percent-encoded', (key) => each(key, (code) => `%${code.toUpperCase()}`)],
  ['percent-encoded twice', (key) => each(key, (code) => `%25${code}`)],
  ['as HTML has it', (key) => each(key, (code) => `&#x${code};`)],
  ['as HTML has it in decimal', (key) => each(key, (code) => `&#${Number.parseInt(code, 16)};`)],
  ['in capitals', (key) => key.toUpperCase()],
  ['in hex', hex],
  ['in hex, in capitals', (key) => hex(key).toUpperCase()],
  ...[0, 1, 2].flatMap((before): [string, (key: string) => string][] => [
    [
      `in base64 behind ${before} bytes`,
      (key) => Buffer.from(`${'u:'.slice(0, before)}${key}?`).toString('base64'),
    ],
    [
      `in base64url behind ${before} bytes`,
      (key) => Buffer.from(`${'u:'.slice(0, before)}${key}`).toString('base64url'),
    ],
  ]),
  [
    'in base64 that JSON escapes',
    (key) =>
      Buffer.from(key)
        .toString('base64')
        .replaceAll('/', String.raw`\/`)
        .replaceAll('+', '%2B'),
  ],
];

/** The letters of a key that can still be read: stars are none, nor what base64 mixes with others at the ends. */
function rest(cleaned: string): string {
  return cleaned.replace(/\*{8,}/, '');
}

describe('a key in another spelling', () => {
  const odd = 'sk-ant_Q7/x+Zw==9f?8>~k3';
  it.each(SPELLINGS)('%s is masked, however it is cut', (_, write) => {
    for (const key of [KEY, odd]) {
      const text = `data: {"x":"${write(key)}"}\n\n`;
      for (const step of [1, 2, 3, 5, 7, 1000]) {
        const clean = new Scrub([key]).cleaner();
        const out: Buffer[] = [];
        for (let at = 0; at < text.length; at += step)
          out.push(clean(Buffer.from(text.slice(at, at + step)))!);
        out.push(clean(undefined) ?? Buffer.alloc(0));
        const cleaned = Buffer.concat(out).toString();
        expect(cleaned).toHaveLength(text.length);
        expect(cleaned.startsWith('data: {"x":"'), cleaned).toBe(true);
        expect(cleaned.endsWith('"}\n\n'), cleaned).toBe(true);
        expect(rest(cleaned).length, cleaned).toBeLessThanOrEqual('data: {"x":""}\n\n'.length + 8);
      }
    }
  });

  it.each(SPELLINGS)('%s takes a header away', async (_, write) => {
    const told = await heard((out) => out.writeHead(200, { 'x-echo': write(KEY), 'x-ok': 'ok' }).end('{}'));
    expect(told).toContain('x-ok');
    expect(told).not.toContain('x-echo');
  });

  it('costs little where there is none, also of text that is nothing but beginnings', () => {
    const clean = (text: string): number => {
      const bytes = Buffer.from(text.repeat(Math.ceil(1_000_000 / text.length)));
      const cleaner = new Scrub([KEY]).cleaner();
      const { user } = process.cpuUsage();
      for (let at = 0; at < bytes.length; at += 16_384) cleaner(bytes.subarray(at, at + 16_384));
      return (process.cpuUsage().user - user) / 1000;
    };
    clean('warm');
    for (const text of [`data: {"text":"some words of a model"}\n\n`, '\\', '%25', '&#', KEY.slice(0, -1)])
      expect(clean(text), text).toBeLessThan(400);
  });
});

describe('scrubbing', () => {
  const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  const key = fc.array(character, { minLength: 8, maxLength: 60 }).map((all) => all.join(''));

  it('finds a key however the answer is cut, as it is or as JSON has it, and changes nothing else', () => {
    fc.assert(
      fc.property(
        key,
        fc.array(fc.oneof(fc.string(), fc.constant('raw'), fc.constant('json')), { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
        (secret, parts, cuts) => {
          const json = JSON.stringify(secret).slice(1, -1);
          const text = parts.map((p) => (p === 'raw' ? secret : p === 'json' ? json : p)).join(' ');
          const bytes = Buffer.from(text);
          const clean = new Scrub([secret]).cleaner();
          const out: Buffer[] = [];
          for (let at = 0, n = 0; at < bytes.length; n++) {
            const end = at + cuts[n % cuts.length]!;
            out.push(clean(bytes.subarray(at, end))!);
            at = end;
          }
          out.push(clean(undefined) ?? Buffer.alloc(0));
          const cleaned = Buffer.concat(out);
          expect(cleaned.length).toBe(bytes.length);
          expect(cleaned.includes(secret)).toBe(false);
          expect(cleaned.includes(json)).toBe(false);
          if (!text.includes(secret) && !text.includes(json) && !text.endsWith(secret.slice(0, 1)))
            expect(cleaned.toString()).toBe(bytes.toString());
        },
      ),
    );
  });

  it('holds nothing back of a piece that ends in no beginning of a key', () => {
    const clean = new Scrub([KEY]).cleaner();
    expect(clean(Buffer.from('data: {"text":"sk"}\n\n'))!.toString()).toBe('data: {"text":"sk"}\n\n');
    expect(clean(Buffer.from('data: sk-the'))!.toString()).toBe('data: ');
    expect(clean(Buffer.from('ory'))!.toString()).toBe('sk-theory');
  });

  it('lets no larger part of a key out at the end of all', () => {
    const clean = new Scrub([KEY]).cleaner();
    clean(Buffer.from(KEY.slice(0, -1)));
    expect(clean(undefined)!.toString()).toBe('*'.repeat(KEY.length - 1));
  });
});
