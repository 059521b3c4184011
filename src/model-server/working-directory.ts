/** Where an agent works, as its own prompt says it: some tools want absolute paths. */
import type { ChatMessage } from './asked.ts';

/** Each agent has words of its own for it. */
const STATEMENTS = [
  /<cwd>([^<\n]+)<\/cwd>/g, // codex
  /^[\s*-]*(?:Primary w|W)orking directory: *`?(\/[^\n`]*)/gm, // claude, opencode
  /working in the director(?:y|ies):[\s-]*(\/[^\n]+)/g, // gemini
  /Workspace Directories:\**[\s-]*(\/[^\n]+)/g, // gemini
];

/** The last statement counts: a conversation may go on elsewhere. What people say does not count where the agent says it. */
export function workingDirectory(messages: readonly ChatMessage[]): string | undefined {
  const system = messages.filter(({ role }) => role === 'system');
  return lastStated(system) ?? lastStated(messages.filter(({ role }) => role === 'user'));
}

function lastStated(messages: readonly ChatMessage[]): string | undefined {
  for (const { text } of messages.toReversed()) {
    for (const statement of STATEMENTS) {
      const found = [...text.matchAll(statement)].at(-1)?.[1]?.trim();
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
