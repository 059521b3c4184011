/** The hooks that a program has added, for all runs that it drives: they can come and go while a run is under way. */
import { TIMER_MS_MAX } from '../base/units.ts';
import { BosunError } from '../contract/errors.ts';
import {
  HOOK_MOMENTS,
  HOOKS_MAX,
  type HookFunction,
  type HookName,
  type HookOptions,
} from '../contract/hook.ts';

const NAME_CHARS_MAX = 64;

export interface ProgramHook extends HookOptions {
  id: string;
  moment: HookName;
  call: HookFunction;
}

export class ProgramHooks {
  readonly #hooks = new Map<string, ProgramHook>();
  #added = 0;

  /** In the order in which they were added. */
  get all(): readonly ProgramHook[] {
    return [...this.#hooks.values()];
  }

  /** Gives its id. */
  add(moment: HookName, call: HookFunction, { name, timeoutMs }: HookOptions): string {
    const names: readonly string[] = Object.values(HOOK_MOMENTS);
    if (!names.includes(moment)) throw wrong(`the moment must be one of ${names.join(', ')}`);
    if (typeof call !== 'function') throw wrong('what it calls must be a function');
    if (name !== undefined && (typeof name !== 'string' || name === '' || name.length > NAME_CHARS_MAX))
      throw wrong(`name must be text of at most ${NAME_CHARS_MAX} characters`);
    if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= TIMER_MS_MAX))
      throw wrong('timeoutMs must be a number of milliseconds above 0');
    if (this.#hooks.size >= HOOKS_MAX)
      throw wrong(`there are ${HOOKS_MAX} already, which is the most: remove some with removeHook(id)`);
    const id = `hook-${++this.#added}`;
    const options = { ...(name !== undefined && { name }), ...(timeoutMs !== undefined && { timeoutMs }) };
    this.#hooks.set(id, { id, moment, call, ...options });
    return id;
  }

  /** Whether it was there. */
  remove(id: string): boolean {
    return this.#hooks.delete(id);
  }
}

function wrong(message: string): BosunError {
  return new BosunError('usage', `addHook: ${message}`);
}
