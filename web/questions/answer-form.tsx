/** The buttons and fields that answer a question, and what became of the answer. It takes only what the question takes. */
import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { isYesNo } from '../../src/contract/question.ts';
import type { QuestionView } from '../../src/contract/run.ts';
import { Keys } from '../app/commands.tsx';
import { ask, runPath } from '../data/api.ts';
import { refreshRun } from '../data/home-store.ts';
import { plain } from '../parts/plain.ts';
import { useNotice } from '../parts/notice.tsx';
import { answerCli } from './question-words.tsx';
import { giveAnswer, type Answering, type Given } from './answers.ts';

export interface AnswerFormProps {
  repository: string;
  run: string;
  question: QuestionView;
  answering: Answering | undefined;
  /** Its keys do something now. */
  hasKeys: boolean;
  note?: string;
}

const BUTTONS_MAX = 4;
const WORDS: Record<QuestionView['kind'], readonly [yes: string, no: string]> = {
  access: ['Grant', 'Refuse'],
  tool: ['Allow', 'Refuse'],
  approve: ['Approve', 'Reject'],
  budget: ['Raise and go on', 'End it'],
  question: ['Yes', 'No'],
};

export function AnswerForm(props: AnswerFormProps): ReactNode {
  const { repository, run, question, answering, hasKeys, note } = props;
  if (answering && answering.state !== 'refused') return null;
  const give = (answer: Given['answer']): void =>
    giveAnswer(
      { repository, run, id: question.id, askedAtMs: question.askedAtMs },
      { answer, ...(note !== undefined && { note }) },
    );
  if (question.budget) return <Budget {...props} give={give} />;
  if (isYesNo(question)) {
    const [yes, no] = WORDS[question.kind] ?? WORDS.question;
    return (
      <>
        <Act
          label={yes}
          keys={hasKeys ? 'y' : ''}
          cli={answerCli(question, run, 'yes')}
          main
          act={() => give('yes')}
        />
        <Act
          label={no}
          keys={hasKeys ? 'x' : ''}
          cli={answerCli(question, run, 'no')}
          act={() => give('no')}
        />
      </>
    );
  }
  return <Choices question={question} run={run} give={give} />;
}

interface ActProps {
  label: string;
  keys: string;
  cli: string;
  main?: boolean;
  act(): void;
}

export function Act({ label, keys, cli, main = false, act }: ActProps): ReactNode {
  return (
    <button
      type="button"
      className={main ? 'act main' : 'act'}
      title={cli}
      aria-keyshortcuts={keys === '' ? undefined : keys}
      onClick={(event) => {
        event.stopPropagation();
        act();
      }}
    >
      {label} {keys !== '' && <Keys keys={keys} />}
    </button>
  );
}

function Budget({
  repository,
  run,
  question,
  give,
}: AnswerFormProps & { give(answer: string): void }): ReactNode {
  const { account, unit, raiseTo } = question.budget!;
  const [value, setValue] = useState(unit === 'usd' ? raiseTo.toFixed(2) : String(raiseTo));
  const notice = useNotice();
  const isShared = /^(all|repository):/.test(account);
  const raise = (): void => {
    const limit = Number(value.replace(/^\$/, ''));
    if (isShared || limit === raiseTo) return give('yes');
    const [, kind, name] = /^(agent|task):(.+)$/.exec(account) ?? [];
    const body = { [unit]: limit, ...(kind !== undefined && { [kind]: name }) };
    ask(`${runPath(repository, run)}/budget`, { method: 'PUT', body }).then(
      () => refreshRun(repository, run),
      (error: unknown) => notice.bad(error),
    );
  };
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    raise();
  };
  return (
    <form className="answer-form" onSubmit={onSubmit}>
      {!isShared && (
        <span className="amount">
          {unit === 'usd' && <span aria-hidden="true">$</span>}
          <input
            className="field"
            inputMode="decimal"
            aria-label={unit === 'usd' ? 'New limit in dollars' : `New limit in ${unit}`}
            value={value}
            onChange={({ target }) => setValue(target.value)}
          />
        </span>
      )}
      <button
        className="act main"
        title={isShared ? answerCli(question, run, 'yes') : `bosun budget ${run} --${unit} ${value}`}
      >
        Raise and go on
      </button>
      <Act label="End it" keys="" cli={answerCli(question, run, 'no')} act={() => give('no')} />
    </form>
  );
}

function Choices({
  question,
  run,
  give,
}: {
  question: QuestionView;
  run: string;
  give(answer: Given['answer']): void;
}): ReactNode {
  const { choices = [], several, freeText } = question;
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const id = useId();
  const asButtons = !several && choices.length <= BUTTONS_MAX;
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() !== '') give(text.trim());
    else if (chosen.length > 0) give(chosen);
  };
  return (
    <form className="answer-form" onSubmit={onSubmit}>
      {asButtons &&
        choices.map(({ label }, n) => (
          <Act
            key={label}
            label={plain(label, 60)}
            keys=""
            cli={answerCli(question, run, String(n + 1))}
            act={() => give([label])}
          />
        ))}
      {!asButtons && choices.length > 0 && (
        <fieldset className="choices">
          <legend className="unseen">Choices</legend>
          {choices.map(({ label }) => (
            <label key={label}>
              <input
                type={several ? 'checkbox' : 'radio'}
                name={id}
                checked={chosen.includes(label)}
                onChange={({ target }) =>
                  setChosen((before) =>
                    several
                      ? [...before.filter((each) => each !== label), ...(target.checked ? [label] : [])]
                      : [label],
                  )
                }
              />{' '}
              {plain(label, 200)}
            </label>
          ))}
        </fieldset>
      )}
      {freeText && (
        <input
          className="field words"
          aria-label={choices.length > 0 ? 'Or in your own words' : 'Your answer'}
          placeholder={choices.length > 0 ? 'or in your own words' : 'Your answer'}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      {(freeText || !asButtons) && (
        <button
          className="act main"
          disabled={text.trim() === '' && chosen.length === 0}
          title={answerCli(question, run)}
        >
          Answer <Keys keys="Enter" />
        </button>
      )}
    </form>
  );
}

/** What became of an answer, in place of its buttons. */
export function Answered({ answering }: { answering: Answering }): ReactNode {
  switch (answering.state) {
    case 'sending':
      return <p className="came">Sending “{plain(answering.answer, 60)}”…</p>;
    case 'kept':
      return (
        <p className="came ask" role="status">
          Kept: “{plain(answering.answer, 60)}” is sent as soon as the server answers.
        </p>
      );
    case 'sent':
      return (
        <p className="came good" role="status">
          ✓ You said “{plain(answering.answer, 60)}”.
        </p>
      );
    case 'elsewhere':
      return (
        <p className="came" role="status">
          {toldElsewhere(answering.answer, answering.by)}
        </p>
      );
    default:
      return (
        <p className="came bad" role="alert">
          {plain(answering.why, 500)}
        </p>
      );
  }
}

function toldElsewhere(answer: string, by: string): string {
  const said = plain(answer, 60);
  if (by === 'time-out') return `Nobody answered in time: ${said}.`;
  if (by === 'left' || by === 'ended') return 'No longer asked: nobody waits for the answer any more.';
  if (by === 'budget') return 'The budget was raised.';
  return `Answered elsewhere: “${said}”, by ${plain(by, 60)}.`;
}
