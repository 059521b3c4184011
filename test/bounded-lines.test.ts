/** Lines of bytes that come in any pieces, none longer than it may be. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { BoundedLines } from '../src/base/bounded-lines.ts';

/** What comes of these pieces; the last may have no end. */
function read(bytesMax: number, pieces: Buffer[]): { text: string; isCut: boolean }[] {
  const lines = new BoundedLines(bytesMax);
  const all = [];
  for (const piece of pieces) {
    lines.push(piece);
    for (let line = lines.next(); line; line = lines.next()) all.push(line);
  }
  const last = lines.last();
  if (last) all.push(last);
  expect(lines.last()).toBeUndefined();
  return all.map(({ bytes, isCut }) => ({ text: bytes.toString('latin1'), isCut }));
}

it('gives the same lines, whatever the pieces are', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'é'), maxLength: 60 });
  fc.assert(
    fc.property(
      text,
      fc.array(fc.nat(10), { maxLength: 20 }),
      fc.integer({ min: 1, max: 8 }),
      (all, sizes, max) => {
        const bytes = Buffer.from(all);
        const pieces = [];
        let at = 0;
        for (const size of sizes) pieces.push(bytes.subarray(at, (at += size)));
        pieces.push(bytes.subarray(at));
        const expected = bytes.toString('latin1').split('\n');
        if (expected.at(-1) === '') expected.pop();
        const said = expected.map((line) => ({ text: line.slice(0, max), isCut: line.length > max }));
        expect(read(max, pieces)).toEqual(said);
      },
    ),
  );
});

it('keeps the beginning of a line that is too long, and says so before its end has come', () => {
  const lines = new BoundedLines(5);
  lines.push(Buffer.from('12345'));
  expect([lines.next(), lines.isTooLong]).toEqual([undefined, false]);
  lines.push(Buffer.from('6'));
  expect([lines.next(), lines.isTooLong]).toEqual([undefined, true]);
  expect(lines.beginning?.toString()).toBe('12345');
  lines.push(Buffer.from('789\nok\n'));
  expect(lines.next()).toEqual({ bytes: Buffer.from('12345'), isCut: true });
  expect([lines.isTooLong, lines.beginning]).toEqual([false, undefined]);
  expect(lines.next()).toEqual({ bytes: Buffer.from('ok'), isCut: false });
});

it('hands on nothing that nobody asks for, and loses none of it', () => {
  const lines = new BoundedLines(10);
  lines.push(Buffer.from('a\nb\n'));
  expect(lines.next()!.bytes.toString()).toBe('a');
  lines.push(Buffer.from('c\n'));
  expect(lines.next()!.bytes.toString()).toBe('b');
  expect(lines.next()!.bytes.toString()).toBe('c');
  expect(lines.next()).toBeUndefined();
});
