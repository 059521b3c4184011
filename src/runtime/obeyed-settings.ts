/**
 * Which files at the top of a repository an agent's program obeys whatever it is told: the fence covers them. It reads
 * none of them.
 */
import path from 'node:path';
import type { Agent, RuntimeName } from '../contract/workflow.ts';

const OBEYED: Record<string, readonly string[]> = {
  // It loads plugins from here, although its settings of the project are off: its newer half does not ask.
  opencode: ['.opencode', 'opencode.json', 'opencode.jsonc'],
  // It uses tool servers only where it trusts all that is in here.
  gemini: ['.gemini'],
  // It tells Codex to trust every repository that it is started in.
  'codex-acp': ['.codex'],
};

export function obeyedSettings(runtime: RuntimeName, agent: Agent | undefined): readonly string[] {
  if (runtime !== 'acp') return OBEYED[runtime] ?? [];
  const { command = [] } = agent ?? {};
  const words = typeof command === 'string' ? command.split(/\s+/) : command;
  return words.flatMap((word) => OBEYED[path.basename(word)] ?? []);
}
