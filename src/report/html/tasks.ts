/** The part of the page for each task: what it was, its attempts, what they printed and changed. */
import type { RunReport, TaskReport } from '../../contract/report.ts';
import { formatDuration } from '../../base/units.ts';
import { renderAttempts } from './attempts.ts';
import { shortCost } from '../cost-words.ts';
import { renderDiff, renderLines } from './diff.ts';
import { shareOut } from '../limits.ts';
import { type Markup, markup } from './markup.ts';
import { spellControls } from '../text/plain.ts';
import {
  changedCountOf,
  count,
  describeAccess,
  describeDenied,
  describeService,
  failuresOf,
  glyphOf,
  reasonOf,
  shortCommit,
  toneOf,
  attemptsMs,
} from '../words.ts';

const TASKS_MAX = 2_000;
const DIFF_LINES = { inAll: 30_000, each: 2_000 };
const FILES_MAX = 100;
const OPEN_MAX = 3;

/** The tasks that the page has room for: all, or those that failed and as many others. */
export function tasksOnPage({ tasks }: RunReport): TaskReport[] {
  if (tasks.length <= TASKS_MAX) return tasks;
  const failed = tasks.filter(({ state }) => state === 'failed');
  const kept = new Set([...new Set([...failed, ...tasks])].slice(0, TASKS_MAX));
  return tasks.filter((task) => kept.has(task));
}

export function renderTasks(report: RunReport, anchorOf: (task: string) => string | null): Markup {
  const tasks = tasksOnPage(report);
  const shares = shareOut(
    tasks.map(({ diff }) => diff?.patch.split('\n').length ?? 0),
    DIFF_LINES.inAll,
    DIFF_LINES.each,
  );
  const opened = new Set(failuresOf({ tasks }).slice(0, OPEN_MAX));
  const rows = tasks.map((task, index) =>
    renderTask(task, shares[index]!, anchorOf(task.id)!, opened.has(task)),
  );
  const left = report.tasks.length - tasks.length;
  return markup`${filters(tasks)}<div class="tasks">${rows}</div>${left > 0 ? markup`<p class="note">${count(left, 'more task')} left out of this page; the JSON report has all.</p>` : null}`;
}

/** Without a script: the page's style hides what the chosen one does not want. */
function filters(tasks: TaskReport[]): Markup {
  const failed = tasks.filter(({ state }) => state === 'failed').length;
  const changed = tasks.filter((task) => changedCountOf(task) > 0).length;
  const choice = (id: string, label: string, number: number, isChosen: boolean): Markup =>
    markup`<input type="radio" name="show" id="show-${id}"${isChosen ? markup` checked` : null}><label for="show-${id}">${label} <span>${number}</span></label>`;
  return markup`<div class="filters" role="radiogroup" aria-label="Which tasks to show">${choice('all', 'All', tasks.length, true)}${choice('failed', 'Failed', failed, false)}${choice('changed', 'Changed files', changed, false)}</div>`;
}

function renderTask(task: TaskReport, diffLines: number, anchor: string, isOpen: boolean): Markup {
  const files = changedCountOf(task);
  const ms = attemptsMs(task);
  const depth = Math.min(3, task.id.split(/\/|\.(?=\d+$)/).length - 1);
  const facts = [
    task.group === null ? (task.agent ?? '') : task.group,
    task.attempts.length > 1 ? count(task.attempts.length, 'attempt') : '',
    files > 0 ? count(files, 'file') : '',
    shortCost(task.cost),
  ].filter(Boolean);
  return markup`<details class="task ${toneOf(task.state)} depth-${depth}${task.state === 'failed' ? ' is-failed' : ''}${files > 0 ? ' is-changed' : ''}"${isOpen ? markup` open` : null}><summary><span class="badge ${toneOf(task.state)}"><span aria-hidden="true">${glyphOf(task.state)}</span> ${task.state}</span><span class="who"><b>${task.label}</b><span class="title">${task.title}</span></span><span class="facts">${facts.join(' · ')}</span>${task.diff ? renderLines(task.diff.linesAdded, task.diff.linesRemoved) : markup`<span class="delta"></span>`}<span class="time">${ms === null ? '' : formatDuration(ms)}</span></summary><div class="body" id="${anchor}">${renderBody(task, diffLines)}</div></details>
`;
}

