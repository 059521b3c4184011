/** All about one question: who asks and why, its last steps, what it wants to change, what happens if nobody answers. */
import { useState, type ReactNode } from 'react';
import type { QuestionView } from '../../src/contract/run.ts';
import { agentLine } from '../../src/schedule/views/agent-line.ts';
import { useCommands } from '../app/commands.tsx';
import type { RunAt } from '../film/run-at.ts';
import { Dialog, DialogEnd } from '../parts/dialog.tsx';
import { plain, plainText } from '../parts/plain.ts';
import { ago, useNow } from '../parts/since.ts';
import { Act, Answered, AnswerForm } from './answer-form.tsx';
import { giveAnswer, useAnswering } from './answers.ts';
import { isYesNo } from '../../src/contract/question.ts';
import { answerCli, Deadline, nameOf, shareLeft, Title, Why } from './question-words.tsx';

const STEPS_MAX = 5;
const STEP_CHARS_MAX = 160;

export interface LookProps {
  at: RunAt;
  question: QuestionView;
  onClose(): void;
}

export function Look({ at, question, onClose }: LookProps): ReactNode {
  const { repository, run } = at;
  const [note, setNote] = useState('');
  const nowMs = useNow();
  const answering = useAnswering({ repository, run: run.id, id: question.id });
  const isOpen = run.questions.some(({ id }) => id === question.id) && answering === undefined;
  const share = isOpen ? shareLeft(question, nowMs) : undefined;
  const canAnswer = isOpen || answering?.state === 'refused';
  return (
    <Dialog title={<Title question={question} run={run.id} />} size="wide" onClose={onClose}>
      <LookKeys
        isOn={canAnswer && isYesNo(question) && !question.budget}
        answer={(answer) =>
          giveAnswer(
            { repository, run: run.id, id: question.id, askedAtMs: question.askedAtMs },
            { answer, ...(note && { note }) },
          )
        }
      />
      <div className="look">
        <Facts at={at} question={question} nowMs={nowMs} />
        <div className="why">
          <Why question={question} />
        </div>
        {question.globs && question.globs.length > 1 && (
          <ul className="globs">
            {question.globs.map((glob) => (
              <li key={glob}>
                <code>{plain(glob)}</code>
              </li>
            ))}
          </ul>
        )}
        {question.diff !== undefined && (
          <pre className="wants" tabIndex={0} aria-label="What it would change">
            {plainText(question.diff)}
          </pre>
        )}
        <Steps at={at} question={question} />
        {canAnswer && (
          <label className="note">
            <span>Note</span>
            <input
              className="field"
              placeholder="goes to the agent with the answer"
              maxLength={4000}
              value={note}
              onChange={({ target }) => setNote(target.value)}
            />
          </label>
        )}
        <p className="quiet">
          {question.deadlineAtMs === undefined ? (
            'It waits until somebody answers.'
          ) : (
            <>
              If nobody answers: <Deadline question={question} nowMs={nowMs} />
            </>
          )}
        </p>
        {share !== undefined && (
          <span className="meter" aria-hidden="true">
            <i className="ask" style={{ width: `${share * 100}%` }} />
          </span>
        )}
        {answering && <Answered answering={answering} />}
        {!isOpen && !answering && <p className="came">No longer asked.</p>}
      </div>
      <DialogEnd>
        <code className="cmd">{answerCli(question, run.id)}</code>
        <Act label="Close" keys="Escape" cli="" act={onClose} />
        {canAnswer && (
          <AnswerForm
            repository={repository}
            run={run.id}
            question={question}
            answering={answering}
            hasKeys
            note={note}
          />
        )}
      </DialogEnd>
    </Dialog>
  );
}

function LookKeys({ isOn, answer }: { isOn: boolean; answer(said: string): void }): null {
  useCommands(
    isOn
      ? [
          { id: 'look-yes', label: 'Yes', keys: 'y', run: () => answer('yes') },
          { id: 'look-no', label: 'No', keys: 'x', run: () => answer('no') },
        ]
      : [],
  );
  return null;
}

function Facts({ at, question, nowMs }: { at: RunAt; question: QuestionView; nowMs: number }): ReactNode {
  const task = at.task(question.task);
  const { agent, runtime, scope } = task?.facts ?? {};
  const who = [agent, runtime].filter((each) => each !== undefined).join(' · ');
  const rows: [string, ReactNode][] = [
    ['asks', <code key="who">{nameOf(question)}</code>],
    ...(who === '' ? [] : ([['agent', plain(who)]] as [string, ReactNode][])),
    ...(question.attempt === undefined ? [] : ([['attempt', question.attempt]] as [string, ReactNode][])),
    ['asked', ago(nowMs - question.askedAtMs)],
    ...(task && task.facts.title !== '' && question.kind !== 'approve'
      ? ([['its task', plain(task.facts.title, 200)]] as [string, ReactNode][])
      : []),
    ...(scope?.write && question.kind === 'access'
      ? ([['may write', <code key="may">{plain(scope.write.join(', '), 200)}</code>]] as [
          string,
          ReactNode,
        ][])
      : []),
  ];
  return (
    <dl>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What its agent said and did before it asked, the latest last. */
function Steps({ at, question }: { at: RunAt; question: QuestionView }): ReactNode {
  const steps: { seq: number; line: string }[] = [];
  for (let n = at.count - 1; n >= 0 && steps.length < STEPS_MAX; n--) {
    const { event, seq } = at.events[n]!;
    if (event.type !== 'attempt.agent' || event.task !== question.task) continue;
    const line = agentLine(event.event);
    if (line !== undefined && line.trim() !== '') steps.push({ seq, line: plain(line, STEP_CHARS_MAX) });
  }
  if (steps.length === 0) return null;
  return (
    <div>
      <h3>Its last steps</h3>
      <ol className="steps">
        {steps.toReversed().map(({ seq, line }) => (
          <li key={seq}>{line}</li>
        ))}
      </ol>
    </div>
  );
}
