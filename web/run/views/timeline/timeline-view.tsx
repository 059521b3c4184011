/** When each task was at work, and when it waited for a person: the film in full, a row for each task. */
import { useMemo, useRef, useState, type CSSProperties, type MouseEvent, type ReactNode } from 'react';
import { ticksOf } from '../../../film/ticks.ts';
import type { AttemptAt, RunAt, TaskAt } from '../../../film/run-at.ts';
import { signOf, toneOf, type Tone } from '../../../parts/tone.ts';
import { useWidth } from '../../../parts/use-width.ts';
import { clock, shownState } from '../task-look.ts';
import { useRows } from '../use-rows.ts';
import './timeline.css';

export interface TimelineViewProps {
  at: RunAt;
  chosen: string | undefined;
  choose(task: string): void;
  wind(atMs: number): void;
}

const ROW_PX = 26;
const AXIS_PX = 26;
const NAMES_PX = 150;
const WORDS_PX_MIN = 46;
const TONES: Record<NonNullable<AttemptAt['outcome']>, Tone> = {
  done: 'good',
  failed: 'bad',
  cancelled: 'still',
  lost: 'still',
};
const SIGNS: Record<NonNullable<AttemptAt['outcome']>, string> = {
  done: '✓',
  failed: '✗',
  cancelled: '■',
  lost: '!',
};

export function TimelineView({ at, chosen, choose, wind }: TimelineViewProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const [hovered, setHovered] = useState<number>();
  const tasks = useMemo(() => at.tasks.filter(hasBegun), [at.tasks]);
  const { first, end } = useRows(scroller, tasks.length, ROW_PX, AXIS_PX);
  const untilMs = Math.max(at.lastAtMs, at.atMs, at.startedAtMs + 1);
  const roomPx = Math.max(1, width - NAMES_PX - 14);
  const share = (ms: number): number =>
    Math.min(1, Math.max(0, (ms - at.startedAtMs) / (untilMs - at.startedAtMs)));
  if (tasks.length === 0)
    return (
      <div className="nothing">
        <b>Nothing had run yet.</b>
        <p>A bar begins here with each attempt. What waits, and for what, is in the graph.</p>
      </div>
    );
  const momentAt = (event: MouseEvent): number | undefined => {
    const left = scroller.current!.getBoundingClientRect().left + NAMES_PX;
    const part = (event.clientX - left) / roomPx;
    return part < 0 || part > 1.02
      ? undefined
      : Math.round(at.startedAtMs + Math.min(1, part) * (untilMs - at.startedAtMs));
  };
  const onClick = (event: MouseEvent): void => {
    const moment = momentAt(event);
    if (moment !== undefined && !(event.target as Element).closest('button')) wind(moment);
  };
  const sizes = { '--names': `${NAMES_PX}px`, '--room': `${roomPx}px` } as CSSProperties;
  return (
    <div
      className="scroll timeline"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label="Timeline of attempts"
    >
      <div
        className="time"
        style={{ ...sizes, height: AXIS_PX + tasks.length * ROW_PX }}
        onMouseMove={(event) => setHovered(momentAt(event))}
        onMouseLeave={() => setHovered(undefined)}
        onClick={onClick}
      >
        <div className="axis" aria-hidden="true">
          {ticksOf(untilMs - at.startedAtMs, roomPx).map(({ ms, label }) => (
            <i key={ms} style={{ left: NAMES_PX + share(at.startedAtMs + ms) * roomPx }}>
              {label}
            </i>
          ))}
        </div>
        {tasks.slice(first, end).map((task, n) => (
          <TimelineRow
            key={task.facts.id}
            task={task}
            at={at}
            top={AXIS_PX + (first + n) * ROW_PX}
            share={share}
            roomPx={roomPx}
            isChosen={task.facts.id === chosen}
            choose={choose}
          />
        ))}
        <Line
          kind="now"
          left={NAMES_PX + share(at.atMs) * roomPx}
          label={at.isLive ? 'now' : clock(at.atMs - at.startedAtMs)}
        />
        {hovered !== undefined && (
          <Line
            kind="hover"
            left={NAMES_PX + share(hovered) * roomPx}
            label={clock(hovered - at.startedAtMs)}
          />
        )}
      </div>
    </div>
  );
}

