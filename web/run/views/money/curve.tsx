/** What a run had spent, from its start to its end, below its limit. */
import { useRef, type MouseEvent, type ReactNode } from 'react';
import { describeUsd } from '../../../../src/schedule/money/budget-words.ts';
import type { RunAt } from '../../../film/run-at.ts';
import { ticksOf } from '../../../film/ticks.ts';
import { thinned } from '../../../film/thinned.ts';
import { useWidth } from '../../../parts/use-width.ts';

export interface CurveProps {
  at: RunAt;
  wind(atMs: number): void;
}

const POINTS_MAX = 1200;
const HEIGHT = 132;
const BOTTOM = 18;
const TOP = 16;

export function Curve({ at, wind }: CurveProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const { spent, startedAtMs, atMs } = at;
  const untilMs = Math.max(at.lastAtMs, atMs, startedAtMs + 1);
  const limit = at.run.limits?.usd;
  const all = spent.at(-1)?.usd ?? 0;
  const most = Math.max(limit ?? 0, all, 1e-9) * (limit !== undefined && all <= limit ? 1 : 1.08);
  const x = (ms: number): number => ((ms - startedAtMs) / (untilMs - startedAtMs)) * width;
  const y = (usd: number): number => HEIGHT - BOTTOM - (usd / most) * (HEIGHT - BOTTOM - TOP);
  const steps = thinned(spent, POINTS_MAX);
  const now = spent.findLast((step) => step.atMs <= atMs)?.usd ?? 0;
  const path = steps.reduce(
    (line, step) => `${line}H${x(step.atMs).toFixed(1)}V${y(step.usd).toFixed(1)}`,
    `M0 ${y(0)}`,
  );
  const area = `${path}H${width}V${y(0)}Z`;
  const onClick = (event: MouseEvent): void => {
    const { left } = host.current!.getBoundingClientRect();
    wind(Math.round(startedAtMs + ((event.clientX - left) / Math.max(1, width)) * (untilMs - startedAtMs)));
  };
  const nowX = x(Math.min(atMs, untilMs));
  const isLeft = nowX < 80;
  return (
    <div className="curve" ref={host} onClick={onClick}>
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={`Spent over time: ${describeUsd(now)} by then`}
      >
        {ticksOf(untilMs - startedAtMs, width).map(({ ms, label }) => (
          <g key={ms}>
            <line
              className="tick"
              x1={x(startedAtMs + ms)}
              x2={x(startedAtMs + ms)}
              y1={TOP - 8}
              y2={HEIGHT - BOTTOM}
            />
            <text x={x(startedAtMs + ms) + 4} y={HEIGHT - 5}>
              {label}
            </text>
          </g>
        ))}
        <clipPath id="spent-by-then">
          <rect width={Math.max(0, nowX)} height={HEIGHT} />
        </clipPath>
        <path className="later" d={area} />
        <path className="area" d={area} clipPath="url(#spent-by-then)" />
        <path className="edge" d={path} clipPath="url(#spent-by-then)" />
        {limit !== undefined && (
          <g>
            <line className="limit" x1="0" x2={width} y1={y(limit)} y2={y(limit)} />
            <text x="4" y={y(limit) + (y(limit) < 14 ? 12 : -4)}>
              {describeUsd(limit)}
            </text>
          </g>
        )}
        <line className="now" x1={nowX} x2={nowX} y1="0" y2={HEIGHT - BOTTOM} />
        <text
          className="sum"
          x={nowX + (isLeft ? 7 : -7)}
          y={Math.max(12, y(now) - 6)}
          textAnchor={isLeft ? 'start' : 'end'}
        >
          {describeUsd(now)}
        </text>
      </svg>
    </div>
  );
}
