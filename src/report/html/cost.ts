/** The part of the page on money: what each task used of models, and what is to be said about it. */
import { formatCount } from '../../base/format-count.ts';
import type { Cost, RunReport, TaskReport } from '../../contract/report.ts';
import { sumCosts } from '../../schedule/money/cost.ts';
import { costNotes, fallbackTexts, shortCost } from '../cost-words.ts';
import { type Markup, markup } from './markup.ts';
import { count } from '../words.ts';

const TASKS_MAX = 100;
const NOTES_MAX = 200;

export function renderCosts(report: RunReport, anchorOf: (task: string) => string | null): Markup | null {
  const notes = [
    ...costNotes(report),
    ...fallbackTexts(report).map(({ task, text }) => `${task} ${text}`),
  ].slice(0, NOTES_MAX);
  const { cost } = report.totals;
  if (cost.requests === 0 && notes.length === 0) return null;
  const list =
    notes.length === 0
      ? null
      : markup`<ul class="notes">${notes.map((note) => markup`<li>${note}</li>`)}</ul>`;
  return markup`<section><h2>Cost</h2>${cost.requests === 0 ? null : renderTable(report, anchorOf)}${list}</section>`;
}

function renderTable({ tasks, totals }: RunReport, anchorOf: (task: string) => string | null): Markup {
  // Of each only its own attempts: what is within it has rows of its own.
  const used = tasks.filter(({ attempts }) => attempts.some(({ cost }) => cost.requests > 0));
  const dearest = new Set(used.toSorted((a, b) => b.cost.usdKnown - a.cost.usdKnown).slice(0, TASKS_MAX));
  const rows = used.filter((task) => dearest.has(task)).map((task) => row(task, anchorOf(task.id)));
  const left = used.length - dearest.size;
  const head = ['Requests', 'Input', 'Output', 'Cache read', 'Cache write', 'Cost'];
  return markup`<div class="costs scroll"><table class="plain"><thead><tr><th>Task</th><th>Model</th>${head.map((name) => markup`<th class="sum">${name}</th>`)}</tr></thead><tbody>${rows}</tbody><tfoot><tr><td>All</td><td></td>${cells(totals.cost)}</tr></tfoot></table>${left > 0 ? markup`<p class="note">The dearest; ${count(left, 'other task')} left out.</p>` : null}</div>`;
}

function row(task: TaskReport, anchor: string | null): Markup {
  const cost = sumCosts(task.attempts.map((attempt) => attempt.cost));
  const models = [...new Set(task.attempts.flatMap((attempt) => attempt.models))];
  const name = anchor === null ? markup`${task.label}` : markup`<a href="#${anchor}">${task.label}</a>`;
  return markup`<tr><td>${name}</td><td>${models.join(', ')}</td>${cells(cost)}</tr>`;
}

function cells({ requests, tokensByKind, ...cost }: Cost): Markup[] {
  const { input, output, cacheRead, cacheWrite } = tokensByKind;
  const counts = [requests, input, output, cacheRead, cacheWrite].map((number) => formatCount(number));
  return [...counts, shortCost({ ...cost, requests, tokensByKind })].map(
    (text) => markup`<td class="sum">${text}</td>`,
  );
}
