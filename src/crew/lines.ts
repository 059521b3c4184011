/** Messages of one line each on a connection, none longer than it may be. It knows nothing of what they say. */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { BoundedLines } from '../base/bounded-lines.ts';

export interface LineReader {
  bytesMax: number;
  onLine(line: string): void;
  /** Once, where a line gets too long; nothing is read after that. */
  onTooLong(): void;
}

/** While the stream is paused no line is handed on, also none that has come already. */
export function readLines(stream: Readable, { bytesMax, onLine, onTooLong }: LineReader): void {
  const lines = new BoundedLines(bytesMax);
  let isOver = false;
  const handOn = (): void => {
    while (!isOver && !stream.isPaused()) {
      const line = lines.next();
      if (lines.isTooLong || line?.isCut) {
        isOver = true;
        return onTooLong();
      }
      if (!line) return;
      const text = line.bytes.toString();
      if (text.trim() !== '') onLine(text);
    }
  };
  stream.on('resume', handOn);
  stream.on('data', (chunk: Buffer) => {
    if (isOver) return;
    lines.push(chunk);
    handOn();
  });
}

/** Who does not read what it asked for is not heard until it does. */
export function writeLine(socket: Socket, message: unknown): void {
  if (!socket.writable || socket.write(`${JSON.stringify(message)}\n`)) return;
  socket.pause();
  socket.once('drain', () => socket.resume());
}
