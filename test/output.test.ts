import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { OutputSink, type Piece } from '../src/runtime/output/output.ts';

async function sinkOf(chunks: Buffer[], bytesMax?: number): Promise<{ pieces: Piece[]; tail: string }> {
  const pieces: Piece[] = [];
  const sink = new OutputSink((piece) => pieces.push(piece), bytesMax);
  return { tail: await sink.read(Readable.from(chunks), 'stdout'), pieces };
}

const bytesOf = (piece: Piece): Buffer =>
  Buffer.from(piece.text ?? piece.base64!, piece.text === undefined ? 'base64' : 'utf8');

describe('output of an attempt', () => {
  it('ends early where the whole run has printed enough, but for its end, and says why', async () => {
    const run = { leftBytes: 150_000 };
    const print = async (): Promise<Piece[]> => {
      const pieces: Piece[] = [];
      const sink = new OutputSink((piece) => pieces.push(piece), undefined, run);
      await sink.read(Readable.from([Buffer.alloc(100_000, 'x')]), 'stdout');
      return pieces;
    };
    expect((await print()).some(({ dropped }) => dropped)).toBe(false);
    const second = await print();
    expect(second.at(-1)).toMatchObject({ droppedBytes: 50_000 - 16_384, dropped: 'run' });
    const third = await print();
    expect(third.map((piece) => bytesOf(piece).length)).toEqual([16_384]);
  });

  it('is kept whole, byte for byte', async () => {
    const text = 'one\ntwo\n\u{1F600} three';
    const bytes = Buffer.from(text);
    const { pieces, tail } = await sinkOf([...bytes].map((byte) => Buffer.from([byte])));
    expect(pieces.map(bytesOf).map(String).join('')).toBe(text);
    expect(tail).toBe(text);
  });

  it('may be one line of a megabyte: pieces are small and cut no character', async () => {
    const line = Buffer.from('ü€'.repeat(220_000));
    const { pieces } = await sinkOf([line]);
    expect(pieces.length).toBeGreaterThan(10);
    expect(pieces.every((piece) => piece.text !== undefined && bytesOf(piece).length <= 65_536)).toBe(true);
    expect(Buffer.concat(pieces.map(bytesOf)).equals(line)).toBe(true);
  });

  it('may be no UTF-8: then the bytes are kept as base64', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x0a]);
    const { pieces } = await sinkOf([bytes]);
    expect(pieces).toEqual([{ stream: 'stdout', base64: bytes.toString('base64') }]);
  });

  it('may never end: the beginning and the end are kept, and how much was left out is said', async () => {
    const lines = Array.from({ length: 5000 }, (_, n) => Buffer.from(`line ${n}\n`));
    const { pieces, tail } = await sinkOf(lines, 1000);
    const total = Buffer.concat(lines).length;
    const kept = pieces.reduce((sum, piece) => sum + bytesOf(piece).length, 0);
    const dropped = pieces.reduce((sum, piece) => sum + (piece.droppedBytes ?? 0), 0);
    expect(kept + dropped).toBe(total);
    expect(pieces[0]!.text).toMatch(/^line 0\n/);
    expect(pieces.at(-1)!.text).toMatch(/line 4999\n$/);
    expect(kept).toBeLessThan(40_000);
    expect(tail).toMatch(/line 4999\n$/);
  });

  it('is told while it comes, not only at the end', async () => {
    const pieces: Piece[] = [];
    const stream = new PassThrough();
    const sink = new OutputSink((piece) => pieces.push(piece));
    const read = sink.read(stream, 'stderr');
    stream.write('first\nhalf a l');
    await expect.poll(() => pieces).toEqual([{ stream: 'stderr', text: 'first\n' }]);
    stream.end('ine');
    await read;
    expect(pieces.at(-1)).toEqual({ stream: 'stderr', text: 'half a line' });
  });

  it('is told at once where it was quiet, and at a bounded pace where it never is', async () => {
    const toldAtMs: number[] = [];
    const stream = new PassThrough();
    let wasLate: boolean | undefined;
    let isLate = false;
    const late = setTimeout(() => (isLate = true), 40); // of the same clock: it is late where the machine is
    const sink = new OutputSink(() => {
      wasLate ??= isLate;
      toldAtMs.push(performance.now());
    });
    const read = sink.read(stream, 'stdout');
    stream.write('a line\n');
    await expect.poll(() => toldAtMs.length, { interval: 1 }).toBe(1);
    expect(wasLate, 'it was quiet').toBe(false);
    clearTimeout(late);
    const writing = setInterval(() => stream.write('a line\n'), 5);
    await expect.poll(() => toldAtMs.length, { timeout: 10_000 }).toBeGreaterThan(4);
    clearInterval(writing);
    stream.end();
    await read;
    const pauses = toldAtMs.slice(1, 5).map((atMs, n) => atMs - toldAtMs[n]!);
    for (const ms of pauses) expect(ms).toBeGreaterThan(45);
  });
});
