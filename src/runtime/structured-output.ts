/**
 * Checks what a task gave against the JSON Schema that its workflow asks for. Both may come from agents, and a schema
 * can take for ever (patterns, choices within choices, references to itself): so it is done in a thread that is ended.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { z } from 'zod';
import type { Json } from '../contract/workflow.ts';

const PROBLEMS_MAX = 5;
const CHECK_MS_MAX = 3000;
const MEMORY_MB_MAX = 256;
const IN_THREAD = 'bosun: check outputs';

interface Question {
  schema: Record<string, Json>;
  output: Json;
}

let thread: Worker | undefined;
let last: Promise<unknown> = Promise.resolve();

/** What is wrong with an output, or undefined. One at a time: they are short, and a thread is not. */
export function outputProblem(schema: Record<string, Json>, output: Json): Promise<string | undefined> {
  const mine = last.then(() => ask({ schema, output }));
  last = mine.catch(() => {});
  return mine;
}

function ask(question: Question): Promise<string | undefined> {
  const worker = (thread ??= startThread());
  return new Promise((resolve) => {
    const answered = (problem: string | null): void => end(problem ?? undefined, true);
    const failed = (error: Error): void =>
      end(`it cannot be checked against its schema: ${error.message}`, false);
    const end = (problem: string | undefined, isAlive: boolean): void => {
      clearTimeout(timer);
      worker.off('message', answered).off('error', failed); // Node has listeners of its own there
      worker.unref(); // it waits for the next question, and keeps nobody awake
      if (!isAlive) {
        thread = undefined;
        worker.on('error', () => {});
        void worker.terminate();
      }
      resolve(problem);
    };
    const timer = setTimeout(
      () => end(`checking it against its schema took more than ${CHECK_MS_MAX / 1000} seconds`, false),
      CHECK_MS_MAX,
    );
    worker.ref();
    worker.once('message', answered);
    worker.once('error', failed);
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(question);
    } catch (error) {
      end(`it cannot be checked against its schema: ${(error as Error).message}`, true); // too deep
    }
  });
}

function startThread(): Worker {
  return new Worker(fileURLToPath(import.meta.url), {
    workerData: IN_THREAD,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  });
}

function problemOf({ schema, output }: Question): string | undefined {
  const result = z.fromJSONSchema(schema).safeParse(output);
  if (result.success) return undefined;
  return result.error.issues
    .slice(0, PROBLEMS_MAX)
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''}${issue.message}`)
    .join('; ');
}

if (!isMainThread && workerData === IN_THREAD) {
  parentPort!.on('message', (question: Question) => {
    let problem: string | undefined;
    try {
      problem = problemOf(question);
    } catch (error) {
      problem = `it cannot be checked against its schema: ${(error as Error).message}`;
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort!.postMessage(problem ?? null);
  });
}
