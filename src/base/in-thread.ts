/**
 * Work that may take for ever on what agents wrote, done in a thread of its own that is ended when its time is over.
 * It knows nothing of the work: a module that needs such a thread is its own worker.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { HelperDied } from '../contract/errors.ts';
import { whenAwakeFor } from './awake.ts';

const MEMORY_MB_USUAL = 256;
const START_MS_MAX = 30_000;
/** After so long the next question goes to a thread of its own: one hostile question is not everybody's. */
const SLOW_MS = 250;
const SLOW_MAX = 3;
/** How often a question is put again whose thread died. */
const AGAIN_MAX = 2;

/** The work was not done; the message says why, to be put after what it was. */
export class ThreadFailure extends Error {
  override readonly name = 'ThreadFailure';
}

interface Thread {
  worker: Worker;
  ready: Promise<void>;
}

/**
 * To be called once, when the module is loaded: in its thread too, where it answers what is asked elsewhere. Most
 * questions take no time, so one thread answers all, one after the other. `msMax` bounds the work itself, as long as
 * this process is awake. A thread that dies for no fault of the question is a helper that died.
 */
export function inThread<Question, Answer>(
  module: string,
  { msMax, memoryMbMax = MEMORY_MB_USUAL }: { msMax: number; memoryMbMax?: number },
  answer: (question: Question) => Answer,
): (question: Question) => Promise<Answer> {
  if (!isMainThread && workerData === markOf(module)) serve(answer);
  /** Waits for the next question. */
  let idle: Thread | undefined;
  let slowCount = 0;
  let last: Promise<void> = Promise.resolve();

  const startThread = (): Thread => {
    const worker = start(module, memoryMbMax);
    worker.on('error', () => {}); // whoever waits for an answer hears of it
    worker.once('exit', () => {
      if (idle?.worker === worker) idle = undefined;
    });
    return { worker, ready: new Promise((resolve) => worker.once('message', () => resolve())) };
  };

  const ask = async (question: Question, letOthers: () => void): Promise<Answer> => {
    const { worker, ready } = (idle ??= startThread());
    const settled = Promise.withResolvers<Answer>();
    let isAlive = false;
    let isSlow = false;
    const answered = ({ answer, failure }: Answered<Answer>): void => {
      isAlive = true;
      if (failure === undefined) settled.resolve(answer!);
      else settled.reject(new ThreadFailure(failure));
    };
    const died = (how: string): void => settled.reject(new HelperDied('a thread', how));
    const failed = ({ code, message }: NodeJS.ErrnoException): void =>
      code === 'ERR_WORKER_OUT_OF_MEMORY' ? settled.reject(new ThreadFailure(message)) : died(message);
    const exited = (code: number): void => died(`it ended with code ${code}`);
    const late = (): void => settled.reject(new ThreadFailure(`it took more than ${msMax / 1000} seconds`));
    const slow = (): void => {
      if (slowCount >= SLOW_MAX) return;
      isSlow = true;
      slowCount += 1;
      idle = undefined;
      letOthers();
    };
    using timers = new DisposableStack();
    const stopWaiting = whenAwakeFor(START_MS_MAX, () => died('it did not start'));
    timers.defer(stopWaiting);
    worker.ref();
    worker.once('error', failed).once('exit', exited);
    try {
      await Promise.race([ready, settled.promise]);
      stopWaiting();
      timers.defer(whenAwakeFor(msMax, late));
      timers.defer(whenAwakeFor(SLOW_MS, slow));
      worker.once('message', answered);
      try {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage(question);
      } catch (error) {
        answered({ failure: (error as Error).message }); // too deep
      }
      return await settled.promise;
    } finally {
      worker.off('message', answered).off('error', failed).off('exit', exited); // Node has listeners of its own there
      worker.unref(); // it keeps nobody awake
      if (isSlow) slowCount -= 1;
      else if (!isAlive) idle = undefined;
      if (isSlow || !isAlive) void worker.terminate();
    }
  };

  return async (question) => {
    const before = last;
    const turn = Promise.withResolvers<void>();
    last = turn.promise;
    await before;
    try {
      for (let times = 1; ; times++) {
        try {
          return await ask(question, turn.resolve);
        } catch (error) {
          if (!(error instanceof HelperDied) || times > AGAIN_MAX) throw error;
        }
      }
    } finally {
      turn.resolve();
    }
  };
}

interface Answered<Answer> {
  answer?: Answer;
  failure?: string;
}

function serve(answer: (question: never) => unknown): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage('ready');
  parentPort!.on('message', (question: unknown) => {
    let answered: Answered<unknown>;
    try {
      answered = { answer: answer(question as never) };
    } catch (error) {
      answered = { failure: (error as Error).message };
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort!.postMessage(answered);
  });
}

function start(module: string, memoryMbMax: number): Worker {
  return new Worker(fileURLToPath(module), {
    workerData: markOf(module),
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
  });
}

function markOf(module: string): string {
  return `bosun: ${module}`;
}
