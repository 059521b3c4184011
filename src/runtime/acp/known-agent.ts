/** Which of the agents that are known here a command of the runtime `acp` starts. */
import path from 'node:path';
import type { Agent } from '../../contract/workflow.ts';
import type { KnownAgent } from '../descriptor.ts';
import { CLAUDE_AGENT_ACP } from './known/claude-agent-acp.ts';
import { CODEX_ACP } from './known/codex-acp.ts';
import { GEMINI } from './known/gemini.ts';
import { OPENCODE_ACP } from './known/opencode-acp.ts';

export const KNOWN_AGENTS: readonly KnownAgent[] = [CLAUDE_AGENT_ACP, CODEX_ACP, GEMINI, OPENCODE_ACP];

/** Undefined for all others. It may be started by another program, such as node. */
export function knownAgent(command: Agent['command']): KnownAgent | undefined {
  const names = commandWords(command).map((word) => path.basename(word));
  return KNOWN_AGENTS.find(({ isProgram }) => names.some((name) => isProgram.test(name)));
}

export function commandWords(command: Agent['command']): readonly string[] {
  return typeof command === 'string' ? command.split(/\s+/) : (command ?? []);
}
