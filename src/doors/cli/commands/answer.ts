/** `bosun answer`: an answer that is typed with the command, or asked for at the terminal. */
import { BosunError } from '../../../contract/errors.ts';
import { answerWords } from '../../../contract/question.ts';
import type { QuestionView } from '../../../contract/run.ts';
import { askedText } from '../../../report/lines/question-lines.ts';
import { plainLine } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { given, optionText, type Typed } from '../command.ts';
import { promptFor } from '../confirm.ts';
import { writeError } from '../output.ts';

const HOW = 'bosun answer [question] <answer>; put an answer of several words in quotes';

export async function run(typed: Typed): Promise<number> {
  if (typed.args.length > 2)
    throw new BosunError('usage', `too many words: "${typed.args.join(' ')}"; write: ${HOW}`);
  const asked = await questionAt(typed);
  if (asked) return askAt(typed, asked);
  if (typed.args.length === 0) throw new BosunError('usage', `no answer given; write: ${HOW}`);
  const [question, answer] = typed.args.length === 1 ? [undefined, typed.args[0]] : typed.args;
  return give(typed, question, answer!);
}

/** The question that is to be shown at a terminal: the one that is named without an answer, or the only one there is. */
async function questionAt(typed: Typed): Promise<QuestionView | undefined> {
  const [named, answer] = typed.args;
  if (answer !== undefined || !process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { run } = await ask('status', { limit: 1, ...given('run', optionText(typed, 'run')) });
  const { questions } = run;
  if (named === undefined) return questions[0];
  return questions.find(({ id, task, label }) => [id, task, label].includes(named));
}

/** Until there is an answer that fits; Ctrl-C or an empty line leaves. */
async function askAt(typed: Typed, question: QuestionView): Promise<number> {
  const { id, label, task, text, choices = [] } = question;
  const lines = [
    `${plainLine(label ?? task)} asks: ${askedText(text)}`,
    ...choices.map(({ label, about }, n) =>
      plainLine(`  [${n + 1}] ${label}${about === undefined ? '' : `  ${about}`}`),
    ),
  ];
  writeError(`${lines.join('\n')}\n`);
  for (;;) {
    const answer = await promptFor(`${answerWords(question)}: `);
    if (answer === undefined || answer.trim() === '') {
      writeError('not answered\n');
      return 2;
    }
    try {
      return await give(typed, id, answer, question.askedAtMs);
    } catch (error) {
      if (!(error instanceof BosunError) || error.code !== 'usage') throw error;
      writeError(`${plainLine(error.message)}\n`);
    }
  }
}

async function give(
  typed: Typed,
  question: string | undefined,
  answer: string,
  askedAtMs?: number,
): Promise<number> {
  const meant = { answer, ...given('question', question), ...(askedAtMs !== undefined && { askedAtMs }) };
  const answered = await ask('answer', inputOf('answer', typed, meant));
  const { question: id, run, text, isTaken } = answered;
  writeError(`answered ${id} (run ${run}): ${plainLine(text)} ${plainLine(answered.answer)}\n`);
  if (!isTaken)
    writeError(
      `the answer is kept; no bosun process takes it up now, so continue with: bosun resume ${run}\n`,
    );
  return 0;
}
