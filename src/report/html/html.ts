/**
 * The report as one page in one file. It asks nothing of the network and runs no script: its policy allows
 * its own style, by hash, and nothing else, so that what agents wrote stays text even if an escape were missed.
 */
import { formatCount } from '../../base/format-count.ts';
import { createHash } from 'node:crypto';
import type { RunReport } from '../../contract/report.ts';
import { formatDuration } from '../../base/units.ts';
import { describeUnit } from '../../schedule/money/budget-words.ts';
import { describeCost, shortCost } from '../cost-words.ts';
import { renderCosts } from './cost.ts';
import { renderFilm } from './film.ts';
import { renderGraph } from './graph.ts';
import { renderMessages } from './messages.ts';
import { PAGE_STYLE } from './style.ts';
import { TASK_STYLE } from './style-tasks.ts';
import { renderTasks, tasksOnPage } from './tasks.ts';
import { renderTimeline } from './timeline.ts';
import { Markup, markup } from './markup.ts';
import { spellControls } from '../text/plain.ts';
import { count, countStates, glyphOf, headline, labeller, saidBy, shortCommit, toneOf } from '../words.ts';

const STYLE = PAGE_STYLE + TASK_STYLE;

export function renderHtml(report: RunReport): string {
  const anchors = new Map(tasksOnPage(report).map(({ id }, index) => [id, `task-${index + 1}`]));
  const anchorOf = (task: string): string | null => anchors.get(task) ?? null;
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const messages = renderMessages(report);
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${report.run.id} · ${report.run.state}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<main>
${renderHead(report)}
${renderNext(report)}
${section('Graph', renderGraph(report, anchorOf))}
${section('Timeline', renderTimeline(report, anchorOf))}
<div class="pair">${renderQuestions(report)}${renderConflicts(report)}</div>
${messages && section('Messages', messages)}
${section('Tasks', renderTasks(report, anchorOf))}
${renderCosts(report, anchorOf)}
${renderIsolation(report)}
</main>
</body>
</html>
`;
  return page.text;
}

function section(title: string, content: Markup): Markup {
  return markup`<section><h2>${title}</h2>${content}</section>`;
}

function renderHead(report: RunReport): Markup {
  const { run, totals } = report;
  const states = countStates(totals.byState);
  const tile = (label: string, value: string | Markup, detail: string | Markup): Markup =>
    markup`<div class="tile"><dt>${label}</dt><dd>${value}</dd><dd class="detail">${detail}</dd></div>`;
  const lines =
    totals.linesAdded === null
      ? 'lines not counted'
      : markup`<span class="plus">+${formatCount(totals.linesAdded)}</span> <span class="minus">−${formatCount(totals.linesRemoved!)}</span> lines`;
  const inputs = Object.entries(run.inputs).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return markup`<header>
<p class="crumb">${run.name} · ${run.source}</p>
<h1>${run.id} <span class="badge large ${toneOf(run.state)}"><span aria-hidden="true">${glyphOf(run.state)}</span> ${headline(report)}</span></h1>
<p class="lede"><code>${run.branch}</code> at <code>${shortCommit(run.headCommit)}</code>, from <code>${shortCommit(run.baseCommit)}</code> · ${formatDate(run.startedAtMs)}${run.dirty ? ' · started from uncommitted changes' : ''}${inputs.length > 0 ? ` · ${inputs.join(', ')}` : ''}</p>
${renderFilm(report)}
<dl class="tiles">
${tile('Tasks', formatCount(totals.tasks), markup`${states.map(({ state, count }) => markup`<span class="count"><span class="mark ${toneOf(state)}">${glyphOf(state)}</span> ${count} ${state}</span> `)}`)}
${tile('Attempts', formatCount(totals.attempts), `${formatDuration(run.durationMs)} in all`)}
${tile('Files changed', formatCount(totals.changedFiles), lines)}
${tile('Cost', shortCost(totals.cost) || '–', costDetail(report))}
</dl>
</header>`;
}

function costDetail({ totals: { cost }, budgets }: RunReport): string {
  const limits = budgets.find(({ account }) => account === 'run')?.limits ?? [];
  const of =
    limits.length === 0
      ? ''
      : `of ${limits.map(({ unit, limit }) => describeUnit(unit, limit)).join(', ')} · `;
  return of + (cost.tokens === null ? describeCost(cost) : count(cost.tokens, 'token'));
}

function renderNext({ next }: RunReport): Markup | null {
  if (next.length === 0) return null;
  const rows = next.map(({ command, why }) => markup`<li><code>${command}</code><span>${why}</span></li>`);
  return markup`<section class="next"><h2>Next</h2><ul>${rows}</ul></section>`;
}

function renderQuestions(report: RunReport): Markup | null {
  const { questions } = report;
  const labelOf = labeller(report);
  if (questions.length === 0) return null;
  const rows = questions.map((question) => {
    const { task, text, produced, choices, answer, by, note, askedAtMs, answeredAtMs } = question;
    const words = produced.map(
      (each) => markup`<p class="quiet">${each.label ?? each.task}</p><pre>${each.text}</pre>`,
    );
    const waited = answeredAtMs === null ? '' : ` after ${formatDuration(answeredAtMs - askedAtMs)}`;
    const end =
      answeredAtMs === null ? 'no answer yet' : `${answer ?? 'no answer'}, ${saidBy(by ?? '')}${waited}`;
    return markup`<li class="card"><p><b>${text}</b></p>${words}${listed(choices)}<p class="quiet">${labelOf(task)} · ${end}</p>${note === null ? null : markup`<p>${note}</p>`}</li>`;
  });
  return section('Questions', markup`<ul class="cards">${rows}</ul>`);
}

function listed(choices: readonly string[]): Markup | null {
  return choices.length === 0 ? null : markup`<ol>${choices.map((label) => markup`<li>${label}</li>`)}</ol>`;
}

function renderConflicts(report: RunReport): Markup | null {
  const { conflicts } = report;
  const labelOf = labeller(report);
  if (conflicts.length === 0) return null;
  const rows = conflicts.slice(0, 200).map(({ task, files, with: others, resolved }) => {
    const state = resolved === null ? 'failed' : 'done';
    const end = resolved === null ? 'not settled' : `settled by ${resolved}`;
    const left = files.length > 20 ? ` and ${files.length - 20} more` : '';
    return markup`<li class="card"><p><span class="mark ${toneOf(state)}">${glyphOf(state)}</span> <b>${labelOf(task)}</b>${others.length > 0 ? markup` with <b>${others.map(labelOf).join(', ')}</b>` : null}</p><p class="quiet">${end}</p><p>${files.slice(0, 20).map((file) => markup`<code>${spellControls(file)}</code> `)}${left}</p></li>`;
  });
  return section('Conflicts', markup`<ul class="cards">${rows}</ul>`);
}

function renderIsolation({ isolation }: RunReport): Markup | null {
  if (isolation.length === 0) return null;
  return section(
    'Isolation',
    markup`<ul class="notes">${isolation.map((note) => markup`<li>${note}</li>`)}</ul>`,
  );
}

function formatDate(atMs: number): string {
  const words = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${words.format(atMs)} UTC`;
}
