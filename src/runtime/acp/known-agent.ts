/** Which of the agents that are known here a command of the runtime `acp` starts. */
import path from 'node:path';
import type { Agent } from '../../contract/workflow.ts';

export type KnownAgent = 'claude-agent-acp' | 'codex-acp' | 'gemini' | 'opencode';

const PROGRAMS: [RegExp, KnownAgent][] = [
  [/^claude(-code|-agent)?-acp$/, 'claude-agent-acp'],
  [/^codex-acp$/, 'codex-acp'],
  [/^gemini$/, 'gemini'],
  [/^opencode$/, 'opencode'],
];

/** Undefined for all others. It may be started by another program, such as node. */
export function knownAgent(command: Agent['command']): KnownAgent | undefined {
  const names = wordsOf(command).map((word) => path.basename(word));
  return PROGRAMS.find(([program]) => names.some((name) => program.test(name)))?.[1];
}

export function wordsOf(command: Agent['command']): readonly string[] {
  return typeof command === 'string' ? command.split(/\s+/) : (command ?? []);
}
