/** A hook that is a function of the program that drives the run. It runs in this process, and may do as it likes. */
import type { HookAnswer, HookFunction, HookInput } from '../contract/hook.ts';
import { hookAnswer } from './hook-answer.ts';
import { untilAborted } from '../base/until-aborted.ts';

/** Nobody waits for one that does not end: then the signal's reason is thrown. */
export async function callFunction(
  call: HookFunction,
  input: HookInput,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const said = await untilAborted(async () => await call(structuredClone(input), signal), signal);
  return input.type === 'before-attempt' ? hookAnswer(said) : {};
}
