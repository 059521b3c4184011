/** Messages of one line each on a connection, none longer than it may be. It knows nothing of what they say. */
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { BoundedLines } from '../base/bounded-lines.ts';

export interface LineReader {
  bytesMax: number;
  onLine(line: string): void;
  /** Once, where a line gets too long; nothing is read after that. */
  onTooLong(): void;
  /** So many are handed on at once; then everybody else has a turn. */
  linesATurn?: number;
}

/** While the stream is held no line is handed on, also none that has come already. */
export function readLines(
  stream: Readable,
  { bytesMax, onLine, onTooLong, linesATurn = Infinity }: LineReader,
): void {
  const lines = new BoundedLines(bytesMax);
  let isOver = false;
  const handOn = (): void => {
    for (let left = linesATurn; !isOver && !stream.destroyed && !isHeld(stream); left--) {
      const line = lines.next();
      if (lines.isTooLong || line?.isCut) {
        isOver = true;
        return onTooLong();
      }
      if (!line) return void stream.resume();
      const text = line.bytes.toString();
      if (text.trim() !== '') onLine(text);
      if (left === 1) return void setImmediate(hold(stream));
    }
  };
  holds.set(stream, { count: 0, goOn: handOn });
  stream.on('data', (chunk: Buffer) => {
    if (isOver) return;
    lines.push(chunk);
    handOn();
  });
}

/** Who does not read what it asked for is not heard until it does. */
export function writeLine(socket: Socket, message: unknown): void {
  if (!socket.writable || socket.write(`${JSON.stringify(message)}\n`)) return;
  holdUntilDrained(socket, socket);
}

/** `input`, whose lines are read, is not heard while `output` has more than it can take. */
export function holdUntilDrained(input: Readable, output: Writable): void {
  if (full.has(output)) return;
  full.add(output);
  const release = hold(input);
  output.once('drain', () => {
    full.delete(output);
    release();
  });
}

const full = new WeakSet<Writable>();
/** For each stream that is read: how many reasons there are to not hear it, and what happens once there is none. */
const holds = new WeakMap<Readable, { count: number; goOn(): void }>();

function isHeld(stream: Readable): boolean {
  return holds.get(stream)!.count > 0;
}

function hold(stream: Readable): () => void {
  const held = holds.get(stream)!;
  held.count++;
  stream.pause();
  return () => {
    held.count--;
    if (held.count === 0) held.goOn();
  };
}
