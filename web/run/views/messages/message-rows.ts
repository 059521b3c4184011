/** What agents of a run had said and published by a moment, in the order in which they did. Pure. */
import type { MessageReport } from '../../../../src/contract/report.ts';
import { count } from '../../../../src/report/words.ts';
import { plain, plainText } from '../../../parts/plain.ts';
import type { RunAt } from '../../../film/run-at.ts';

export type MessageRow =
  | { kind: 'message'; atMs: number; task: string; message: MessageReport }
  | { kind: 'publication'; atMs: number; task: string; id: string; text: string; value: string };

const VALUE_CHARS_MAX = 4000;

export function messageRows(at: RunAt): MessageRow[] {
  const rows: MessageRow[] = at
    .report()
    .messages.map((message) => ({ kind: 'message', atMs: message.sentAtMs, task: message.task, message }));
  for (let n = 0; n < at.count; n++) {
    const { event, atMs, seq } = at.events[n]!;
    if (event.type !== 'publication.made') continue;
    const files = event.changedCount > 0 ? ` with ${count(event.changedCount, 'changed file')}` : '';
    rows.push({
      kind: 'publication',
      atMs,
      task: event.task,
      id: String(seq),
      text: `published ${plain(event.name)} version ${event.version}${files}`,
      value: valueOf(event.value),
    });
  }
  return rows.sort((a, b) => a.atMs - b.atMs);
}

function valueOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return plainText(
    text.length <= VALUE_CHARS_MAX ? text : `${text.slice(0, VALUE_CHARS_MAX).toWellFormed()}…`,
  );
}

/** Indented, where a message is JSON and no word of prose. */
export function asJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}
