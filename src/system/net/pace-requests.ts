/**
 * Hands requests that come in one piece on a connection to Node's server one after the other: it reads all of a piece
 * in one turn, thousands of requests, and starts each before the last is answered. Whoever waits for an answer before
 * it asks again, as clients do, notices nothing. It answers nothing itself.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Behind it a body begins, or the next request. */
const HEAD_END = Buffer.from('\r\n\r\n');
const NOTHING: Buffer = Buffer.alloc(0);

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** To be called before it listens, and for servers that take no upgrades. */
export function paceRequests(server: Server): void {
  const latest = new WeakMap<Socket, Exchange>();
  server.prependListener('request', (request, response) => {
    latest.set(request.socket, { request, response });
  });
  server.on('connection', (socket: Socket) => {
    const [give] = socket.listeners('data') as ((piece: Buffer) => void)[];
    if (!give) throw new Error('the server of Node does not read its connections as it used to');
    socket.off('data', give);
    const cut = new Cut();
    const goOn = (): void => void socket.resume();
    socket.on('data', (chunk: Buffer) => {
      const before = latest.get(socket);
      let rest = chunk;
      if (!before || !isUnderWay(before)) {
        const end = cut.endIn(chunk);
        give(chunk.subarray(0, end));
        rest = chunk.subarray(end);
        const now = latest.get(socket);
        if (now && now !== before) {
          const length = bodyOf(now.request, rest.length);
          cut.bodyBytes = Number(now.request.headers['content-length'] ?? 0) - length;
          if (length > 0) give(rest.subarray(0, length));
          rest = rest.subarray(length);
        }
      }
      if (rest.length === 0 || socket.destroyed) return;
      const isHeld = socket.isPaused(); // by Node's server, until its answers are read: it goes on by itself
      socket.pause();
      socket.unshift(rest);
      if (isHeld) return;
      const last = latest.get(socket);
      if (last && isUnderWay(last)) last.response.once('close', () => setImmediate(goOn));
      else setImmediate(goOn);
    });
  });
}

/** How much of what follows its head is its body; of one that does not say it is found out piece by piece. */
function bodyOf({ complete, headers }: IncomingMessage, bytes: number): number {
  return complete ? 0 : Math.min(bytes, Number(headers['content-length'] ?? 0));
}

/** All of it is there, and its answer is not yet given. */
function isUnderWay({ request, response }: Exchange): boolean {
  return request.complete && !response.writableFinished && !response.destroyed;
}

/** Where a piece has to end so that no two requests are in it. */
class Cut {
  /** What is to come of a body. */
  bodyBytes = 0;
  /** The last bytes of a head that has not ended. */
  #tail = NOTHING;

  endIn(chunk: Buffer): number {
    if (this.bodyBytes > 0) {
      const end = Math.min(this.bodyBytes, chunk.length);
      this.bodyBytes -= end;
      return end;
    }
    const known = this.#tail.length;
    const all = known === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    const at = all.indexOf(HEAD_END);
    this.#tail = at === -1 ? all.subarray(-(HEAD_END.length - 1)) : NOTHING;
    return at === -1 ? chunk.length : at + HEAD_END.length - known;
  }
}
