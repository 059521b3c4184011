/** The attempts of a task on the page: how each ended, who did it, what it cost and left behind. */
import type { AttemptReport, TaskReport } from '../../contract/report.ts';
import { formatDuration } from '../../base/units.ts';
import { describeClaim, describeFallback, describeTokens, shortCost } from '../cost-words.ts';
import { type Markup, markup } from './markup.ts';
import { spellControls } from '../text/plain.ts';
import { attemptState, count, glyphOf, shortCommit, toneOf } from '../words.ts';

const FILES_MAX = 100;

export function renderAttempts(task: TaskReport): Markup {
  const hasAgent = task.attempts.some(({ runtime, cost }) => runtime !== null || cost.requests > 0);
  const columns = hasAgent ? 7 : 5;
  const rows = task.attempts.map((attempt) => {
    const state = attemptState(task, attempt);
    const exit = attempt.exit ? `: ${attempt.exit.message}` : '';
    const more = [
      ...aboutAgent(attempt).map((text) => markup`${text}`),
      ...outsideOf(attempt),
      ...attempt.refused.map((entry) => markup`Not kept: ${entry}`),
      ...(attempt.recap
        ? [
            markup`<details><summary>What it was told of the conversation before</summary><pre>${attempt.recap}</pre></details>`,
          ]
        : []),
      ...(attempt.feedback
        ? [
            markup`<details><summary>What the next attempt was told</summary><pre>${attempt.feedback}</pre></details>`,
          ]
        : []),
    ].map((told) => markup`<tr class="told"><td></td><td colspan="${columns - 1}">${told}</td></tr>`);
    const who = hasAgent
      ? markup`<td>${agentOf(attempt)}</td><td class="sum" title="${describeTokens(attempt.cost)}">${shortCost(attempt.cost)}</td>`
      : null;
    return markup`<tr><td>${attempt.n}${attempt.purpose === 'resolve' ? ' · resolves the conflict' : ''}</td><td><span class="mark ${toneOf(state)}">${glyphOf(state)}</span> ${state}${exit}</td>${who}<td>${count(attempt.changedCount, 'file')}</td><td><code>${attempt.snapshot ? shortCommit(attempt.snapshot) : ''}</code></td><td class="time">${attempt.durationMs === null ? '' : formatDuration(attempt.durationMs)}</td></tr>${more}`;
  });
  const who = hasAgent ? markup`<th>Agent</th><th class="sum">Cost</th>` : null;
  return markup`<div class="scroll"><table class="plain"><thead><tr><th>Attempt</th><th>Outcome</th>${who}<th>Changed</th><th>Snapshot</th><th class="time">Time</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function agentOf({ runtime, models, turns, toolCalls }: AttemptReport): string {
  return [
    runtime ?? '',
    models.join(', '),
    turns === null ? '' : `${count(turns, 'turn')}, ${count(toolCalls ?? 0, 'tool call')}`,
  ]
    .filter(Boolean)
    .join(' · ');
}

/** What the table has no column for. */
function aboutAgent(attempt: AttemptReport): string[] {
  const { fallback, error, exit, claim, cost, session, progress } = attempt;
  const isTold = error !== null && exit?.message.includes(error.message);
  const facts = [
    cost.requests > 0 ? `${count(cost.requests, 'request')}, tokens: ${describeTokens(cost)}` : '',
    session === null ? '' : `session ${session}`,
  ].filter(Boolean);
  return [
    ...(fallback ? [describeFallback(fallback)] : []),
    ...(progress
      ? [`Last reported: ${progress.percent === null ? '' : `${progress.percent} % `}${progress.text}`]
      : []),
    ...(error && !isTold ? [`${error.kind}: ${error.message}`] : []),
    ...(claim?.differs ? [describeClaim(attempt)] : []),
    ...(cost.ownLogin > 0 ? ["metered, paid by the agent's own login"] : []),
    ...(facts.length > 0 ? [facts.join(' · ')] : []),
  ];
}

function outsideOf({ outside, outsideCount, snapshot }: AttemptReport): Markup[] {
  if (outsideCount === 0) return [];
  const shown = outside.slice(0, FILES_MAX);
  const left = outsideCount - shown.length;
  const entries = shown.map((entry) => markup`<li>${spellControls(entry)}</li>`);
  return [
    markup`<details open><summary>${count(outsideCount, 'file')} left out, not allowed by the scope; kept in the snapshot <code>${shortCommit(snapshot!)}</code></summary><ul>${entries}</ul>${left > 0 ? markup`<p class="note">and ${count(left, 'more file')}</p>` : null}</details>`,
  ];
}
