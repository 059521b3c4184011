/** Finds the runtime of a name. Each is loaded when it is first needed: a run of plain commands waits for none. */
import type { RuntimeName } from '../contract/workflow.ts';
import { cli } from './cli.ts';
import type { Runtime } from './runtime.ts';

export async function loadRuntime(name: RuntimeName): Promise<Runtime> {
  switch (name) {
    case 'cli':
      return cli;
    case 'opencode':
      return (await import('./opencode.ts')).opencode;
    case 'codex':
      return (await import('./codex.ts')).codex;
    case 'claude-code':
      return (await import('./claude-code.ts')).claudeCode;
    case 'acp':
      return (await import('./acp.ts')).acp;
  }
}
