/**
 * Has a small native process start others, because to fork the engine itself would hold it up for milliseconds each
 * time. What it starts looks like any child of Node's, and dies with the engine all the same.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { constants } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { BoundedLines } from '../../base/bounded-lines.ts';
import { start, keepAwake } from './process.ts';
import { openSocketPath } from '../net/socket-path.ts';

/** An id, which stream of it, and a line end. */
const HELLO_BYTES = 34;
const ID_BYTES = 16;
const LINE_BYTES_MAX = 200;
const PENDING_MAX = 4096;
/** How long a stream may take to be heard of after the end of its process. */
const LATE_MS = 500;

export interface LaunchRequest {
  /** Options and command of the launcher, without its parent's number. */
  argv: string[];
  env: Record<string, string>;
  /** As `start` of process.ts takes it. */
  input: string | null | undefined;
  fence?: { filter: string; options: string };
}

/** The part of a ChildProcess that is used of those that are started here. */
export class SpawnedChild extends EventEmitter {
  pid: number | undefined;
  readonly stdin: PassThrough | null;
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly status = new PassThrough();
  diedWithHelper = false;
  #openStreams = 2;
  /** Connections that have yet to come: a fence has one more, to say how things stand inside. */
  #awaited: number;
  #exit: [code: number | null, signal: NodeJS.Signals | null] | undefined;

  constructor(hasInput: boolean, hasFence: boolean) {
    super();
    this.#awaited = hasFence ? 3 : 2;
    this.stdin = hasInput ? new PassThrough() : null;
    for (const stream of [this.stdout, this.stderr]) {
      stream.once('close', () => {
        this.#openStreams -= 1;
        this.#closeIfDone();
      });
    }
  }

  attach(which: string, socket: Socket): void {
    if (which !== '0') this.#awaited -= 1;
    if (which === '0') this.#attachInput(socket);
    else this.#attachOutput(which === '1' ? this.stdout : which === '2' ? this.stderr : this.status, socket);
  }

  /** A connection that nobody reads never learns that the other side is gone, and stays open for good. */
  #attachInput(socket: Socket): void {
    if (this.stdin === null || this.stdin.destroyed) return void socket.destroy();
    socket.resume();
    this.stdin.pipe(socket);
    this.stdin.once('close', () => socket.destroySoon());
  }

  #attachOutput(stream: PassThrough, socket: Socket): void {
    if (stream.destroyed) return void socket.destroy();
    socket.pipe(stream);
    socket.once('close', () => stream.end()); // also where it broke
    stream.once('close', () => socket.destroy());
  }

  /** It has ended, and nothing more of it can come. */
  get isSettled(): boolean {
    return this.#exit !== undefined && this.#awaited === 0;
  }

  /** Its streams never came: it ended before it could say so. */
  giveUp(): void {
    for (const stream of [this.stdout, this.stderr, this.status]) stream.end();
  }

  end(code: number | null, signal: NodeJS.Signals | null): void {
    this.#exit = [code, signal];
    this.stdin?.destroy();
    this.emit('exit', code, signal);
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#exit && this.#openStreams === 0) this.emit('close', ...this.#exit);
  }
}

export class Spawner {
  readonly #program: string;
  readonly #directory: string;
  readonly #children = new Map<string, SpawnedChild>();
  #server: Server | undefined;
  #process: ChildProcess | undefined;
  #waiting: Buffer[] = [];

  /** `directory` is where its socket lies. */
  constructor(program: string, directory: string) {
    this.#program = program;
    this.#directory = directory;
  }

