/** A request and what is answered, as values: the server makes them of sockets, tests make them of nothing. */
import type { IncomingHttpHeaders } from 'node:http';

export interface Call {
  method: string;
  /** As it was sent, without the query. */
  path: string;
  /** Of a browser's session, which stands before the path. */
  place?: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** How often each header came, by its name in small letters; for those that must not come twice. */
  countOf(header: string): number;
  /** Who sent it: an address, or SOCKET for our own user over the socket that nobody else can enter. */
  from: string;
  /** Reads it all; rejects what is longer. */
  body(bytesMax: number): Promise<Buffer>;
  /** The other side has gone. */
  signal: AbortSignal;
}

export const SOCKET = 'socket';

export type Headers = Record<string, string>;

export interface Reply {
  status: number;
  headers: Headers;
  /** All of it; or what writes it, piece by piece. */
  body: string | Buffer | Pour;
}

/** Writes the answer: nothing is sent before its first piece, so that what fails before that is still told. */
export type Pour = (sink: Sink) => Promise<void>;

/** The way to the other side. */
export interface Sink {
  write(piece: Buffer | string): void;
  /** What was written and not yet taken. */
  readonly pendingBytes: number;
  /** Resolves when all of it is taken, or the other side is gone. */
  drained(): Promise<void>;
  /** The other side is gone, or the server closes. */
  readonly signal: AbortSignal;
}

export function jsonReply(
  value: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Headers } = {},
): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}
