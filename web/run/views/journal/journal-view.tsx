/** All that happened in a run up to a moment, a sentence each. */
import { useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import type { EventType } from '../../../../src/contract/event.ts';
import { formatCount } from '../../../../src/base/format-count.ts';
import type { RunAt } from '../../../film/run-at.ts';
import { clock } from '../task-look.ts';
import { useRows } from '../use-rows.ts';
import { journalRows, type JournalRow } from './journal-rows.ts';
import './journal.css';

export interface JournalViewProps {
  at: RunAt;
  chosen: string | undefined;
  choose(task: string): void;
  wind(atMs: number): void;
}

const ROW_PX = 24;
/** What can be looked for, by how the names of its events begin. */
const KINDS: Record<string, { label: string; has(type: EventType): boolean }> = {
  told: { label: 'what people are told', has: () => true },
  tasks: {
    label: 'tasks and attempts',
    has: (type) => /^(run|task|tasks|child|merge)\.|^attempt\.(started|finished|held|released)/.test(type),
  },
  agents: {
    label: 'agents at work',
    has: (type) => /^attempt\.(agent|progress|gave|steered)|^task\.steered/.test(type),
  },
  people: {
    label: 'questions and access',
    has: (type) => /^(question|access)\.|^attempt\.(asked|answered)/.test(type),
  },
  messages: { label: 'messages', has: (type) => /^(message|wait|publication|service)\./.test(type) },
  money: { label: 'money', has: (type) => /^(model|budget)\./.test(type) },
};

export function JournalView({ at, chosen, choose, wind }: JournalViewProps): ReactNode {
  const [kind, setKind] = useState('all');
  const [isOwn, setOwn] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const all = journalRows(at);
  const own = isOwn ? chosen : undefined;
  const rows = useMemo(() => filtered(all.slice(0, at.count), kind, own), [all, at.count, kind, own]);
  const { first, end } = useRows(scroller, rows.length, ROW_PX);
  useAtTheEnd(scroller, rows.length);
  return (
    <>
      <div className="journal-head">
        <label>
          <span className="unseen">Kind of events</span>
          <select className="field" value={kind} onChange={({ target }) => setKind(target.value)}>
            <option value="all">every event</option>
            {Object.entries(KINDS).map(([name, { label }]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {chosen !== undefined && (
          <label>
            <input type="checkbox" checked={isOwn} onChange={({ target }) => setOwn(target.checked)} /> only{' '}
            {at.task(chosen)?.facts.label ?? chosen}
          </label>
        )}
        <span className="quiet">
          {formatCount(rows.length)} of {formatCount(at.count)} by then
          {at.count < at.events.length && <>, {formatCount(at.events.length - at.count)} came later</>}
        </span>
      </div>
      {rows.length === 0 ? (
        <div className="nothing">
          <b>Nothing of that kind had happened by then.</b>
          <p>Choose another kind above, or wind the film on.</p>
        </div>
      ) : (
        <div className="scroll journal" ref={scroller} tabIndex={0} role="region" aria-label="Journal">
          <ol className="virtual" style={{ height: rows.length * ROW_PX }}>
            {rows.slice(first, end).map((row, n) => (
              <Row key={row.seq} row={row} top={(first + n) * ROW_PX} at={at} choose={choose} wind={wind} />
            ))}
          </ol>
        </div>
      )}
    </>
  );
}

interface RowProps {
  row: JournalRow;
  top: number;
  at: RunAt;
  choose(task: string): void;
  wind(atMs: number): void;
}

function Row({ row: { atMs, task, text, tone, type }, top, at, choose, wind }: RowProps): ReactNode {
  const label = task === undefined ? undefined : at.task(task)?.facts.label;
  return (
    <li className="journal-row" style={{ top }}>
      <button
        className="when"
        onClick={() => wind(atMs)}
        title={`Show this moment: ${new Date(atMs).toISOString()}`}
      >
        {clock(atMs - at.startedAtMs)}
      </button>
      {task !== undefined && label !== undefined ? (
        <button className="task-name" onClick={() => choose(task)}>
          {label}
        </button>
      ) : (
        <b>{at.run.id}</b>
      )}
      <span className={`text ${tone}`} title={text} onClick={() => wind(atMs)}>
        {text}
      </span>
      <code className="quiet">{type}</code>
    </li>
  );
}

function filtered(
  rows: readonly JournalRow[],
  kind: string,
  task: string | undefined,
): readonly JournalRow[] {
  const wanted = KINDS[kind];
  if (!wanted && task === undefined) return rows;
  return rows.filter(
    (row) =>
      (!wanted || (wanted.has(row.type) && (kind !== 'told' || row.isTold))) &&
      (task === undefined || row.task === task),
  );
}

/** What is new comes into view where the end was in view; who reads further up is left alone. */
function useAtTheEnd(scroller: React.RefObject<HTMLDivElement | null>, count: number): void {
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const look = (): void => {
      isAtEnd.current = element.scrollTop + element.clientHeight > element.scrollHeight - 2 * ROW_PX;
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [scroller, count === 0]);
  useLayoutEffect(() => {
    if (isAtEnd.current && scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [scroller, count]);
}
