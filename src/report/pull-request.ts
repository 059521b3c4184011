/**
 * The report of a run as the title and body of a pull request. What agents wrote stands in code spans: there it can
 * mention nobody, close no issue and load no picture.
 */
import { formatDuration } from '../base/units.ts';
import type { RunReport, TaskReport } from '../contract/report.ts';
import { describeCost } from './cost-words.ts';
import { plainLine } from './text/plain.ts';
import { committedIn, count, failuresOf, headline, labeller, reasonOf, shortCommit } from './words.ts';

const TITLE_CHARS_MAX = 100;
const TEXT_CHARS_MAX = 200;
const TASKS_SHOWN_MAX = 100;
/** GitHub takes 65,536. */
const BODY_CHARS_MAX = 50_000;

export interface RequestText {
  title: string;
  body: string;
}

export function requestText(report: RunReport, title?: string): RequestText {
  return {
    title: clipped(title ?? titleOf(report), TITLE_CHARS_MAX),
    body: bodyOf(report).slice(0, BODY_CHARS_MAX),
  };
}

/** What the only commit says, else how many there are. */
function titleOf(report: RunReport): string {
  const done = committedIn(report.tasks);
  const [only] = done;
  if (only && done.length === 1) return only.task.title || only.task.label;
  return `${report.run.name}: ${count(done.length, 'task')}`;
}

function bodyOf(report: RunReport): string {
  const { run, totals } = report;
  const labelOf = labeller(report);
  const done = committedIn(report.tasks);
  const failed = failuresOf(report);
  const lines = totals.linesAdded === null ? '' : `, +${totals.linesAdded} −${totals.linesRemoved}`;
  return [
    `Work of the bosun run ${code(run.id)}: ${plainLine(headline(report))}; ${count(totals.changedFiles, 'file')} changed${lines}.`,
    '',
    '| task | what | commit | time |',
    '| --- | --- | --- | --- |',
    ...done.slice(0, TASKS_SHOWN_MAX).map(({ task, worker }) => rowOf(task, worker, labelOf(task.id))),
    ...(done.length > TASKS_SHOWN_MAX ? ['', `… and ${done.length - TASKS_SHOWN_MAX} more`] : []),
    '',
    ...(failed.length === 0
      ? []
      : [
          'Not done:',
          '',
          ...failed
            .slice(0, TASKS_SHOWN_MAX)
            .map((task) => `- ${code(labelOf(task.id))}: ${code(reasonOf(task))}`),
          '',
        ]),
    `Cost: ${describeCost(totals.cost)}. Time: ${formatDuration(run.durationMs)}.`,
    '',
  ].join('\n');
}

function rowOf(task: TaskReport, { agent, startedAtMs, endedAtMs }: TaskReport, label: string): string {
  const tookMs = startedAtMs === null || endedAtMs === null ? undefined : endedAtMs - startedAtMs;
  const who = agent === null ? '' : ` by ${code(agent)}`;
  const cells = [
    `${code(label)}${who}`,
    code(task.title),
    shortCommit(task.commit ?? ''),
    tookMs === undefined ? '' : formatDuration(tookMs),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** A code span with more marks around it than are in it. */
function code(text: string): string {
  const plain = clipped(text, TEXT_CHARS_MAX).replaceAll('|', '¦');
  if (plain === '') return '';
  const most = Math.max(0, ...[...plain.matchAll(/`+/g)].map(([marks]) => marks.length));
  const marks = '`'.repeat(most + 1);
  return most > 0 ? `${marks} ${plain} ${marks}` : `${marks}${plain}${marks}`;
}

function clipped(text: string, charsMax: number): string {
  const letters = Array.from(plainLine(text.replaceAll(/\s+/g, ' ')).trim());
  return letters.length <= charsMax ? letters.join('') : `${letters.slice(0, charsMax - 1).join('')}…`;
}
