/** The words and signs of a report, the same in a terminal and on the page. */
import { formatCount } from '../base/format-count.ts';
import type {
  AccessReport,
  AttemptReport,
  DeniedReport,
  RunReport,
  TaskReport,
  RunTotals,
} from '../contract/report.ts';
import type { Progress, ShownRunState, TaskState } from '../contract/run.ts';
import { hostOf, type Service } from '../contract/services.ts';
import { formatDuration } from '../base/units.ts';
import { describeStop } from '../schedule/money/budget-words.ts';

export type Tone = 'good' | 'bad' | 'busy' | 'ask' | 'quiet';
type State = TaskState | ShownRunState;

const SIGNS: Record<State, { glyph: string; tone: Tone }> = {
  done: { glyph: '✓', tone: 'good' },
  failed: { glyph: '✗', tone: 'bad' },
  running: { glyph: '●', tone: 'busy' },
  merging: { glyph: '●', tone: 'busy' },
  expanded: { glyph: '●', tone: 'busy' },
  delayed: { glyph: '◷', tone: 'busy' },
  asking: { glyph: '?', tone: 'ask' },
  cancelling: { glyph: '■', tone: 'ask' },
  cancelled: { glyph: '■', tone: 'ask' },
  interrupted: { glyph: '!', tone: 'ask' },
  paused: { glyph: '⏸', tone: 'ask' },
  pending: { glyph: '○', tone: 'quiet' },
  ready: { glyph: '○', tone: 'quiet' },
  waiting: { glyph: '○', tone: 'quiet' },
  skipped: { glyph: '–', tone: 'quiet' },
};

/** The order in which counts are told: what needs a person first. */
const STATES: TaskState[] = [
  'failed',
  'asking',
  'running',
  'merging',
  'expanded',
  'delayed',
  'ready',
  'waiting',
  'done',
  'skipped',
  'cancelled',
];

const REASONS: Record<NonNullable<TaskReport['reason']>, string> = {
  exit: 'command failed',
  agent: 'agent failed',
  limit: 'went past a limit',
  timeout: 'timed out',
  check: 'check failed',
  output: 'wrong output',
  conflict: 'conflict',
  rejected: 'rejected',
  expression: 'expression failed',
  setup: 'no workspace',
  collect: 'not collected',
  start: 'not started',
  expand: 'wrong tasks',
  budget: 'budget spent',
  judge: 'nobody picked',
  tasks: 'tasks failed',
  vetoed: 'vetoed',
};

export function glyphOf(state: State): string {
  return SIGNS[state].glyph;
}

export function toneOf(state: State): Tone {
  return SIGNS[state].tone;
}

/** "check failed: npm test ended with exit code 1" */
export function reasonOf(task: TaskReport): string {
  const reason = task.reason && REASONS[task.reason];
  return [reason, task.message].filter(Boolean).join(': ');
}

/** Those that a person should look at: not what stands for others, nor who lost a race that was won. */
export function failuresOf({ tasks }: Pick<RunReport, 'tasks'>): TaskReport[] {
  const isMoot = mootIn(tasks);
  return tasks.filter((task) => task.state === 'failed' && task.reason !== 'tasks' && !isMoot(task));
}

/** Whether it matters no more what became of a task: of a candidate or the judge of a race that is done, or if a planner replaced it. */
export function mootIn(tasks: readonly TaskReport[]): (task: TaskReport) => boolean {
  const won = new Set(
    tasks.filter(({ group, state }) => group === 'race' && state === 'done').map(({ id }) => id),
  );
  return ({ parent, isReplaced }) => isReplaced === true || (parent !== null && won.has(parent));
}

