/** What Claude does not do unasked becomes a question to a person; never hangs, since the question has a time-out. */
import { cut } from '../agent/story.ts';
import type { SdkAnswer } from './sdk.ts';
import type { Job } from '../runtime.ts';

const INPUT_CHARS_MAX = 1000;

/** Behind the fence little is asked: questions of its own, and what its program holds dangerous in any case. */
export function permissions({ ask, emit }: Pick<Job, 'ask' | 'emit'>) {
  let count = 0;
  return async (tool: string, input: Input, { title }: { title?: string }): Promise<SdkAnswer> => {
    const choice = tool === 'AskUserQuestion' ? firstChoices(input) : undefined;
    const text =
      choice?.text ?? `${title ?? `${tool} wants to run`}: ${cut(JSON.stringify(input), INPUT_CHARS_MAX)}`;
    const answer = await ask(text);
    emit({ kind: 'asked', id: `ask-${(count += 1)}`, text, answer });
    if (answer === 'yes') return { behavior: 'allow', updatedInput: { ...input, ...choice?.input } };
    return {
      behavior: 'deny',
      message: choice
        ? 'Nobody is here to choose. Decide for yourself, say what you assumed, and go on.'
        : 'A person, or the rule for when none answers, said no. Find another way, or say why there is none.',
    };
  };
}

type Input = { [key: string]: unknown };

/** A person can say yes or no, so what is asked is whether the option that stands first may be taken. */
function firstChoices(input: Input): { text: string; input: Input } | undefined {
  const questions = (Array.isArray(input.questions) ? input.questions : []) as {
    question?: string;
    options?: { label?: string }[];
  }[];
  if (questions.length === 0) return undefined;
  const answers: Record<string, string> = {};
  const lines: string[] = [];
  for (const { question = '', options = [] } of questions) {
    const labels = options.map(({ label }) => label ?? '');
    answers[question] = labels[0] ?? 'yes';
    lines.push(wordsOfChoice(question, labels));
  }
  return { text: cut(lines.join('\n'), INPUT_CHARS_MAX), input: { answers } };
}

export function wordsOfChoice(question: string, [first = 'yes', ...others]: string[]): string {
  return `${question} “${first}”${others.length > 0 ? ` (rather than ${others.join(', ')})` : ''}?`;
}
