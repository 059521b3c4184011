/** Messages of one line each on a connection, none longer than it may be. It knows nothing of what they say. */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

const LINE_FEED = 10;

export interface LineReader {
  bytesMax: number;
  onLine(line: string): void;
  /** Once, where a line gets too long; nothing is read after that. */
  onTooLong(): void;
}

/** While the stream is paused no line is handed on, also none that has come already. */
export function readLines(stream: Readable, { bytesMax, onLine, onTooLong }: LineReader): void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let rest: Buffer = Buffer.alloc(0);
  let isOver = false;
  const handOn = (): void => {
    while (rest.length > 0 && !isOver && !stream.isPaused()) {
      const end = rest.indexOf(LINE_FEED);
      const piece = end === -1 ? rest : rest.subarray(0, end);
      rest = end === -1 ? Buffer.alloc(0) : rest.subarray(end + 1);
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > bytesMax) {
        isOver = true;
        pieces = [];
        return onTooLong();
      }
      if (end === -1) return;
      const line = Buffer.concat(pieces).toString();
      pieces = [];
      bytes = 0;
      if (line.trim() !== '') onLine(line);
    }
  };
  stream.on('resume', handOn);
  stream.on('data', (chunk: Buffer) => {
    if (isOver) return;
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    handOn();
  });
}

/** Who does not read what it asked for is not heard until it does. */
export function writeLine(socket: Socket, message: unknown): void {
  if (!socket.writable || socket.write(`${JSON.stringify(message)}\n`)) return;
  socket.pause();
  socket.once('drain', () => socket.resume());
}
