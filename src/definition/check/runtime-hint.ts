/** What to write for a runtime that does not exist: by another name, or as an agent that speaks a known protocol. */
import { didYouMean } from '../../base/suggest.ts';

const SYNONYMS = {
  claude: 'claude-code',
  anthropic: 'claude-code',
  openai: 'codex',
  sh: 'cli',
  bash: 'cli',
  shell: 'cli',
  command: 'cli',
};

/** The end of a message: `; did you mean "x"?`, or nothing. */
export function runtimeHint(word: string, runtimes: readonly string[]): string {
  if (/^gemini(-cli)?$/i.test(word)) return '; for Gemini CLI use "acp" with the command "gemini --acp"';
  return didYouMean(word, runtimes, SYNONYMS);
}
