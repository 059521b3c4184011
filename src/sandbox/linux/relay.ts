/**
 * Leads connections of a unix socket to a port of a running sandbox, by a small native program built from
 * native/relay.c. It never decides who may connect: whoever can open the socket's directory can.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { BosunError } from '../../contract/errors.ts';
import { processExit, start, type Relay } from '../../system/process/process.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../../build/relay');
const TIMEOUT_MS = 10_000;
const SAID_CHARS_MAX = 1000;
/** Of the kernel's table of sockets. */
const LISTENING = '0A';
const TABLE_BYTES_MAX = 256 * 1024;
/** 127.0.0.1, 0.0.0.0, ::1, :: and the first of these as an IPv6 address, as that table spells them. */
const LOOPBACK = new Set([
  '0100007F',
  '00000000',
  '00000000000000000000000001000000',
  '00000000000000000000000000000000',
  '0000000000000000FFFF00000100007F',
]);

export interface RelayOptions {
  /** A process of the sandbox, as this machine numbers it. */
  initPid: number;
  /** Of that process, as ProcessTable reads it: the number alone may be somebody else's by now. */
  startTicks: number;
  /** Whom the sandbox belongs to, where the engine is root. */
  uid?: number;
  /** Of the sandbox's loopback. */
  port: number;
  /** Where the socket is made, in a directory that is there. */
  socketPath: string;
}

/** Whether the program was built: it needs a compiler at install. */
export const canRelay = existsSync(PROGRAM);

/** Resolves once connections are taken. It ends with us, and with its disposal, but not with the sandbox. */
export async function openRelay({ uid, port, socketPath, ...of }: RelayOptions): Promise<Relay> {
  const { initPid, startTicks } = of;
  const argv = [
    PROGRAM,
    ...(uid === undefined ? [] : ['-u', String(uid)]),
    ...[initPid, startTicks, port].map(String),
    path.dirname(socketPath),
    path.basename(socketPath),
  ];
  const child = start(argv, { cwd: '/', env: {}, input: null });
  let said = '';
  child.stderr!.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(0, SAID_CHARS_MAX)));
  const ended = processExit(child, argv).then(
    () => {},
    (error: Error) => void (said ||= error.message),
  );
  const close = async (): Promise<void> => {
    child.stdin!.end();
    child.kill('SIGKILL');
    await ended;
    await rm(socketPath, { force: true });
  };
  const late = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const ready = once(child.stdout!, 'data', { signal: late });
    ready.catch(() => {}); // it may end first
    const isReady = await Promise.race([ready.then(() => true), ended.then(() => false)]);
    if (!isReady) throw new Error(said.trim() || 'the program ended');
  } catch (cause) {
    await close();
    const why = late.aborted ? `nothing happened within ${TIMEOUT_MS / 1000} s` : (cause as Error).message;
    throw new BosunError('system', `cannot reach port ${port} of the sandbox: ${why}`, { cause });
  }
  return {
    ended,
    isListening: () => isListening(initPid, port),
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Whether a program of the sandbox listens there, by the kernel's table: no connection is spent on finding out. Programs that
 * listen come first in it, and how long the rest is the sandbox decides.
 */
async function isListening(initPid: number, port: number): Promise<boolean> {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  for (const table of ['tcp', 'tcp6']) {
    const lines = await linesOf(`/proc/${initPid}/net/${table}`);
    for (const line of lines) {
      const [, local = '', , state] = line.trim().split(/\s+/);
      const [address = '', number] = local.split(':');
      if (state === LISTENING && number === wanted && LOOPBACK.has(address)) return true;
    }
  }
  return false;
}

async function linesOf(file: string): Promise<string[]> {
  try {
    await using handle = await open(file);
    return (await text(handle.createReadStream({ end: TABLE_BYTES_MAX - 1 }))).split('\n');
  } catch {
    return []; // the sandbox has ended
  }
}