function Line({ kind, left, label }: { kind: string; left: number; label: string }): ReactNode {
  return (
    <div className={`at ${kind}`} style={{ left }} aria-hidden="true">
      <span>{label}</span>
    </div>
  );
}

interface TimelineRowProps {
  task: TaskAt;
  at: RunAt;
  top: number;
  share(ms: number): number;
  roomPx: number;
  isChosen: boolean;
  choose(task: string): void;
}

function TimelineRow({ task, at, top, share, roomPx, isChosen, choose }: TimelineRowProps): ReactNode {
  const { facts, view } = task;
  const state = shownState(view);
  const bars = barsOf(task, at);
  return (
    <div className={isChosen ? 'time-row on' : 'time-row'} style={{ top }}>
      <button className={`name ${toneOf(state)}`} onClick={() => choose(facts.id)} title={facts.title}>
        <span className="sign" aria-hidden="true">
          {signOf(state)}
        </span>
        <b className={facts.parent === undefined ? '' : 'inner'}>{facts.label}</b>
        <span className="unseen">
          {state}: {bars.map(({ words }) => words).join('; ')}
        </span>
      </button>
      {bars.map(({ key, tone, fromMs, toMs, words, text, asked }) => {
        const [from, to] = [share(fromMs) * roomPx, share(toMs) * roomPx];
        return (
          <div
            key={key}
            className={`bar ${tone}`}
            title={`${facts.label}: ${words}`}
            style={{ left: NAMES_PX + from, width: Math.max(3, to - from - 1) }}
            aria-hidden="true"
          >
            {to - from > WORDS_PX_MIN && <span>{text}</span>}
            {asked.map((wait) => (
              <i
                key={wait.fromMs}
                className="wait"
                style={{
                  left: (share(wait.fromMs) - share(fromMs)) * roomPx,
                  width: Math.max(3, (share(wait.toMs ?? toMs) - share(wait.fromMs)) * roomPx),
                }}
              />
            ))}
          </div>
        );
      })}
    </div>
  );
}

interface Bar {
  key: string;
  tone: Tone | 'asks';
  fromMs: number;
  toMs: number;
  words: string;
  /** Within the bar. */
  text: string;
  asked: AttemptAt['asked'];
}

/** One that asks a person has no attempt: its bar is the question. */
function barsOf({ attempts, facts, view }: TaskAt, { atMs }: RunAt): Bar[] {
  if (attempts.length === 0 && facts.kind === 'approve' && view.startedAtMs !== undefined) {
    const toMs = Math.min(view.endedAtMs ?? atMs, atMs);
    const words = `asked a person for ${clock(toMs - view.startedAtMs)}`;
    return [{ key: 'asks', tone: 'asks', fromMs: view.startedAtMs, toMs, words, text: '', asked: [] }];
  }
  return attempts.map(({ n, outcome, startedAtMs, endedAtMs, asked, purpose }) => {
    const hasEnded = endedAtMs !== null && endedAtMs <= atMs;
    const toMs = hasEnded ? endedAtMs : atMs;
    const took = clock(Math.max(0, toMs - startedAtMs));
    const end = hasEnded ? outcome : null;
    const nth = attempts.length > 1 ? `${n} ` : '';
    return {
      key: String(n),
      tone: end === null ? (view.state === 'running' ? 'busy' : 'still') : TONES[end],
      fromMs: startedAtMs,
      toMs,
      words: `attempt ${n}${purpose === 'resolve' ? ', which settled a conflict,' : ''} ${end ?? 'at work'}, ${took}`,
      text: `${nth}${end === null ? '●' : SIGNS[end]} ${took}`,
      asked: asked.filter(({ fromMs }) => fromMs <= atMs),
    };
  });
}

function hasBegun({ attempts, facts, view }: TaskAt): boolean {
  return attempts.length > 0 || (facts.kind === 'approve' && view.startedAtMs !== undefined);
}
