/** Holds what a person says against the question: what does not fit is refused, with what would. */
import { BosunError } from '../contract/errors.ts';
import { readAnswer, type Answer } from '../contract/question.ts';
import type { QuestionView } from '../contract/run.ts';

export function fittingAnswer(question: QuestionView, said: string | readonly string[]): Answer {
  const answer = readAnswer(question, said);
  if ('problem' in answer) throw new BosunError('usage', `${question.id}: ${answer.problem}`);
  return answer;
}
