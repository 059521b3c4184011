/** Messages of one line each on a connection, none longer than it may be. It knows nothing of what they say. */
import type { Socket } from 'node:net';

const MESSAGE_BYTES_MAX = 64 * 1024;
const LINE_FEED = 10;

/** Calls `onLine` for each line, and `onTooLong` once where one gets too long; nothing is read after that. */
export function readLines(socket: Socket, onLine: (line: string) => void, onTooLong: () => void): void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  socket.on('data', (chunk: Buffer) => {
    for (let rest = chunk; rest.length > 0 && !isOver;) {
      const end = rest.indexOf(LINE_FEED);
      const piece = end === -1 ? rest : rest.subarray(0, end);
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > MESSAGE_BYTES_MAX) {
        isOver = true;
        pieces = [];
        return onTooLong();
      }
      if (end === -1) return;
      const line = Buffer.concat(pieces).toString();
      pieces = [];
      bytes = 0;
      if (line.trim() !== '') onLine(line);
      rest = rest.subarray(end + 1);
    }
  });
}

/** Who does not read what it asked for is not heard until it does. */
export function writeLine(socket: Socket, message: unknown): void {
  if (socket.destroyed || !socket.writable) return;
  if (socket.write(`${JSON.stringify(message)}\n`)) return;
  socket.pause();
  socket.once('drain', () => socket.resume());
}
