/** A question in words: what is asked, of what, what happens if nobody answers, and what to type instead. */
import type { ReactNode } from 'react';
import { shellWord } from '../../src/base/shell-word.ts';
import { answerWords, sayAnswer } from '../../src/contract/question.ts';
import type { QuestionView } from '../../src/contract/run.ts';
import { describeAccount, describeUnit } from '../../src/schedule/money/budget-words.ts';
import { plain, plainText } from '../parts/plain.ts';
import { ago, left } from '../parts/since.ts';

const TITLE_CHARS_MAX = 300;
const GLOBS_SHOWN_MAX = 3;

export function nameOf({ task, label = task }: Pick<QuestionView, 'task' | 'label'>): string {
  return plain(label, 80);
}

/** "May emails write src/lib/money.ts?" */
export function Title({ question, run }: { question: QuestionView; run: string }): ReactNode {
  const { kind, text, globs = [], budget } = question;
  const who = <code>{nameOf(question)}</code>;
  if (kind === 'access' && globs.length > 0)
    return (
      <>
        May {who} write <Globs globs={globs} />?
      </>
    );
  if (budget) {
    const whose = budget.account === 'run' ? run : describeAccount(budget.account);
    return (
      <>
        <code>{plain(whose, 80)}</code> {budget.next === undefined ? 'has spent its' : 'needs more than its'}{' '}
        {describeUnit(budget.unit, budget.limit)}
      </>
    );
  }
  if (kind === 'tool') return <>May {who} do this?</>;
  if (kind === 'approve') return plain(text, TITLE_CHARS_MAX);
  return (
    <>
      {who} asks: {plain(text, TITLE_CHARS_MAX)}
    </>
  );
}

function Globs({ globs }: { globs: readonly string[] }): ReactNode {
  const shown = globs.slice(0, GLOBS_SHOWN_MAX);
  return (
    <>
      {shown.map((glob, n) => (
        <span key={n}>
          {n > 0 && ', '}
          <code>{plain(glob, 120)}</code>
        </span>
      ))}
      {globs.length > shown.length && ` and ${globs.length - shown.length} more`}
    </>
  );
}

/** What else one should know to answer; null where the title says it all. */
export function Why({ question }: { question: QuestionView }): ReactNode {
  const { kind, text, owners = [], budget, choices = [], produced = [] } = question;
  if (budget) return <Spent budget={budget} />;
  if (kind === 'tool') return <pre className="wants">{plainText(text).slice(0, 1200)}</pre>;
  if (kind === 'access') return <Owners owners={owners} />;
  const isCut = text.length > TITLE_CHARS_MAX || text.includes('\n');
  const told = [
    ...produced.map(({ task, label = task, text: about }) => ({ label, about })),
    ...choices.filter(({ about }) => about !== undefined),
  ];
  if (!isCut && told.length === 0) return null;
  return (
    <>
      {isCut && <pre className="wants">{plainText(text)}</pre>}
      {told.map(({ label, about }) => (
        <span key={label} className="about">
          <b>{plain(label, 80)}</b> {plain(about!, 500)}
        </span>
      ))}
    </>
  );
}

function Owners({ owners }: { owners: NonNullable<QuestionView['owners']> }): ReactNode {
  if (owners.length === 0) return 'No other task owns it.';
  const [first, ...others] = owners;
  return (
    <>
      It belongs to <code>{nameOf(first!)}</code>
      {others.length > 0 && ` and ${others.length} more`}
      {others.length === 0 && `, which is ${STANDS[first!.state] ?? first!.state}`}.
    </>
  );
}

const STANDS: Partial<Record<NonNullable<QuestionView['owners']>[number]['state'], string>> = {
  running: 'at work',
  waiting: 'still to come',
  ready: 'still to come',
  delayed: 'about to try again',
  merging: 'being merged',
};

function Spent({ budget }: { budget: NonNullable<QuestionView['budget']> }): ReactNode {
  const { unit, spent, limit, next } = budget;
  const share = Math.min(1, spent / Math.max(limit, 1e-9));
  return (
    <>
      <span className="meter">
        <i className="ask" style={{ width: `${share * 100}%` }} />
      </span>
      <span className="quiet">
        {describeUnit(unit, spent)} of {describeUnit(unit, limit)}
        {next !== undefined && ` · the next request may cost ${describeUnit(unit, next)}`} · all agents under
        it hold still, nothing is lost
      </span>
    </>
  );
}

/** "asked 2 min ago · else no in 7m48s" */
export function When({ question, nowMs }: { question: QuestionView; nowMs: number }): ReactNode {
  return (
    <>
      asked {ago(nowMs - question.askedAtMs)}
      <Deadline question={question} nowMs={nowMs} before=" · else " />
    </>
  );
}

export function Deadline({
  question,
  nowMs,
  before = '',
}: {
  question: QuestionView;
  nowMs: number;
  before?: string;
}): ReactNode {
  const { deadlineAtMs, pausedSinceMs } = question;
  if (deadlineAtMs === undefined) return null;
  const leftMs = deadlineAtMs - (pausedSinceMs ?? nowMs);
  return (
    <>
      {before}
      <time>
        {plain(sayAnswer({ answer: question.default }), 60)} in {left(leftMs)}
        {pausedSinceMs !== undefined && ', paused'}
      </time>
    </>
  );
}

/** How much of its time is left, from 0 to 1; undefined where it waits for ever. */
export function shareLeft(
  { deadlineAtMs, timeoutMs, pausedSinceMs }: QuestionView,
  nowMs: number,
): number | undefined {
  if (deadlineAtMs === undefined || timeoutMs === undefined) return undefined;
  return Math.min(1, Math.max(0, (deadlineAtMs - (pausedSinceMs ?? nowMs)) / timeoutMs));
}

export function answerCli(question: QuestionView, run: string, said?: string): string {
  const words = said ?? answerWords(question);
  return `bosun answer ${plain(shellWord(question.id), 200)} ${words} --run ${run}`;
}