/** The tasks with a commit on the branch, each with the task whose attempts made it: of a race, its pick. */
export function committedIn(tasks: readonly TaskReport[]): { task: TaskReport; worker: TaskReport }[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return tasks
    .filter(({ commit }) => commit !== null)
    .map((task) => ({
      task,
      worker: (task.attempts.length === 0 && task.picked !== null && byId.get(task.picked)) || task,
    }));
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${formatCount(number)} ${number === 1 ? one : many}`;
}

/** As the last line of a list that is cut short. */
export function more(total: number, shown: number): string[] {
  return total > shown ? [`  … and ${formatCount(total - shown)} more`] : [];
}

export function countStates(byState: RunTotals['byState']): { state: TaskState; count: number }[] {
  return STATES.flatMap((state) => (byState[state] ? [{ state, count: byState[state] }] : []));
}

/** "failed after 4m12s" */
export function headline({ run }: RunReport): string {
  if (run.state === 'cancelled' && run.because === 'budget')
    return `stopped after ${formatDuration(run.durationMs)}: ${describeStop(run.short)}`;
  if (run.state === 'paused') return `paused after ${formatDuration(run.durationMs)}`;
  if (run.state === 'interrupted') return `interrupted after ${formatDuration(run.durationMs)}`;
  const verb = run.endedAtMs === null ? 'for' : run.state === 'done' ? 'in' : 'after';
  return `${run.state} ${verb} ${formatDuration(run.durationMs)}`;
}

/** How an attempt stands, in the words that tasks and runs have signs for. */
export function attemptState(task: TaskReport, { outcome }: AttemptReport): State {
  if (outcome === null) return task.state === 'running' ? 'running' : 'interrupted';
  return outcome === 'lost' ? 'interrupted' : outcome;
}

/** How long it took, over all attempts; null where none has ended. */
export function attemptsMs(task: TaskReport): number | null {
  const ended = task.attempts.flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs]));
  return ended.length === 0 ? null : ended.reduce((sum, ms) => sum + ms, 0);
}

export function changedCountOf(task: TaskReport): number {
  return task.attempts.findLast(({ snapshot }) => snapshot !== null)?.changedCount ?? 0;
}

export function shortCommit(commit: string): string {
  return commit.slice(0, 8);
}

const SAID_BY_NOBODY: Record<string, string> = {
  'time-out': 'since nobody answered in time',
  ended: 'since whoever asked had ended',
  left: 'since whoever asked hung up',
  limit: 'since it had asked too often',
};

/** `by anna`; where nobody answered, why that is so. */
export function saidBy(by: string): string {
  return SAID_BY_NOBODY[by] ?? `by ${by}`;
}

const GLOBS_SHOWN_MAX = 5;

/** `granted: src/api/** (by person)`; a no with its reason. */
export function describeAccess({ globs, answer, by, why }: AccessReport): string {
  const shown = globs.slice(0, GLOBS_SHOWN_MAX).join(', ');
  const names =
    globs.length > GLOBS_SHOWN_MAX ? `${shown} and ${globs.length - GLOBS_SHOWN_MAX} more` : shown;
  if (answer === null) return `asked for: ${names}`;
  if (answer === 'yes') return `granted: ${names} (by ${by})`;
  if (answer === 'applied') return `applied: ${names} (by ${by}, which owns it)`;
  return `refused: ${names} (${accessBy(by ?? '')}${why})`;
}

/** Who refused a request for files; nothing where nobody did, and the reason says it all. */
export function accessBy(by: string): string {
  return by === 'ended' || by === 'time-out' ? '' : `by ${by}: `;
}

/** `api.example.com:443 (scope.network does not name it)`, and in how many attempts where there were more. */
export function describeDenied({ host, port, why, count = 1 }: Partial<DeniedReport> & Place): string {
  const name = host.includes(':') && port !== 0 ? `[${host}]` : host;
  const times = count > 1 ? `, in ${formatCount(count)} attempts` : '';
  return `${name}${port === 0 ? '' : `:${port}`} (${why})${times}`;
}

/** `http://web.bosun, its port 3000` */
export function describeService({ name, port }: Service): string {
  return `http://${hostOf(name)}, its port ${port}`;
}

type Place = Pick<DeniedReport, 'host' | 'port' | 'why'>;

/** The last attempt that did the task's work, and those after it that settled its conflicts. */
export function sinceWork(attempts: readonly AttemptReport[]): readonly AttemptReport[] {
  const last = attempts.findLastIndex(({ purpose }) => purpose === 'work');
  return attempts.slice(Math.max(0, last));
}

/** Files that its scope did not allow. */
export function outsideCountOf(attempts: readonly AttemptReport[]): number {
  return sinceWork(attempts).reduce((sum, { outsideCount }) => sum + outsideCount, 0);
}

/** 1536 → "1.5 KB" */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let at = 0;
  for (; value >= 1024 && at < units.length - 1; at++) value /= 1024;
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`;
}

/** What people call a task, by its id. */
export function labeller({ tasks }: Pick<RunReport, 'tasks'>): (id: string) => string {
  const labels = new Map(tasks.map(({ id, label }) => [id, label]));
  return (id) => labels.get(id) ?? id;
}

/** Such as `60 % writing tests`. */
export function tellProgress({ text, percent }: Progress): string {
  return percent === undefined ? text : `${percent} % ${text}`;
}
