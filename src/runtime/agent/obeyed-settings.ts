/**
 * Which files at the top of a repository an agent's program obeys whatever it is told: the fence covers them. It reads
 * none of them.
 */
import type { Agent, RuntimeName } from '../../contract/workflow.ts';
import { knownAgent, type KnownAgent } from '../acp/known-agent.ts';

const OBEYED: Partial<Record<KnownAgent, readonly string[]>> = {
  // It loads plugins from here, although its settings of the project are off: its newer half does not ask.
  opencode: ['.opencode', 'opencode.json', 'opencode.jsonc'],
  // It uses tool servers only where it trusts all that is in here.
  gemini: ['.gemini'],
  // It tells Codex to trust every repository that it is started in.
  'codex-acp': ['.codex'],
};

export function obeyedSettings(runtime: RuntimeName, agent: Agent | undefined): readonly string[] {
  const program =
    runtime === 'opencode' ? runtime : runtime === 'acp' ? knownAgent(agent?.command) : undefined;
  return (program && OBEYED[program]) ?? [];
}
