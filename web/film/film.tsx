/** The film of a run: its strip, the money under it, and the handle that winds all views to a moment. */
import { useRef, type PointerEvent, type ReactNode } from 'react';
import type { Strip as RunStrip } from '../../src/contract/strip.ts';
import { formatDuration } from '../../src/base/units.ts';
import { MoneyUnder } from './money-under.tsx';
import type { RunAt } from './run-at.ts';
import { Strip } from './strip.tsx';
import { ticksOf } from './ticks.ts';
import { useWidth } from '../parts/use-width.ts';
import './film.css';

export interface FilmProps {
  at: RunAt;
  strip: RunStrip;
  chosen: string | undefined;
  /** Null for now. */
  wind(atMs: number | null): void;
}

/** How near to the end one has to let go for it to be live. */
const LIVE_PX = 8;

export function Film({ at, strip, chosen, wind }: FilmProps): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const widthPx = useWidth(frame);
  const fromMs = strip.fromMs;
  const toMs = Math.max(at.lastAtMs, fromMs + 1);
  const share = Math.min(1, Math.max(0, (at.atMs - fromMs) / (toMs - fromMs)));
  const label = at.isLive
    ? at.run.endedAtMs === undefined
      ? 'now'
      : 'end'
    : formatDuration(at.atMs - fromMs);

  const seek = ({ clientX }: PointerEvent): void => {
    const { left, width } = frame.current!.getBoundingClientRect();
    const isLive = clientX > left + width - LIVE_PX;
    const part = Math.min(1, Math.max(0, (clientX - left) / width));
    wind(isLive ? null : Math.round(fromMs + part * (toMs - fromMs)));
  };
  return (
    <div
      className="film"
      role="slider"
      tabIndex={0}
      aria-label="Moment of the run"
      aria-valuemin={0}
      aria-valuemax={toMs - fromMs}
      aria-valuenow={Math.round(share * (toMs - fromMs))}
      aria-valuetext={label}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        seek(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) seek(event);
      }}
    >
      <div className="reel" ref={frame}>
        {ticksOf(toMs - fromMs, widthPx).map(({ ms, label: text }) => (
          <span key={ms} className="tick" style={{ left: `${(ms / (toMs - fromMs)) * 100}%` }}>
            {text}
          </span>
        ))}
        <div className="bars">
          <Strip
            strip={strip}
            size="film"
            atMs={at.isLive ? null : at.atMs}
            untilMs={toMs}
            chosen={chosen}
            widthPx={widthPx}
          />
        </div>
        <MoneyUnder at={at} fromMs={fromMs} toMs={toMs} />
        <i className="now" style={{ left: `${share * 100}%` }} />
        <b className="grip" style={{ left: `clamp(20px, ${share * 100}%, calc(100% - 12px))` }}>
          {label}
        </b>
      </div>
    </div>
  );
}
