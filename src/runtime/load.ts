/** Finds the runtime of a name. Each is loaded when it is first needed: a run of plain commands waits for none. */
import type { RuntimeName } from '../contract/workflow.ts';
import { cli } from './cli/cli.ts';
import type { Runtime } from './runtime.ts';

const LOADERS: Record<RuntimeName, () => Promise<Runtime>> = {
  cli: () => Promise.resolve(cli),
  opencode: async () => (await import('./opencode/opencode.ts')).opencode,
  codex: async () => (await import('./codex/codex.ts')).codex,
  'claude-code': async () => (await import('./claude-code/claude-code.ts')).claudeCode,
  acp: async () => (await import('./acp/acp.ts')).acp,
};

export function loadRuntime(name: RuntimeName): Promise<Runtime> {
  return LOADERS[name]();
}
