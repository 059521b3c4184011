/**
 * One `git cat-file --batch` that stays: starting git anew for every tree would cost more than reading it. Many may
 * ask at once; git answers in the order it was asked. What was read lately is kept: agents begin from few commits.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { BosunError, HelperDied } from '../../contract/errors.ts';
import { gitReason } from './git.ts';
import { processExit, keepAwake, type Exit } from '../process/process.ts';

const STDERR_CHARS_MAX = 4096;
const KEPT_MAX = 256;
const KEPT_BYTES_MAX = 32 * 1024;
const LINE_FEED = 10;
/** How often in a row it is started again because it was killed, and the wait before. */
const AGAIN_MAX = 3;
const AGAIN_MS = 20;

export class TreeReader {
  readonly #start: () => ChildProcess;
  #reading: Reading | undefined;
  /** The one that was used last is last. */
  readonly #kept = new Map<string, Buffer>();

  constructor(start: () => ChildProcess) {
    this.#start = start;
  }

  /** Its content, by its id or by a name that begins with an id, since those never mean another tree. */
  async read(name: string): Promise<Buffer> {
    const kept = this.#kept.get(name);
    const content = kept ?? (await this.#ask(name));
    if (content.length > KEPT_BYTES_MAX) return content;
    this.#kept.delete(name);
    this.#kept.set(name, content);
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    return content;
  }

  async #ask(name: string): Promise<Buffer> {
    for (let times = 1; ; times += 1) {
      if (!this.#reading?.isAlive) this.#reading = new Reading(this.#start());
      try {
        return Buffer.from(await this.#reading.ask(name)); // a copy: what was read is a part of something larger
      } catch (error) {
        if (!(error instanceof HelperDied) || times > AGAIN_MAX) throw error;
        await sleep(AGAIN_MS * 2 ** times);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reading?.end();
    this.#reading = undefined;
  }
}

interface Question {
  name: string;
  resolve(content: Buffer): void;
  reject(error: Error): void;
}

class Reading {
  readonly #child: ChildProcess;
  readonly #exit: Promise<Exit>;
  readonly #questions: Question[] = [];
  #read: Buffer[] = [];
  #readBytes = 0;
  /** Less than this cannot be an answer: large trees are not looked at again with every piece that comes. */
  #neededBytes = 1;
  #stderr = '';
  isAlive = true;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = processExit(child, ['git', 'cat-file']);
    void this.#exit.then(
      (exit) => this.#failAll(exit),
      (error: Error) => this.#failAll(error),
    );
    child.stdin!.on('error', () => {}); // its end is told by the exit
    child.stdout!.on('data', (chunk: Buffer) => this.#take(chunk));
    child.stderr!.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_CHARS_MAX);
    });
    keepAwake(child, false);
  }

  ask(name: string): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#questions.push({ name, resolve, reject }) === 1) keepAwake(this.#child, true);
      this.#child.stdin!.write(`${name}\n`);
    });
  }

  async end(): Promise<void> {
    keepAwake(this.#child, true);
    this.#child.stdin!.end();
    await this.#exit.catch(() => {});
  }

  #take(chunk: Buffer): void {
    this.#read.push(chunk);
    this.#readBytes += chunk.length;
    if (this.#readBytes < this.#neededBytes) return;
    let left = this.#read.length === 1 ? chunk : Buffer.concat(this.#read);
    for (let rest = this.#answer(left); rest !== undefined; rest = this.#answer(left)) left = rest;
    this.#read = left.length > 0 ? [left] : [];
    this.#readBytes = left.length;
  }

  /** Gives one answer where all of it is there, and returns what comes after it. */
  #answer(data: Buffer): Buffer | undefined {
    this.#neededBytes = data.length + 1;
    const lineEnd = data.indexOf(LINE_FEED);
    if (lineEnd === -1) return undefined;
    const head = data.subarray(0, lineEnd).toString();
    const [, type, size] = /^[0-9a-f]+ (\w+) (\d+)$/.exec(head) ?? [];
    const bodyEnd = lineEnd + 1 + Number(size ?? -1);
    this.#neededBytes = bodyEnd + 1;
    if (data.length < this.#neededBytes) return undefined;
    const question = this.#questions.shift()!;
    if (this.#questions.length === 0) keepAwake(this.#child, false);
    if (type === 'tree') question.resolve(data.subarray(lineEnd + 1, bodyEnd));
    else question.reject(new BosunError('system', `git has no tree ${question.name}: ${head}`));
    return data.subarray(bodyEnd + 1);
  }

  #failAll(exit: Exit | Error): void {
    this.isAlive = false;
    const how = exit instanceof Error ? exit.message : (exit.signal ?? `exit code ${exit.code}`);
    const why = gitReason(this.#stderr) || how;
    // One that ended with a code has said why, and would say it again.
    const isKilled = !(exit instanceof Error) && exit.signal !== null;
    for (const { name, reject } of this.#questions.splice(0))
      reject(
        isKilled
          ? new HelperDied('git cat-file', how)
          : new BosunError('system', `git could not read ${name}: ${why}`),
      );
  }
}
