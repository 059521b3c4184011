/**
 * Work that may take for ever on what agents wrote, done in a thread of its own that is ended when its time is over.
 * It knows nothing of the work: a module that needs such a thread is its own worker.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const MEMORY_MB_MAX = 256;

/** The work was not done; the message says why, to be put after what it was. */
export class ThreadFailure extends Error {
  override readonly name = 'ThreadFailure';
}

/**
 * To be called once, when the module is loaded: in its thread too, where it answers what is asked elsewhere. One
 * question at a time: they are short, and a thread is not.
 */
export function inThread<Question, Answer>(
  module: string,
  msMax: number,
  answer: (question: Question) => Answer,
): (question: Question) => Promise<Answer> {
  if (!isMainThread && workerData === markOf(module)) serve(answer);
  let thread: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const ask = (question: Question): Promise<Answer> => {
    const worker = (thread ??= start(module));
    return new Promise((resolve, reject) => {
      const answered = ({ answer, failure }: Answered<Answer>): void =>
        end(true, () => (failure === undefined ? resolve(answer!) : reject(new ThreadFailure(failure))));
      const failed = (error: Error): void => end(false, () => reject(new ThreadFailure(error.message)));
      const end = (isAlive: boolean, settle: () => void): void => {
        clearTimeout(timer);
        worker.off('message', answered).off('error', failed); // Node has listeners of its own there
        worker.unref(); // it waits for the next question, and keeps nobody awake
        if (!isAlive) {
          thread = undefined;
          worker.on('error', () => {});
          void worker.terminate();
        }
        settle();
      };
      const timer = setTimeout(failed, msMax, new Error(`it took more than ${msMax / 1000} seconds`));
      worker.ref();
      worker.once('message', answered);
      worker.once('error', failed);
      try {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage(question);
      } catch (error) {
        end(true, () => reject(new ThreadFailure((error as Error).message))); // too deep
      }
    });
  };
  return (question) => {
    const mine = last.then(() => ask(question));
    last = mine.catch(() => {});
    return mine;
  };
}

interface Answered<Answer> {
  answer?: Answer;
  failure?: string;
}

function serve(answer: (question: never) => unknown): void {
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

function start(module: string): Worker {
  return new Worker(fileURLToPath(module), {
    workerData: markOf(module),
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  });
}

function markOf(module: string): string {
  return `bosun: ${module}`;
}
