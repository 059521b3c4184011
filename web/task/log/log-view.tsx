/** The log of a task up to a moment: only the rows in view are in the document, however many there are. */
import { useEffect, useMemo, useRef, useState, type CSSProperties, type ReactNode } from 'react';
import { Keys, useCommands } from '../../app/commands.tsx';
import { useOutput } from '../../data/use-output.ts';
import type { RunAt } from '../../film/run-at.ts';
import { useMedia } from '../../parts/use-media.ts';
import { countBefore, eventsOf } from '../task-events.ts';
import { useScroll } from '../use-scroll.ts';
import { LogEvents } from './log-events.ts';
import { LogItems, placeAfter, type Item, type ToolItem } from './log-items.ts';
import { LogRow } from './log-row.tsx';
import { HEIGHTS, LogRows, PHONE_HEIGHTS, type Room } from './log-rows.ts';
import { Measure } from './wrap.ts';
import './log.css';

export interface LogViewProps {
  at: RunAt;
  task: string;
  /** The attempt that was chosen, to be shown from its beginning. */
  attempt: number | undefined;
  /** What is said where there is nothing. */
  nothing: ReactNode;
  /** Where its switches go. */
  isAllOpen: boolean;
  isWrapped: boolean;
}

const AHEAD_PX = 160;
/** Left of the text, and right of it. */
const BESIDE_PX = {
  desk: { prose: 76 + 20, output: 76 + 20 + 24 },
  phone: { prose: 62 + 16, output: 16 + 16 + 20 },
};
/** No line of prose is longer, however wide the panel. */
const PROSE_PX_MAX = 560;

interface Log {
  items: LogItems;
  events: LogEvents;
  printed: number;
  told: number;
}

export function LogView({ at, task, attempt, nothing, isAllOpen, isWrapped }: LogViewProps): ReactNode {
  const output = useOutput(at.repository, at.run.id, task);
  const isPhone = useMedia('(max-width: 760px)');
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const log = useMemo(newLog, [at.repository, at.run.id, task]);
  const [widthPx, setWidth] = useState(0);
  const room = useRoom(widthPx, isPhone, isWrapped);
  const rows = useMemo(
    () => new LogRows(room, ({ id }) => isAllOpen !== toggled.has(id)),
    [log, room, isAllOpen, toggled],
  );
  const laidOut = useRef<LogRows>(undefined);

  fill(log, at, task, output.entries);
  log.items.settle();
  const changed = log.items.takeChanged();
  const from = laidOut.current === rows ? changed : 0;
  if (from < Infinity) rows.layOut(log.items.items, from);
  laidOut.current = rows;

  const shownItems = at.isLive ? log.items.items.length : itemsUntil(log.items.items, at);
  const count = rows.countOf(shownItems);
  const allPx = rows.tops[count]!;
  const {
    scroller,
    topPx,
    heightPx,
    widthPx: seenPx,
    isFollowing,
    follow,
    to,
  } = useScroll(allPx, { follows: true });
  useEffect(() => setWidth(seenPx), [seenPx]);
  const moment = at.isLive ? null : at.atMs;
  useEffect(() => follow(true), [moment, follow]); // its end is what was then
  useEffect(() => {
    if (attempt === undefined) return;
    const place = log.items.items.findIndex((item) => item.attempt === attempt && item.kind === 'mark');
    if (place !== -1) to(rows.tops[rows.firstOf(place)]!);
  }, [attempt]);
  useCommands([
    {
      id: 'log-follow',
      label: isFollowing ? 'Stay here in the log' : 'Follow the log',
      keys: 'f',
      run: () => follow(!isFollowing),
    },
  ]);
  const toggle = (tool: ToolItem): void => {
    const next = new Set(toggled);
    if (!next.delete(tool.id)) next.add(tool.id);
    follow(false);
    setToggled(next);
  };
  const first = rows.at(topPx - AHEAD_PX);
  const end = Math.min(count, rows.at(topPx + heightPx + AHEAD_PX) + 1);
  const longest = isWrapped ? 0 : Math.max(0, ...rows.rows.slice(first, end).map(({ text }) => text.length));
  const isEmpty = count === 0 && output.isComplete;
  return (
    <div className="log-frame">
      <div
        className={`scroll log${isWrapped ? '' : ' unwrapped'}`}
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label="Log"
      >
        {isEmpty && nothing}
        {log.items.leftOut > 0 && (
          <p className="left-out quiet">
            The first {log.items.leftOut.toLocaleString('en-US')} lines are not shown:{' '}
            <code>
              bosun logs {at.run.id} --task {task}
            </code>{' '}
            has them.
          </p>
        )}
        <div className="log-rows" style={{ height: allPx, '--out': `${longest + 4}ch` } as CSSProperties}>
          {rows.rows.slice(first, end).map((row, n) => (
            <LogRow
              key={first + n}
              row={row}
              topPx={rows.tops[first + n]!}
              columns={isWrapped ? room.columns : Infinity}
              startedAtMs={at.startedAtMs}
              untilMs={at.isLive ? Infinity : at.atMs}
              isOpen={row.kind === 'tool' && isAllOpen !== toggled.has((row.item as ToolItem).id)}
              toggle={toggle}
            />
          ))}
        </div>
      </div>
      {output.problem !== undefined && (
        <p className="log-problem" role="status">
          What it printed cannot be read: {output.problem} It is tried again.
        </p>
      )}
      {!isFollowing && allPx > topPx + heightPx + 40 && (
        <button className="to-end act" onClick={() => follow(true)} aria-keyshortcuts="f">
          To its end <Keys keys="f" />
        </button>
      )}
    </div>
  );
}

