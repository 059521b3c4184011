/** A hook that is a function of the program that drives the run. It runs in this process, and may do as it likes. */
import type { HookAnswer, HookFunction, HookInput } from '../contract/hook.ts';
import { hookAnswer } from './hook-answer.ts';

/** Nobody waits for one that does not end: then the signal's reason is thrown. */
export async function callFunction(
  call: HookFunction,
  input: HookInput,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => {});
  const stop = (): void => late.reject(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const called = Promise.resolve().then(() => {
      signal.throwIfAborted();
      return call(structuredClone(input), signal);
    });
    called.catch(() => {}); // also where nobody waits for it any more
    const said = await Promise.race([called, late.promise]);
    return input.type === 'before-attempt' ? hookAnswer(said) : {};
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
