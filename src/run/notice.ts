/** What a notification says of a run: a title of names alone, and a line of text in which nothing acts. Pure. */
import { cutText } from '../base/cut-text.ts';
import { formatDuration } from '../base/units.ts';
import type { HookQuestion, RunEnded } from '../contract/hook.ts';
import type { Notice } from '../hooks/notification.ts';
import { inOneLine, plainLine } from '../report/text/plain.ts';

const TEXT_CHARS_MAX = 500;

export function noticeOf(input: HookQuestion | RunEnded): Notice {
  const run = plainLine(input.run);
  if (input.type === 'question') {
    const task = plainLine(input.label ?? input.task);
    return {
      title: `bosun: ${run} needs you`,
      text: shortened(`${task}: ${inOneLine(input.text)}`),
      isUrgent: true,
    };
  }
  const { state, because, counts, durationMs, usd } = input;
  const parts = [
    ...(['done', 'failed', 'skipped', 'cancelled'] as const).flatMap((kind) =>
      counts[kind] ? [`${counts[kind]} ${kind}`] : [],
    ),
    formatDuration(durationMs),
    ...(usd === undefined ? [] : [`$${usd.toFixed(2)}`]),
  ];
  const why = because === 'budget' ? ' (budget spent)' : '';
  return { title: `bosun: ${run} ${state}${why}`, text: shortened(parts.join(', ')), isUrgent: false };
}

function shortened(text: string): string {
  return cutText(text, TEXT_CHARS_MAX);
}
