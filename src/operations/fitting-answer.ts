/** Holds what a person says against the question: what does not fit is refused, with what would. */
import { BosunError } from '../contract/errors.ts';
import { readAnswer, type Answer, type AnswerForm } from '../contract/question.ts';
import type { KeptQuestion } from '../contract/run.ts';

export function fittingAnswer(
  question: Pick<KeptQuestion, keyof AnswerForm | 'id'>,
  said: string | readonly string[],
): Answer {
  const answer = readAnswer(question, said);
  if ('problem' in answer) throw new BosunError('usage', `${question.id}: ${answer.problem}`);
  return answer;
}
