/** Who said what to whom, and who has read it: messages between the agents of a run, and what they published. */
import { useMemo, useRef, useState, type ReactNode } from 'react';
import type { MessageReport } from '../../../../src/contract/report.ts';
import { describeReading, describeUnread } from '../../../../src/report/message-words.ts';
import { count } from '../../../../src/report/words.ts';
import { plain, plainText } from '../../../parts/plain.ts';
import type { RunAt } from '../../../film/run-at.ts';
import { clock } from '../task-look.ts';
import { asJson, messageRows, type MessageRow } from './message-rows.ts';
import './messages.css';

export interface MessagesViewProps {
  at: RunAt;
  chosen: string | undefined;
  choose(task: string): void;
  wind(atMs: number): void;
}

const SHOWN_FIRST = 200;
const READERS_MAX = 5;

export function MessagesView({ at, chosen, choose, wind }: MessagesViewProps): ReactNode {
  const [isOwn, setOwn] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => messageRows(at), [at]);
  const { messages, messagesLeftOut } = at.report();
  const labelOf = (id: string): string => at.task(id)?.facts.label ?? id;
  if (rows.length === 0)
    return (
      <div className="nothing">
        <b>Nobody had said anything by then.</b>
        <p>
          Agents talk with <code>send</code> and <code>publish</code>; what they say to each other, and what
          nobody read, is shown here. You can say something to one of them below its log.
        </p>
      </div>
    );
  const own = isOwn && chosen !== undefined ? rows.filter((row) => concerns(row, chosen)) : rows;
  const unread = describeUnread(messages, labelOf);
  const published = rows.length - messages.length;
  return (
    <div
      className="scroll messages"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label="Messages between agents"
    >
      <div className="messages-head">
        <p>
          {[
            messages.length > 0 && count(messages.length, 'message'),
            published > 0 && count(published, 'publication'),
          ]
            .filter(Boolean)
            .join(' and ')}
          .{unread !== undefined && <span className="unread"> {plain(unread)}.</span>}
        </p>
        {chosen !== undefined && (
          <label>
            <input type="checkbox" checked={isOwn} onChange={({ target }) => setOwn(target.checked)} /> only{' '}
            {labelOf(chosen)}
          </label>
        )}
      </div>
      <MessageLines rows={own} at={at} choose={choose} wind={wind} />
      {own.length === 0 && <p className="quiet">Nothing was said to {labelOf(chosen ?? '')} or by it.</p>}
      {messagesLeftOut > 0 && (
        <p className="quiet">
          {count(messagesLeftOut, 'more message')} came after these;{' '}
          <code>bosun logs {at.run.id} --json</code> has all.
        </p>
      )}
    </div>
  );
}

interface MessageLinesProps extends Omit<MessagesViewProps, 'chosen'> {
  rows: readonly MessageRow[];
}

/** These, the first of them at once. */
export function MessageLines({ rows, at, choose, wind }: MessageLinesProps): ReactNode {
  const [shownMax, setShownMax] = useState(SHOWN_FIRST);
  const labelOf = (id: string): string => at.task(id)?.facts.label ?? id;
  return (
    <>
      <ol>
        {rows.slice(0, shownMax).map((row) => (
          <li key={row.kind === 'message' ? row.message.id : `p${row.id}`} className={row.kind}>
            <button className="when" onClick={() => wind(row.atMs)} title="Show this moment">
              {clock(row.atMs - at.startedAtMs)}
            </button>
            <Row row={row} at={at} labelOf={labelOf} choose={choose} />
          </li>
        ))}
      </ol>
      {rows.length > shownMax && (
        <button className="act" onClick={() => setShownMax(shownMax + SHOWN_FIRST)}>
          Show more: {rows.length - shownMax} are left
        </button>
      )}
    </>
  );
}

interface RowProps {
  row: MessageRow;
  at: RunAt;
  labelOf(id: string): string;
  choose(task: string): void;
}

function Row({ row, at, labelOf, choose }: RowProps): ReactNode {
  const name = (task: string): ReactNode => (
    <button className="task-name" onClick={() => choose(task)} disabled={!at.task(task)}>
      {labelOf(task)}
    </button>
  );
  if (row.kind === 'publication')
    return (
      <div>
        <p className="route">
          {name(row.task)} <span className="quiet">{row.text}</span>
        </p>
        {row.value !== '' && (
          <details>
            <summary>its value</summary>
            <pre>{row.value}</pre>
          </details>
        )}
      </div>
    );
  const { message } = row;
  const { readers, to } = message;
  const named = readers.slice(0, READERS_MAX);
  const isPlain = readers.length === 1;
  return (
    <div className={toneOf(message)}>
      <p className="route">
        {name(message.task)} <span className="arrow">→</span> {!isPlain && <b>{plain(to)}</b>}
        {!isPlain && readers.length > 0 && <span className="quiet">:</span>}{' '}
        {named.map(({ task }, n) => (
          <span key={task}>
            {n > 0 && ', '}
            {name(task)}
          </span>
        ))}
        {readers.length > named.length && (
          <span className="quiet"> and {readers.length - named.length} more</span>
        )}
        <span className="reading">{plain(describeReading(message))}</span>
      </p>
      <Body text={message.text} />
    </div>
  );
}

/** JSON is folded: what it is about stands in its first words. */
function Body({ text }: { text: string }): ReactNode {
  const json = asJson(text);
  if (json === undefined) return <p className="body">{plainText(text)}</p>;
  return (
    <details>
      <summary>
        <code>{plain(text, 90)}</code>
      </summary>
      <pre>{plainText(json)}</pre>
    </details>
  );
}

function toneOf({ refused, readers, urgent }: MessageReport): string {
  if (refused !== null) return 'bad';
  if (readers.some(({ readAtMs }) => readAtMs === null)) return 'ask';
  return urgent ? 'busy' : 'still';
}

/** It was said by the task, or to it. */
export function concerns(row: MessageRow, task: string): boolean {
  if (row.task === task) return true;
  return row.kind === 'message' && row.message.readers.some((reader) => reader.task === task);
}