function newLog(): Log {
  const items = new LogItems();
  return { items, events: new LogEvents(items), printed: 0, told: 0 };
}

/** What is new since last time; nothing comes twice. */
function fill(log: Log, at: RunAt, task: string, entries: readonly Parameters<LogItems['print']>[0][]): void {
  const own = eventsOf(at, task);
  const told = countBefore(own, at.events.length);
  for (; log.told < told; log.told++) log.events.add(at, own[log.told]!);
  for (; log.printed < entries.length; log.printed++) log.items.print(entries[log.printed]!);
}

/** By their order, since a clock may be set back; what was printed since the last event goes by the time. */
function itemsUntil(items: readonly Item[], { events, count, atMs }: RunAt): number {
  let place = placeAfter(items, events[count - 1]!.seq);
  const nextSeq = events[count]?.seq ?? Infinity;
  while (place < items.length && items[place]!.seq < nextSeq && items[place]!.atMs <= atMs) place++;
  return place;
}

/** Made once: to ask for a font makes the browser look at the style of all that is new. */
const measures = new Map<boolean, [prose: Measure, letterPx: number]>();

function measuresFor(isPhone: boolean): [prose: Measure, letterPx: number] {
  let made = measures.get(isPhone);
  if (!made) {
    const { fontFamily } = getComputedStyle(document.body);
    const mono = getComputedStyle(document.documentElement).getPropertyValue('--mono');
    const prose = new Measure(`${isPhone ? 15 : 13.5}px ${fontFamily}`);
    made = [prose, new Measure(`12px ${mono}`).of('0'.repeat(100)) / 100];
    measures.set(isPhone, made);
  }
  return made;
}

function useRoom(widthPx: number, isPhone: boolean, isWrapped: boolean): Room {
  const [prose, letterPx] = measuresFor(isPhone);
  return useMemo(() => {
    const beside = BESIDE_PX[isPhone ? 'phone' : 'desk'];
    const wide = widthPx || 504;
    return {
      prosePx: Math.min(PROSE_PX_MAX, Math.max(120, wide - beside.prose - 4)),
      columns: Math.max(20, Math.floor((wide - beside.output) / letterPx)),
      isWrapped,
      measure: prose,
      heights: isPhone ? PHONE_HEIGHTS : HEIGHTS,
    };
  }, [widthPx, isPhone, isWrapped, prose, letterPx]);
}
