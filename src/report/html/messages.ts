/** What agents said to each other, on a timeline of their own: when, who to whom, what, and whether it was read. */
import type { RunReport } from '../../contract/report.ts';
import { formatDuration } from '../../base/units.ts';
import { describeReading, describeRoute, describeUnread } from '../message-words.ts';
import { count, labeller } from '../words.ts';
import { type Markup, markup } from './markup.ts';

const SHOWN_MAX = 200;

/** Null where nobody said anything. */
export function renderMessages(report: RunReport): Markup | null {
  const { messages, messagesLeftOut, run } = report;
  if (messages.length === 0) return null;
  const labelOf = labeller(report);
  const unread = describeUnread(messages, labelOf);
  const rows = messages.slice(0, SHOWN_MAX).map((message) => {
    const time = formatDuration(message.sentAtMs - run.startedAtMs);
    return markup`<li class="card"><p><b>${describeRoute(message, labelOf)}</b> <span class="quiet">${time} · ${describeReading(message)}</span></p><p>${message.text}</p></li>`;
  });
  const left = messages.length + messagesLeftOut - rows.length;
  return markup`${unread === undefined ? null : markup`<p class="note">${unread}</p>`}<ol class="cards">${rows}</ol>${left > 0 ? markup`<p class="note">${count(left, 'later message')} left out.</p>` : null}`;
}
