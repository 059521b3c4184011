/** Times and counts as the terminal shows them. */
import { formatCount } from '../../base/format-count.ts';
import { formatDuration } from '../../base/units.ts';
import { sayAnswer } from '../../contract/question.ts';
import type { Pause, QuestionView, TaskState } from '../../contract/run.ts';
import { plainLine } from './plain.ts';
import { countStates } from '../words.ts';

/** A time that runs: below a minute always in seconds, so that a column of them can be read. */
export function formatElapsed(ms: number): string {
  const shownMs = Math.max(0, ms);
  return shownMs < 60_000 ? `${(Math.floor(shownMs / 100) / 10).toFixed(1)}s` : formatDuration(shownMs);
}

type Asked = Pick<QuestionView, 'default' | 'askedAtMs' | 'timeoutMs' | 'pausedSinceMs'>;

/** What becomes of a question that nobody answers: "no in 9m58s"; empty where it waits for ever. */
export function tellDefault(
  { default: answer, askedAtMs, timeoutMs, pausedSinceMs }: Asked,
  nowMs: number,
): string {
  if (timeoutMs === undefined) return '';
  const untilMs = Math.max(askedAtMs, pausedSinceMs ?? nowMs);
  const left = formatDuration(Math.max(0, askedAtMs + timeoutMs - untilMs));
  const isPaused = pausedSinceMs !== undefined;
  return `${plainLine(sayAnswer({ answer }))} in ${left}${isPaused ? ', not counting the pause' : ''}`;
}

/** "by person, 3m ago" */
export function tellPause({ by, sinceMs }: Pause, nowMs: number): string {
  return `by ${by}, ${formatDuration(Math.max(0, nowMs - sinceMs))} ago`;
}

type Counts = Partial<Record<TaskState, number>>;

/** "1 failed, 2 running, 40 done" */
export function tellCounts({ expanded = 0, running = 0, ...others }: Counts): string {
  // One that stands for others runs as long as they do.
  const all = running + expanded;
  return countStates({ ...others, ...(all > 0 && { running: all }) })
    .map(({ state, count }) => `${formatCount(count)} ${state}`)
    .join(', ');
}
