/** Draws when each attempt ran, as bars on a common scale. Names are text beside it, so that it fits any width. */
import type { AttemptReport, RunReport, TaskReport } from '../../contract/report.ts';
import { formatDuration } from '../../base/units.ts';
import { type Markup, markup } from './markup.ts';
import { attemptState, count, glyphOf, toneOf, attemptsMs } from '../words.ts';

const ROWS_MAX = 150;
const ROW = 26;
const AXIS = 24;

export function renderTimeline(report: RunReport, anchorOf: (task: string) => string | null): Markup {
  const ran = report.tasks.filter(({ attempts }) => attempts.length > 0);
  if (ran.length === 0) return markup`<p class="note">Nothing has run.</p>`;
  const weight = (task: TaskReport): number =>
    task.state === 'failed' ? Infinity : (attemptsMs(task) ?? Infinity);
  const longest = [...ran].sort((a, b) => (weight(a) === weight(b) ? 0 : weight(b) - weight(a)));
  const kept = new Set(longest.slice(0, ROWS_MAX));
  const rows = ran.filter((task) => kept.has(task)).sort((a, b) => a.startedAtMs! - b.startedAtMs!);
  const { startedAtMs, durationMs, idleMs } = report.run;
  const spanMs = Math.max(1, durationMs + idleMs);
  const share = (atMs: number): number => Math.min(100, Math.max(0, ((atMs - startedAtMs) / spanMs) * 100));
  const height = AXIS + rows.length * ROW;
  const ticks = ticksOf(spanMs).map((ms, index) => {
    const x = (ms / spanMs) * 100;
    const anchor = ms === 0 ? 'start' : x > 96 ? 'end' : 'middle';
    return markup`<line class="tick" x1="${x}%" x2="${x}%" y1="${AXIS - 6}" y2="${height}"/><text class="scale${index % 2 === 1 ? ' odd' : ''}" x="${x}%" y="12" text-anchor="${anchor}">${ms === 0 ? '0' : formatTick(ms)}</text>`;
  });
  const bars = rows.flatMap((task, index) =>
    task.attempts.map((attempt) =>
      bar(task, attempt, AXIS + index * ROW, share, startedAtMs + durationMs + idleMs),
    ),
  );
  const left = ran.length - rows.length;
  return markup`<div class="timeline" tabindex="0" role="region" aria-label="Timeline of attempts"><ol class="names">${rows.map((task) => name(task, anchorOf))}</ol><svg class="bars" xmlns="http://www.w3.org/2000/svg" width="100%" height="${height}" role="img" aria-label="When each attempt ran">${ticks}${bars}</svg></div>${left > 0 ? markup`<p class="note">Those that failed or took longest; ${count(left, 'shorter one')} left out.</p>` : null}`;
}

function name(task: TaskReport, anchorOf: (task: string) => string | null): Markup {
  const anchor = anchorOf(task.id);
  const label = markup`<span class="mark ${toneOf(task.state)}">${glyphOf(task.state)}</span> ${task.label}`;
  return markup`<li title="${task.label}: ${task.state}">${anchor === null ? label : markup`<a href="#${anchor}">${label}</a>`}</li>`;
}

function bar(
  task: TaskReport,
  attempt: AttemptReport,
  y: number,
  share: (atMs: number) => number,
  nowMs: number,
): Markup {
  const { startedAtMs, durationMs } = attempt;
  const endedAtMs = durationMs === null ? nowMs : startedAtMs + durationMs;
  const x = share(startedAtMs);
  const width = Math.max(0.25, share(endedAtMs) - x);
  const state = attemptState(task, attempt);
  const time = formatDuration(endedAtMs - startedAtMs);
  const many = task.attempts.length > 1 ? `${attempt.n} ` : '';
  const words = `${many}${glyphOf(state)} ${time}`;
  // Beside a narrow bar, unless the next attempt's is there; the last of a task always has room, or the page ends.
  const isLast = attempt === task.attempts.at(-1);
  const place = width > 8 ? { x, dx: 6 } : isLast && x + width < 90 ? { x: x + width, dx: 6 } : null;
  const text =
    place && markup`<text class="inside" x="${place.x}%" y="${y + 17}" dx="${place.dx}">${words}</text>`;
  return markup`<g class="bar ${toneOf(state)}"><title>${task.label}, attempt ${attempt.n}: ${state}, ${time}</title><rect x="${x}%" y="${y + 4}" width="${width}%" height="${ROW - 8}" rx="3"/>${text}</g>`;
}

/** Round steps, five to eight of them. */
function ticksOf(spanMs: number): number[] {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat(
    [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400].map(
      (s) => s * 1000,
    ),
  );
  const step = steps.find((ms) => spanMs / ms <= 7) ?? Math.ceil(spanMs / 7 / 86_400_000) * 86_400_000;
  return Array.from({ length: Math.floor(spanMs / step) + 1 }, (_, index) => index * step);
}

function formatTick(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  if (ms < 60_000) return `${ms / 1000}s`;
  return formatDuration(ms).replace(/(?<=[mh])00[sm]$/, '');
}