  start({ argv, env, input, fence }: LaunchRequest): SpawnedChild {
    const child = new SpawnedChild(input !== undefined, fence !== undefined);
    const id = randomBytes(ID_BYTES).toString('hex');
    this.#open(); // it may throw, and then nobody waits for the child
    this.#children.set(id, child);
    if (this.#children.size === 1) this.#keepAwake(true);
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const kind = input === undefined ? 'nothing' : 'input';
    const parts = [id, kind, fence?.filter ?? '', String(argv.length), ...argv, ...variables];
    const text = Buffer.from(`${parts.join('\0')}\0`);
    const options = Buffer.from(fence?.options ?? '');
    this.#send(Buffer.concat([Buffer.from(digits(text.length) + digits(options.length)), text, options]));
    if (input !== undefined && input !== null) child.stdin!.end(input);
    return child;
  }

  /** Its process ends, and with it what it may still hold. */
  close(): void {
    this.#process?.stdin!.end();
  }

  #send(message: Buffer): void {
    if (this.#server?.listening) this.#process!.stdin!.write(message);
    else this.#waiting.push(message);
  }

  #open(): void {
    if (this.#process !== undefined) return;
    // Nobody else may enter it; the process takes it away when it ends.
    const directory = mkdtempSync(path.join(this.#directory, `${process.pid}-`));
    const socket = openSocketPath(path.join(directory, 's'));
    const server = createServer((connection) => this.#greet(connection));
    server.listen({ path: socket.path, backlog: PENDING_MAX }, () => {
      for (const message of this.#waiting.splice(0)) spawned.stdin!.write(message);
    });
    server.on('error', (error) => {
      for (const id of this.#children.keys()) this.#hear(['refused', id, error.message]);
      spawned.kill('SIGKILL');
    });
    const spawned = start([this.#program, 'serve', String(process.pid), directory], {
      cwd: '/',
      env: {},
      input: null,
      detached: true, // what a terminal sends to all its processes is for the engine alone
    });
    spawned.stderr!.resume();
    const lines = new BoundedLines(LINE_BYTES_MAX);
    spawned.stdout!.on('data', (chunk: Buffer) => {
      lines.push(chunk);
      for (let line = lines.next(); line; line = lines.next())
        this.#hear(line.bytes.toString('latin1').split(' '));
    });
    const gone = (): void => {
      if (this.#process !== spawned) return;
      this.#process = undefined;
      this.#server = undefined;
      this.#waiting = [];
      server.close(() => socket[Symbol.dispose]());
      // What it started died with it.
      for (const child of this.#children.values()) child.diedWithHelper = true;
      for (const id of this.#children.keys())
        this.#hear(['ended', id, '-1', String(constants.signals.SIGKILL)]);
    };
    spawned.once('error', gone);
    spawned.once('exit', gone);
    this.#server = server;
    this.#process = spawned;
  }

  /** Whose connection it is, it says first. */
  #greet(connection: Socket): void {
    connection.on('error', () => {});
    const take = (): void => {
      const hello = connection.read(HELLO_BYTES) as Buffer | null;
      if (hello === null) return;
      connection.off('readable', take);
      const text = hello.toString('latin1');
      const child = this.#children.get(text.slice(0, 2 * ID_BYTES));
      if (child === undefined) return void connection.destroy();
      child.attach(text[2 * ID_BYTES]!, connection);
      if (child.isSettled) this.#forget(text.slice(0, 2 * ID_BYTES));
    };
    connection.on('readable', take);
  }

  #hear([what, id = '', ...rest]: string[]): void {
    const child = this.#children.get(id);
    if (child === undefined) return;
    if (what === 'started') {
      child.pid = Number(rest[0]);
      child.emit('spawn');
      return;
    }
    if (what === 'refused') child.emit('error', new Error(rest.join(' ')));
    else {
      const [code, signal] = rest.map(Number) as [number, number];
      const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
      child.end(code < 0 ? null : code, (name as NodeJS.Signals | undefined) ?? null);
    }
    if (what === 'refused' || child.isSettled) return this.#forget(id);
    // Its connections may be heard of only after its end.
    setTimeout(() => {
      if (!this.#children.has(id)) return;
      child.giveUp();
      this.#forget(id);
    }, LATE_MS);
  }

  #forget(id: string): void {
    this.#children.delete(id);
    if (this.#children.size === 0) this.#keepAwake(false);
  }

  #keepAwake(isAwake: boolean): void {
    if (this.#process) keepAwake(this.#process, isAwake);
    if (isAwake) this.#server?.ref();
    else this.#server?.unref();
  }
}

function digits(value: number): string {
  return String(value).padStart(10, '0');
}
