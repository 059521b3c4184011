/** The face of a run: who was at work when. One drawing, as small as a row of a list and as large as the film. */
import { memo, type CSSProperties, type ReactNode } from 'react';
import { spellControls } from '../../src/report/text/plain.ts';
import type { Strip as RunStrip, StripBar } from '../../src/contract/strip.ts';
import type { Tone } from '../parts/tone.ts';
import './strip.css';

export interface StripProps {
  strip: RunStrip;
  size: 'list' | 'film';
  /** What came later is faint; null where all of it is shown. */
  atMs?: number | null;
  /** While it is at work, what is open reaches to here. */
  untilMs?: number;
  chosen?: string | undefined;
  /** In a film, where names are written that have room. */
  widthPx?: number;
}

const LANE_PX = { list: 4.5, film: 13 } as const;
const LANES_PX_MAX = { list: 31, film: 66 } as const;
const NAME_PX_MIN = 60;
const NAME_CHAR_PX = 6.2;
const TONES: Record<NonNullable<StripBar['end']>, Tone> = {
  done: 'good',
  failed: 'bad',
  cancelled: 'still',
  lost: 'still',
};

export const Strip = memo(function Strip(props: StripProps): ReactNode {
  const { strip, size, atMs = null, untilMs = strip.toMs } = props;
  const toMs = Math.max(untilMs, strip.fromMs + 1);
  const lanePx = Math.min(LANE_PX[size], LANES_PX_MAX[size] / Math.max(1, strip.lanes));
  const heightPx = size === 'list' ? Math.max(10, strip.lanes * lanePx + 5) : LANES_PX_MAX.film;
  const share = (ms: number): number => Math.min(1, Math.max(0, (ms - strip.fromMs) / (toMs - strip.fromMs)));
  const isOpen = strip.bars.some((bar) => bar.toMs === null);
  const attempts = new Map<string, number>();
  for (const { task } of strip.bars) attempts.set(task, (attempts.get(task) ?? 0) + 1);
  return (
    <svg className={size === 'film' ? 'strip' : `strip ${size}`} height={heightPx} aria-hidden="true">
      {size === 'list' && <line className="base" x1="0" x2="100%" y1={heightPx - 0.5} y2={heightPx - 0.5} />}
      {strip.bars.map((bar) => (
        <Bar
          key={`${bar.task} ${bar.attempt} ${bar.fromMs}`}
          bar={bar}
          share={share}
          atMs={atMs ?? toMs}
          toMs={toMs}
          y={bar.lane * lanePx}
          lanePx={lanePx}
          isChosen={props.chosen === bar.task}
          widthPx={size === 'film' && lanePx > 10 ? (props.widthPx ?? 0) : 0}
          isOneOfMany={attempts.get(bar.task)! > 1}
        />
      ))}
      {size === 'list' && isOpen && <line className="now" x1="100%" x2="100%" y1="0" y2={heightPx} />}
    </svg>
  );
});

interface BarProps {
  bar: StripBar;
  share(ms: number): number;
  atMs: number;
  toMs: number;
  y: number;
  lanePx: number;
  isChosen: boolean;
  widthPx: number;
  isOneOfMany: boolean;
}

function Bar({ bar, share, atMs, toMs, y, lanePx, isChosen, widthPx, isOneOfMany }: BarProps): ReactNode {
  const endMs = bar.toMs ?? toMs;
  const [from, to, at] = [share(bar.fromMs), share(endMs), share(Math.min(atMs, endMs))];
  const tone = bar.end === null ? 'busy' : TONES[bar.end];
  const box = {
    x: percent(from),
    y,
    height: Math.max(1.5, lanePx - (lanePx > 8 ? 2.5 : 1.2)),
    rx: lanePx > 8 ? 2.5 : 1,
  };
  const isCut = atMs < endMs;
  const roomPx = (to - from) * widthPx;
  // Its name would be on the ground, not on the bar.
  const isDotted = bar.asked.some(({ fromMs }) => (share(fromMs) - from) * widthPx < NAME_PX_MIN);
  const name = isOneOfMany ? `${bar.label} · ${bar.attempt}` : bar.label;
  return (
    <>
      {isCut && bar.attempt > 0 && <rect className={`bar dim ${tone}`} {...box} style={wide(to - from)} />}
      {at > from && bar.attempt > 0 && (
        <rect
          className={`bar ${isCut ? 'busy' : tone}${isChosen ? ' on' : ''}`}
          {...box}
          style={wide(at - from)}
        />
      )}
      {bar.asked
        .filter(({ fromMs }) => fromMs < atMs)
        .map(({ fromMs, toMs: untilMs }) => {
          const line = {
            x1: percent(share(fromMs)),
            x2: percent(share(Math.min(untilMs ?? endMs, atMs))),
            y1: y + box.height / 2,
            y2: y + box.height / 2,
          };
          return (
            <g key={fromMs}>
              <line className="rest" {...line} strokeWidth={box.height + 1} />
              <line className="wait" {...line} strokeWidth={Math.max(2, box.height * 0.5)} />
            </g>
          );
        })}
      {roomPx > NAME_PX_MIN && (
        <text
          className={(isCut && at <= from) || isDotted ? 'name later' : 'name'}
          x={percent(from)}
          dx="5"
          y={y + lanePx / 2 + 2}
        >
          {clipTo(spellControls(name), (roomPx - 8) / NAME_CHAR_PX)}
        </text>
      )}
    </>
  );
}

function clipTo(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, Math.max(1, chars - 1)).toWellFormed()}…`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}

/** However short it was, it can be seen. */
function wide(share: number): CSSProperties {
  return { width: `max(2px, calc(${percent(share)} - 1.5px))` };
}