function renderBody(task: TaskReport, diffLines: number): Markup {
  const why = task.state === 'asking' ? (task.message ?? '') : reasonOf(task);
  const facts = [
    ...(task.needs.length > 0 ? [markup`<div><dt>Needs</dt><dd>${task.needs.join(', ')}</dd></div>`] : []),
    ...(task.agent === null ? [] : [markup`<div><dt>Agent</dt><dd>${task.agent}</dd></div>`]),
    ...(task.commit === null
      ? []
      : [markup`<div><dt>Commit</dt><dd><code>${shortCommit(task.commit)}</code></dd></div>`]),
  ];
  const sections = [
    why === '' ? null : markup`<p class="callout ${toneOf(task.state)}">${why}</p>`,
    facts.length === 0 ? null : markup`<dl class="meta">${facts}</dl>`,
    task.attempts.length === 0 ? null : markup`<h3>Attempts</h3>${renderAttempts(task)}`,
    renderAccess(task),
    renderServices(task),
    renderDenied(task),
    renderFiles(task),
    task.result === null ? null : markup`<h3>Result</h3><pre>${spellControls(task.result.summary)}</pre>`,
    task.output === null ? null : markup`<h3>Output</h3><pre>${JSON.stringify(task.output, null, 2)}</pre>`,
    renderLog(task),
    task.diff === null || task.diff.files === 0
      ? null
      : markup`<h3>Changes</h3>${renderDiff(task.diff, diffLines)}`,
  ].filter((section) => section !== null);
  return sections.length === 0
    ? markup`<p class="note">Nothing to show: it has not run.</p>`
    : markup`${sections}`;
}

function renderAccess({ access }: TaskReport): Markup | null {
  if (access.length === 0) return null;
  const entries = access.map((asked) => {
    const patch =
      asked.patch === undefined
        ? null
        : markup`<details><summary>What it wanted to change</summary><pre>${spellControls(asked.patch)}</pre></details>`;
    return markup`<li>${spellControls(describeAccess(asked))}${patch}</li>`;
  });
  return markup`<h3>Access</h3><ul>${entries}</ul>`;
}

function renderServices({ services = [] }: TaskReport): Markup | null {
  if (services.length === 0) return null;
  const entries = services.map((each) => markup`<li>${spellControls(describeService(each))}</li>`);
  return markup`<h3>Services</h3><ul>${entries}</ul>`;
}

function renderDenied({ denied, deniedLeftOut }: TaskReport): Markup | null {
  if (denied.length === 0) return null;
  const entries = denied.map((each) => markup`<li>${spellControls(describeDenied(each))}</li>`);
  return markup`<h3>Denied connections</h3><ul>${entries}</ul>${deniedLeftOut > 0 ? markup`<p class="note">and ${deniedLeftOut} more</p>` : null}`;
}

function renderFiles(task: TaskReport): Markup | null {
  const last = task.attempts.findLast(({ snapshot }) => snapshot !== null);
  if (!last || last.changedCount === 0) return null;
  const shown = last.changed.slice(0, FILES_MAX);
  const entries = shown.map(
    ({ path, change }) =>
      markup`<li><span class="change ${change}">${change}</span> <code>${spellControls(path)}</code></li>`,
  );
  const left = last.changedCount - shown.length;
  const artifacts = last.artifacts
    .slice(0, FILES_MAX)
    .map((path) => markup`<li><span class="change">artifact</span> <code>${spellControls(path)}</code></li>`);
  return markup`<h3>Files</h3><ul class="files">${entries}${artifacts}</ul>${left > 0 ? markup`<p class="note">and ${count(left, 'more file')}</p>` : null}`;
}

function renderLog({ log, attempts }: TaskReport): Markup | null {
  if (log.lines.length === 0) return null;
  let last = attempts.length > 1 ? 0 : log.lines[0]!.attempt;
  const lines = log.lines.map(({ attempt, stream, text }) => {
    const head =
      attempt === last
        ? null
        : markup`<span class="turn">attempt ${attempt}</span>
`;
    last = attempt;
    return markup`${head}<span class="${stream}">${text}</span>
`;
  });
  const left =
    log.linesLeftOut > 0
      ? markup`<p class="note">${count(log.linesLeftOut, 'earlier line')} left out; <code>bosun logs</code> shows all.</p>`
      : null;
  return markup`<h3>Log</h3>${left}<pre class="log">${lines}</pre>`;
}
