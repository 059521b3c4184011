/** `bosun answer` */
import { BosunError } from '../../../contract/errors.ts';
import { plainLine } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { given, type Typed } from '../command.ts';
import { writeError } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const [question, word] = typed.args.length === 1 ? [undefined, typed.args[0]] : typed.args;
  const answer = answerOf(word!);
  if (answer === undefined || typed.args.length > 2) {
    throw new BosunError(
      'usage',
      `expected yes or no, got "${typed.args.join(' ')}"; write: bosun answer [question] yes|no`,
    );
  }
  const answered = await ask('answer', inputOf('answer', typed, { answer, ...given('question', question) }));
  const { question: id, run, text, isTaken } = answered;
  writeError(`answered ${id} (run ${run}): ${plainLine(text)} ${answer}\n`);
  if (!isTaken)
    writeError(
      `the answer is kept; no bosun process takes it up now, so continue with: bosun resume ${run}\n`,
    );
  return 0;
}

function answerOf(word: string): 'yes' | 'no' | undefined {
  if (/^y(es)?$/i.test(word)) return 'yes';
  return /^no?$/i.test(word) ? 'no' : undefined;
}
