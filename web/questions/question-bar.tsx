/** What a run asks a person, over its film: one question at a time, and all about it in `Look`. */
import { useEffect, useState, type ReactNode } from 'react';
import { isYesNo } from '../../src/contract/question.ts';
import type { QuestionView } from '../../src/contract/run.ts';
import { useCommands } from '../app/commands.tsx';
import { changeQuery, usePlace } from '../app/router.ts';
import { useMay } from '../data/session.ts';
import type { RunAt } from '../film/run-at.ts';
import { askedOf } from '../home/home-model.ts';
import { useNow } from '../parts/since.ts';
import { Act, Answered, AnswerForm } from './answer-form.tsx';
import { giveAnswer, useAnswering } from './answers.ts';
import { Look } from './look.tsx';
import { answerCli, Deadline, shareLeft, Title, Why } from './question-words.tsx';
import { useReplaced } from './replaced.ts';
import './questions.css';

/** How long one that is over stays in sight. */
const OVER_MS = 5000;

export function QuestionBar({ at }: { at: RunAt }): ReactNode {
  const asks = askedOf({ ...at.run, state: at.state });
  const [shown, setShown] = useState<string>();
  const question = useLingering(asks.find(({ id }) => id === shown) ?? asks[0], at.isLive);
  const asked = usePlace().query.get('ask');
  const looked = useLooked(at, asked);
  return (
    <>
      {question && (
        <Bar
          at={at}
          question={question}
          others={asks.filter(({ id }) => id !== question.id)}
          show={setShown}
        />
      )}
      {looked && <Look at={at} question={looked} onClose={() => changeQuery({ ask: null })} />}
    </>
  );
}

/** The one that the address names, also once it is answered: what came of it is told there. */
function useLooked({ run }: RunAt, asked: string | null): QuestionView | undefined {
  const found = asked === null ? undefined : run.questions.find(({ id }) => id === asked);
  const [kept, setKept] = useState<QuestionView>();
  useEffect(() => {
    if (found || asked === null) setKept(found);
  }, [found, asked]);
  return asked === null ? undefined : (found ?? (kept?.id === asked ? kept : undefined));
}

/** That one, or the last one for a moment longer. */
function useLingering(question: QuestionView | undefined, isLive: boolean): QuestionView | undefined {
  const [last, setLast] = useState(question);
  useEffect(() => {
    if (question) {
      setLast(question);
      return undefined;
    }
    const timer = setTimeout(() => setLast(undefined), isLive ? OVER_MS : 0);
    return () => clearTimeout(timer);
  }, [question, isLive]);
  return question ?? last;
}

interface BarProps {
  at: RunAt;
  question: QuestionView;
  others: readonly QuestionView[];
  show(id: string): void;
}

function Bar({ at, question, others, show }: BarProps): ReactNode {
  const { repository, run, isLive } = at;
  const answering = useAnswering({ repository, run: run.id, id: question.id });
  const isStill = run.questions.some(({ id }) => id === question.id);
  const isOpen = isLive && isStill && (answering === undefined || answering.state === 'refused');
  const mayAnswer = useMay('run') && isOpen;
  const nowMs = useNow(isOpen);
  const share = isOpen ? shareLeft(question, nowMs) : undefined;
  const look = (): void => changeQuery({ ask: question.id });
  const isNew = useReplaced(question.id);
  const say = (answer: string) => () => {
    if (!isNew())
      giveAnswer({ repository, run: run.id, id: question.id, askedAtMs: question.askedAtMs }, { answer });
  };
  useCommands([
    ...(mayAnswer && isYesNo(question) && !question.budget
      ? [
          {
            id: 'yes',
            label: 'Answer yes',
            keys: 'y',
            cli: answerCli(question, run.id, 'yes'),
            run: say('yes'),
          },
          { id: 'no', label: 'Answer no', keys: 'x', cli: answerCli(question, run.id, 'no'), run: say('no') },
        ]
      : []),
    ...(isStill
      ? [
          {
            id: 'look',
            label: 'Look at the question',
            keys: 'Enter',
            cli: `bosun status ${run.id}`,
            run: look,
          },
        ]
      : []),
  ]);
  return (
    <section className={`asking ask${isOpen ? '' : ' settled'}`} aria-label="Question">
      <span className="sign" aria-hidden="true">
        {question.budget ? '$' : '?'}
      </span>
      <div className="text">
        <b>
          <Title question={question} run={run.id} />
        </b>{' '}
        {isOpen && question.kind === 'access' && (
          <span className="quiet">
            <Why question={question} />
          </span>
        )}{' '}
        {isOpen && <Deadline question={question} nowMs={nowMs} before="else " />}
        {answering && <Answered answering={answering} />}
        {isLive && !isStill && !answering && <span className="quiet">No longer asked.</span>}
        {!isLive && <span className="quiet">asked at this moment</span>}
      </div>
      {others.length > 0 && isLive && (
        <button className="more" onClick={() => show(others[0]!.id)}>
          {others.length} more
        </button>
      )}
      {isOpen && (
        <div className="do">
          {mayAnswer && (
            <AnswerForm
              repository={repository}
              run={run.id}
              question={question}
              answering={answering}
              hasKeys
            />
          )}
          <Act label="Look" keys="Enter" cli={`bosun status ${run.id}`} act={look} />
        </div>
      )}
      {share !== undefined && <i className="left" style={{ width: `${share * 100}%` }} aria-hidden="true" />}
    </section>
  );
}
