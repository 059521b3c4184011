/**
 * One `git fast-import` that stays: starting git anew for every commit would cost more than the commit. Each use has
 * it alone, and what it made is on disk when the use ends. Whatever goes wrong ends the process, never half a commit.
 */
import type { ChildProcess } from 'node:child_process';
import { BosunError } from '../contract/errors.ts';
import { reasonOf } from './git.ts';
import { exitOf, keepAwake, type Exit } from './process.ts';

const FEED_BYTES = 64 * 1024;
const STDERR_CHARS_MAX = 4096;

/** Takes what is written to the stream; waits where git cannot keep up. */
export interface Feed {
  write(...data: (string | Buffer)[]): Promise<void>;
  flush(): Promise<void>;
}

export class ImportStream {
  readonly #start: () => ChildProcess;
  #process: Importer | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(start: () => ChildProcess) {
    this.#start = start;
  }

  /** Runs `feed` once it is its turn; resolves, when all of it is on disk, with the lines that git printed. */
  use(feed: (feed: Feed) => Promise<void>): Promise<string[]> {
    return this.#inTurn(async () => {
      this.#process ??= new Importer(this.#start());
      const importer = this.#process;
      try {
        importer.hold(true);
        await feed(importer);
        const lines = await importer.settle();
        importer.hold(false);
        return lines;
      } catch (error) {
        this.#process = undefined;
        await importer.kill();
        throw error;
      }
    });
  }

  /** Lets go of the process, runs `action` while there is none, and starts a new one when it is needed. */
  pause<T>(action: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#process?.end();
      this.#process = undefined;
      return action();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pause(async () => {});
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(action);
    this.#last = mine.catch(() => {});
    return mine;
  }
}

class Importer implements Feed {
  readonly #child: ChildProcess;
  readonly #exit: Promise<Exit>;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #stdout = '';
  #stderr = '';
  #turn = 0;
  #told: (() => void) | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = exitOf(child, ['git', 'fast-import']);
    this.#exit.catch(() => {});
    void this.#exit.finally(() => this.#told?.()).catch(() => {});
    child.stdout!.on('data', (chunk: Buffer) => {
      this.#stdout += chunk.toString();
      this.#told?.();
    });
    child.stderr!.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_CHARS_MAX);
    });
  }

  async write(...data: (string | Buffer)[]): Promise<void> {
    for (const piece of data) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      this.#pending.push(bytes);
      this.#pendingBytes += bytes.length;
    }
    if (this.#pendingBytes >= FEED_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    const data = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    if (data.length > 0)
      await new Promise<void>((resolve) => this.#child.stdin!.write(data, () => resolve()));
  }

  /** A checkpoint writes everything out; the word after it comes back once that is done. */
  async settle(): Promise<string[]> {
    const word = `progress turn ${++this.#turn}\n`;
    await this.write(`checkpoint\n${word}`);
    await this.flush();
    while (!this.#stdout.endsWith(word)) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw await this.#failure();
      await new Promise<void>((resolve) => (this.#told = resolve));
    }
    const lines = this.#stdout.slice(0, -word.length).split('\n').slice(0, -1);
    this.#stdout = '';
    return lines;
  }

  hold(isHeld: boolean): void {
    keepAwake(this.#child, isHeld);
  }

  async end(): Promise<void> {
    this.hold(true);
    this.#child.stdin!.end();
    await this.#exit;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit.catch(() => {});
  }

  async #failure(): Promise<BosunError> {
    const { code, signal } = await this.#exit;
    const full = /No space left on device/.test(this.#stderr) ? '; the disk is full, make room' : '';
    const why = reasonOf(this.#stderr) || (signal ?? `exit code ${code}`);
    return new BosunError('system', `git could not store the changes: ${why}${full}`);
  }
}
