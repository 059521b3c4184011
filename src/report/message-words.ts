/** What agents said to each other, in words for people. It makes nothing harmless: whoever prints it does. */
import type { MessageReport } from '../contract/report.ts';
import { count } from './words.ts';
import { unreadCounts } from '../schedule/history/messages.ts';

const NAMES_SHOWN_MAX = 5;

type LabelOf = (task: string) => string;

/** `plan → review`, or `plan → all (build, review)` where that says more. */
export function describeRoute({ task, to, readers }: MessageReport, labelOf: LabelOf): string {
  const names = readers.map((reader) => labelOf(reader.task));
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(', ');
  const more = names.length > NAMES_SHOWN_MAX ? `, and ${names.length - NAMES_SHOWN_MAX} more` : '';
  return `${labelOf(task)} → ${to}${shown === '' || shown === to ? '' : ` (${shown}${more})`}`;
}

/** `read`, `unread`, `read by 1 of 2`, or why it was not sent. */
export function describeReading({ readers, refused, urgent }: MessageReport): string {
  const isRead = readers.filter(({ readAtMs }) => readAtMs !== null).length;
  const reading =
    refused !== null
      ? `not sent: ${refused}`
      : isRead === readers.length
        ? 'read'
        : isRead === 0
          ? 'unread'
          : `read by ${isRead} of ${readers.length}`;
  return urgent ? `urgent, ${reading}` : reading;
}

/** `3 messages were never read: review 2, build 1`; nothing where all were. */
export function describeUnread(messages: readonly MessageReport[], labelOf: LabelOf): string | undefined {
  const counts = [...unreadCounts(messages)];
  if (counts.length === 0) return undefined;
  const sum = counts.reduce((all, [, each]) => all + each, 0);
  const names = counts.slice(0, NAMES_SHOWN_MAX).map(([task, each]) => `${labelOf(task)} ${each}`);
  const more = counts.length > NAMES_SHOWN_MAX ? ', …' : '';
  return `${count(sum, 'message')} unread: ${names.join(', ')}${more}`;
}
