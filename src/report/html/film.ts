/** The run as a strip of bars, as the live page draws it: who was at work when, and when it waited for a person. */
import type { RunReport, TaskReport } from '../../contract/report.ts';
import type { StripBar } from '../../contract/strip.ts';
import { askedWithin, layBars, type Bar } from '../../schedule/views/strip.ts';
import { type Markup, markup } from './markup.ts';

const BARS_MAX = 400;
const LANE_PX = 13;
const HEIGHT_PX_MAX = 66;
const NAME_SHARE_MIN = 4;
const TONES = { done: 'good', failed: 'bad', cancelled: 'still', lost: 'still' } as const;

export function renderFilm(report: RunReport): Markup | null {
  const { startedAtMs: fromMs, endedAtMs, durationMs, idleMs } = report.run;
  const toMs = Math.max(fromMs + 1, endedAtMs ?? fromMs + durationMs + idleMs);
  const all = report.tasks.flatMap((task) => barsOf(report, task));
  if (all.length === 0) return null;
  const { bars, lanes } = layBars(all, { fromMs, toMs, barsMax: BARS_MAX });
  const lanePx = Math.min(LANE_PX, HEIGHT_PX_MAX / lanes);
  const share = (ms: number): number => Math.min(100, Math.max(0, ((ms - fromMs) / (toMs - fromMs)) * 100));
  const drawn = bars.map((bar) => drawBar(bar, { share, toMs, lanePx }));
  return markup`<svg class="film" xmlns="http://www.w3.org/2000/svg" width="100%" height="${lanes * lanePx + 3}" aria-hidden="true"><line class="base" x1="0" x2="100%" y1="${lanes * lanePx + 2}" y2="${lanes * lanePx + 2}"/>${drawn}</svg>`;
}

/** One that asks a person has no attempt: its bar is the question. */
function barsOf({ questions }: RunReport, { id, label, state, attempts }: TaskReport): Bar[] {
  const asked = questions
    .filter(({ task }) => task === id)
    .map(({ askedAtMs, answeredAtMs }) => ({ fromMs: askedAtMs, toMs: answeredAtMs }));
  const own = { task: id, label };
  if (attempts.length === 0)
    return asked.map((waited) => {
      const end = waited.toMs === null ? null : state === 'failed' ? 'failed' : 'done';
      return { ...own, attempt: 0, ...waited, end, asked: [waited] };
    });
  return attempts.map((attempt) => ({
    ...own,
    attempt: attempt.n,
    fromMs: attempt.startedAtMs,
    toMs: attempt.endedAtMs,
    end: attempt.outcome,
    asked: askedWithin(asked, attempt),
  }));
}

function drawBar(
  bar: StripBar,
  { share, toMs, lanePx }: { share(ms: number): number; toMs: number; lanePx: number },
): Markup {
  const endMs = bar.toMs ?? toMs;
  const [x, width] = [share(bar.fromMs), share(endMs) - share(bar.fromMs)];
  const [y, height] = [bar.lane * lanePx, Math.max(1.5, lanePx - (lanePx > 8 ? 2.5 : 1.2))];
  const tone = bar.end === null ? 'busy' : TONES[bar.end];
  const box =
    bar.attempt > 0 &&
    markup`<rect class="bar-of ${tone}" x="${x}%" y="${y}" width="${width}%" height="${height}" rx="${lanePx > 8 ? 2.5 : 1}"/>`;
  const waits = bar.asked.map(
    (asked) =>
      markup`<line class="wait" x1="${share(asked.fromMs)}%" x2="${share(asked.toMs ?? endMs)}%" y1="${y + height / 2}" y2="${y + height / 2}" stroke-width="${Math.max(2, height / 2)}"/>`,
  );
  const name =
    bar.attempt > 0 &&
    lanePx > 10 &&
    width > NAME_SHARE_MIN &&
    markup`<svg x="${x}%" y="${y}" width="${width}%" height="${height}"><text x="5" y="${height / 2 + 3.2}">${bar.label}</text></svg>`;
  return markup`<g>${box || null}${waits}${name || null}</g>`;
}
