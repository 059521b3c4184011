/**
 * Which files at the top of a repository an agent's program obeys whatever it is told: the fence covers them. It reads
 * none of them.
 */
import path from 'node:path';
import type { Agent, RuntimeName } from '../contract/workflow.ts';

/** OpenCode loads plugins from here, although its settings of the project are off: its newer half does not ask. */
const OPENCODE = ['.opencode', 'opencode.json', 'opencode.jsonc'];

export function obeyedSettings(runtime: RuntimeName, agent: Agent | undefined): readonly string[] {
  if (runtime === 'opencode') return OPENCODE;
  if (runtime !== 'acp' || agent?.command === undefined) return [];
  const words = typeof agent.command === 'string' ? agent.command.split(/\s+/) : agent.command;
  return words.some((word) => path.basename(word) === 'opencode') ? OPENCODE : [];
}
