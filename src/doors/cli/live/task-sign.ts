/** How a task looks in `status` and in the live view: its sign and word, and what it waits for. Pure. */
import { formatDuration } from '../../../base/units.ts';
import type { Pause, Progress, RunView, TaskView } from '../../../contract/run.ts';
import { tellPause } from '../../../report/text/figures.ts';
import { glyphOf, tellProgress, toneOf, type Tone } from '../../../report/words.ts';

export interface TaskSign {
  glyph: string;
  word: string;
  tone: Tone;
  /** What it waits for, or how far it is; undefined where there is nothing to say. */
  line?: string;
}

type Waits = NonNullable<RunView['waits']>;
type Shown = Pick<TaskView, 'state' | 'held' | 'paused' | 'within' | 'retry' | 'message'>;

/** What of the run changes how its tasks look. */
export interface ShownBy {
  waits: Waits;
  paused?: Pause;
}

const PAUSED = '⏸';
/** Those that would soon be at work if nobody had paused the run. */
const NEXT: ReadonlySet<TaskView['state']> = new Set(['ready', 'delayed']);
/** A pause is not all that there is to say of these. */
const AT_WORK: ReadonlySet<TaskView['state']> = new Set(['running', 'merging', 'asking']);

export function signOf(task: Shown, { waits, paused: run }: ShownBy, nowMs: number): TaskSign {
  const { state, held, within, retry, message } = task;
  const paused = task.paused ?? (NEXT.has(state) || AT_WORK.has(state) ? run : undefined);
  if (held?.by === 'pause' || (paused && !AT_WORK.has(state))) return pausedSign(held, paused, nowMs);
  if (paused) return pausingSign(task, paused, waits, nowMs);
  if (held) return heldSign(held, waits, nowMs);
  const plain = { glyph: glyphOf(state), word: state, tone: toneOf(state) };
  if (within) return { ...plain, word: 'running', line: `${within.ended} of ${within.all} done` };
  if (!retry) return plain;
  const when = retry.atMs > nowMs ? `in ${formatDuration(retry.atMs - nowMs)}` : 'now';
  const why = message === undefined ? '' : `: ${message}`;
  return { ...plain, line: `retries ${when} (attempt ${retry.attempt} of ${retry.attemptsMax})${why}` };
}

/** How far its agent says it is, and what it did last. */
export function workLine(progress: Progress | undefined, lastLine = ''): string {
  return [progress && tellProgress(progress), lastLine].filter(Boolean).join(' · ');
}

function pausedSign(held: TaskView['held'], paused: Pause | undefined, nowMs: number): TaskSign {
  const when = paused === undefined ? '' : tellPause(paused, nowMs);
  const line = held ? `${held.text}; its next model request waits` : when;
  return { glyph: PAUSED, word: 'paused', tone: 'ask', line };
}

/** It is paused, and still at work or asking. */
function pausingSign({ state, held }: Shown, paused: Pause, waits: Waits, nowMs: number): TaskSign {
  const when = tellPause(paused, nowMs);
  if (!held && state === 'running')
    return { glyph: PAUSED, word: 'pausing', tone: 'ask', line: `${when}; still at work` };
  const { word, line }: Pick<TaskSign, 'word' | 'line'> = held
    ? heldSign(held, waits, nowMs)
    : { word: state };
  return { glyph: PAUSED, word, tone: 'ask', line: [`paused ${when}`, line].filter(Boolean).join('; ') };
}

function heldSign(held: NonNullable<TaskView['held']>, waits: Waits, nowMs: number): TaskSign {
  if (held.by === 'question')
    return { glyph: glyphOf('asking'), word: 'asking', tone: 'ask', line: held.text };
  if (held.by === 'budget') return { glyph: PAUSED, word: 'budget', tone: 'ask', line: `held: ${held.text}` };
  if (held.by === 'slot') return { glyph: PAUSED, word: 'queued', tone: 'ask', line: held.text };
  if (held.by === 'hook') return { glyph: PAUSED, word: 'hook', tone: 'ask', line: held.text };
  const wait = waits.find(({ provider, untilMs }) => provider === held.provider && untilMs > nowMs);
  const word = held.by === 'turn' ? 'queued' : 'silent';
  if (!wait) return { glyph: PAUSED, word, tone: 'ask', line: `held: ${held.text}` };
  const left = formatDuration(wait.untilMs - nowMs);
  return { glyph: PAUSED, word: 'limited', tone: 'ask', line: `held: ${wait.why}, next request in ${left}` };
}
