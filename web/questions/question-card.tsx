/** A question of a run in a list: what is asked, why, and how it is answered, in place. */
import type { ReactNode } from 'react';
import type { QuestionView } from '../../src/contract/run.ts';
import { plain } from '../parts/plain.ts';
import { runHref } from '../app/router.ts';
import { Act, Answered, AnswerForm } from './answer-form.tsx';
import { useAnswering } from './answers.ts';
import { answerCli, shareLeft, Title, When, Why } from './question-words.tsx';
import './questions.css';

interface AskedAt {
  repository: string;
  run: string;
  question: QuestionView;
}

export interface QuestionCardProps extends AskedAt {
  nowMs: number;
  isChosen: boolean;
  /** What was there and is gone: how it ended stays in sight for a moment. */
  isOver: boolean;
  choose(): void;
  look(): void;
}

export function QuestionCard(props: QuestionCardProps): ReactNode {
  const { repository, run, question, nowMs, isChosen, isOver, choose, look } = props;
  const answering = useAnswering({ repository, run, id: question.id });
  const isSettled = isOver || (answering !== undefined && answering.state !== 'refused');
  const share = isSettled ? undefined : shareLeft(question, nowMs);
  const why = isSettled ? null : <Why question={question} />;
  return (
    <li
      className={`ask need${isSettled ? ' settled' : ''}`}
      aria-current={isChosen ? 'true' : undefined}
      onClick={choose}
    >
      <span className="sign" aria-hidden="true">
        {question.budget ? '$' : '?'}
      </span>
      <h2>
        <Title question={question} run={run} />
      </h2>
      <p className="where">
        {plain(repository, 60)} · <a href={runHref(repository, run)}>{run}</a>
        {!isSettled && ' · '}
        {!isSettled && <When question={question} nowMs={nowMs} />}
      </p>
      {why !== null && <div className="why">{why}</div>}
      {answering && <Answered answering={answering} />}
      {!answering && isOver && <p className="came">No longer asked.</p>}
      {!isSettled && <p className="cmd">{answerCli(question, run)}</p>}
      {!isSettled && (
        <div className="do">
          <AnswerForm
            repository={repository}
            run={run}
            question={question}
            answering={answering}
            hasKeys={isChosen}
          />
          <Act label="Look" keys={isChosen ? 'Enter' : ''} cli={`bosun status ${run}`} act={look} />
        </div>
      )}
      {share !== undefined && <i className="left" style={{ width: `${share * 100}%` }} aria-hidden="true" />}
    </li>
  );
}
