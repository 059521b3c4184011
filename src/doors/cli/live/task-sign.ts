/** How a task looks in `status` and in the live view: its sign and word, and what it waits for. Pure. */
import { formatDuration } from '../../../base/units.ts';
import type { RunView, TaskView } from '../../../contract/run.ts';
import { glyphOf, toneOf, type Tone } from '../../../report/words.ts';

export interface TaskSign {
  glyph: string;
  word: string;
  tone: Tone;
  /** What it waits for, or how far it is; undefined where there is nothing to say. */
  line?: string;
}

export type ShownWaits = NonNullable<RunView['waits']>;
type Shown = Pick<TaskView, 'state' | 'held' | 'within' | 'retry' | 'message'>;

const PAUSED = '⏸';

export function signOf(task: Shown, waits: ShownWaits, nowMs: number): TaskSign {
  const { state, held, within, retry, message } = task;
  if (held) return heldSign(held, waits, nowMs);
  const plain = { glyph: glyphOf(state), word: state, tone: toneOf(state) };
  if (within) return { ...plain, word: 'running', line: `${within.ended} of ${within.all} done` };
  if (!retry) return plain;
  const when = retry.atMs > nowMs ? `in ${formatDuration(retry.atMs - nowMs)}` : 'now';
  const why = message === undefined ? '' : `: ${message}`;
  return { ...plain, line: `retries ${when} (attempt ${retry.attempt} of ${retry.attemptsMax})${why}` };
}

function heldSign(held: NonNullable<TaskView['held']>, waits: ShownWaits, nowMs: number): TaskSign {
  if (held.by === 'question')
    return { glyph: glyphOf('asking'), word: 'asking', tone: 'ask', line: held.text };
  if (held.by === 'budget') return { glyph: PAUSED, word: 'budget', tone: 'ask', line: `held: ${held.text}` };
  if (held.by === 'slot') return { glyph: PAUSED, word: 'queued', tone: 'ask', line: held.text };
  const wait = waits.find(({ provider, untilMs }) => provider === held.provider && untilMs > nowMs);
  const word = held.by === 'turn' ? 'queued' : 'silent';
  if (!wait) return { glyph: PAUSED, word, tone: 'ask', line: `held: ${held.text}` };
  const left = formatDuration(wait.untilMs - nowMs);
  return { glyph: PAUSED, word: 'limited', tone: 'ask', line: `held: ${wait.why}, next request in ${left}` };
}
