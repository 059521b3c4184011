/** The words of a command with what they stand for. A value is always one whole word, never a part of a shell's text. */
import { BosunError } from '../../contract/errors.ts';

/** A word of its own, or the value of an option: `--model={model}`. */
const PLACE = /^(-[\w-]+=)?\{(prompt|prompt-file|model)\}$/;

export interface Values {
  prompt: string;
  'prompt-file': string;
  model: string | undefined;
}

export function fillWords(words: string[], values: Values): { argv: string[]; hasPrompt: boolean } {
  let hasPrompt = false;
  const argv = words.map((word) => {
    const [, option = '', name] = PLACE.exec(word) ?? [];
    if (name === undefined) return word;
    const value = values[name as keyof Values];
    if (value === undefined) {
      throw new BosunError(
        'system',
        `cannot start ${words[0]}: ${word} stands in its command, but its agent has no "${name}"; add it or leave the word out`,
      );
    }
    hasPrompt ||= name !== 'model';
    return option + value;
  });
  return { argv, hasPrompt };
}
