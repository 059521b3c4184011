/** How a task looks at a moment, wherever it is a box or a row: its sign, its words, what it does. Pure. */
import { formatDuration } from '../../../src/base/units.ts';
import type { Spending } from '../../../src/contract/model.ts';
import type { TaskState } from '../../../src/contract/run.ts';
import { spellControls } from '../../../src/report/text/plain.ts';
import { tellUsd } from '../../../src/report/money.ts';
import type { TaskAt } from '../../film/run-at.ts';
import { signOf, toneOf, type Tone } from '../../parts/tone.ts';

export interface TaskLook {
  tone: Tone;
  sign: string;
  /** In one word, for who sees no sign. */
  state: string;
  /** `2nd`, from the second attempt on. */
  nth: string;
  /** `8m23s · $0.88` */
  detail: string;
  /** What it does, asks or waits for just now. */
  does: string;
}

export function lookOf({ view, facts }: TaskAt, atMs: number): TaskLook {
  const state = shownState(view);
  const isIdle = state === 'waiting' || state === 'ready';
  const worked = workedMs(view, atMs);
  const words = isIdle ? waitingWord(facts.kind, state) : worked > 0 ? clock(worked) : state;
  return {
    tone: toneOf(state),
    sign: signOf(state),
    state,
    nth: view.attempt > 1 ? ordinal(view.attempt) : '',
    detail: [words, shortUsd(view.spending)].filter(Boolean).join(' · '),
    does: spellControls(doingOf(view, atMs)),
  };
}

/** One whose agent asks a person is not at work. */
export function shownState(view: Pick<TaskAt['view'], 'state' | 'held'>): TaskState {
  return view.held?.by === 'question' ? 'asking' : view.state;
}

/** How long its attempts were at work by then. */
export function workedMs({ workedMs: before = 0, attemptAtMs }: TaskAt['view'], atMs: number): number {
  return before + (attemptAtMs === undefined ? 0 : Math.max(0, atMs - attemptAtMs));
}

/** In whole seconds: what runs is read as it changes. */
export function clock(ms: number): string {
  if (ms < 1000) return formatDuration(ms);
  return ms < 60_000 ? `${Math.floor(ms / 1000)}s` : formatDuration(ms);
}

/** `$0.88`, `~$0.88`, `over $0.88`; empty where nothing was spent. */
function shortUsd(spending: Spending | undefined): string {
  return spending === undefined ? '' : tellUsd(spending).replace(' (estimated)', '');
}

function waitingWord(kind: TaskAt['facts']['kind'], state: TaskState): string {
  if (kind === 'approve') return 'asks you';
  return state === 'ready' ? 'waits for its turn' : 'waits';
}

function doingOf(view: TaskAt['view'], atMs: number): string {
  const { state, held, progress, lastLine, retry, message } = view;
  if (held) return held.text;
  if (retry && retry.atMs > atMs) return `tries again in ${clock(retry.atMs - atMs)}`;
  if (state === 'running') {
    const said =
      progress && (progress.percent === undefined ? progress.text : `${progress.percent} % ${progress.text}`);
    return [said, lastLine?.replace(/^→ /, '')].filter(Boolean).join(' · ');
  }
  return state === 'failed' ? (message?.split('\n')[0] ?? '') : '';
}

function ordinal(n: number): string {
  const tens = n % 100;
  if (tens >= 11 && tens <= 13) return `${n}th`;
  return `${n}${{ 1: 'st', 2: 'nd', 3: 'rd' }[n % 10] ?? 'th'}`;
}
