/** The names of the runtimes, for those who need no more of a workflow than these. */

export const RUNTIMES = ['claude-code', 'opencode', 'codex', 'acp', 'cli'] as const;

export type RuntimeName = (typeof RUNTIMES)[number];

export const RUNTIME_DEFAULT: RuntimeName = 'claude-code';

/** Those that ask models through the gateway are one family: each can take over from another. */
export function asksModels(runtime: RuntimeName): boolean {
  return runtime !== 'cli';
}

export const MODEL_RUNTIMES = RUNTIMES.filter(asksModels);

/** Whether what an agent with the runtime starts is its `command`. */
export function takesCommand(runtime: RuntimeName): boolean {
  return runtime === 'acp' || runtime === 'cli';
}
