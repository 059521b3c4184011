/**
 * Asks one small native program, which stays, whether directories of a layer are opaque. It is built from
 * native/opaque.c; where it is not there, tar is asked instead.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BosunError, HelperDied } from '../contract/errors.ts';
import { keepAwake, start } from '../system/process/process.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../build/opaque');

const AGAIN_MAX = 3;
const AGAIN_MS = 20;

export class OpaqueReader {
  #child: ChildProcess | undefined;
  #last: Promise<unknown> = Promise.resolve();

  static readonly isAvailable = existsSync(PROGRAM);

  /** In the order asked. */
  read(directories: readonly Buffer[]): Promise<boolean[]> {
    const mine = this.#last.then(() => this.#askAgain(directories));
    this.#last = mine.catch(() => {});
    return mine;
  }

  /** Ends the program; it is started again when it is needed. */
  close(): void {
    this.#child?.stdin?.end();
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const child = start([PROGRAM], { input: null, env: {} });
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }

  /** A program that was killed is no answer: another is asked the same. */
  async #askAgain(directories: readonly Buffer[]): Promise<boolean[]> {
    for (let times = 1; ; times += 1) {
      try {
        return await this.#ask(directories);
      } catch (error) {
        if (!(error instanceof HelperDied) || times > AGAIN_MAX) throw error;
        await sleep(AGAIN_MS * 2 ** times);
      }
    }
  }

  async #ask(directories: readonly Buffer[]): Promise<boolean[]> {
    const child = (this.#child ??= this.#start());
    keepAwake(child, true);
    try {
      const question = Buffer.concat(directories.flatMap((directory) => [directory, Buffer.from([0])]));
      const answers = await answersOf(child, question, directories.length);
      keepAwake(child, false);
      return Array.from(answers, (answer, n) => {
        if (answer !== '?') return answer === 'y';
        throw new BosunError('system', `cannot read the attributes of ${directories[n]!.toString()}`);
      });
    } catch (error) {
      this.#child = undefined;
      child.kill();
      throw error;
    }
  }
}

function answersOf(child: ChildProcess, question: Buffer, count: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let answers = '';
    const onData = (chunk: Buffer): void => {
      answers += chunk.toString();
      if (answers.length < count) return;
      leave();
      resolve(answers);
    };
    const onEnd = (): void => {
      leave();
      reject(new HelperDied(PROGRAM, 'it ended before it had answered'));
    };
    const leave = (): void => {
      child.stdout!.off('data', onData);
      child.off('close', onEnd).off('error', onEnd);
    };
    child.stdout!.on('data', onData);
    child.on('close', onEnd).on('error', onEnd);
    child.stdin!.write(question);
  });
}
