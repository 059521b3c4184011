/** One message between agents as a line for a terminal. Never lets an agent's bytes through. */
import { formatDuration } from '../../base/units.ts';
import type { MessageReport } from '../../contract/report.ts';
import { describeReading, describeRoute } from '../message-words.ts';
import { inOneLine, plainLine } from './plain.ts';

export function messageLine(
  message: MessageReport,
  startedAtMs: number,
  labelOf: (task: string) => string,
): string {
  const time = formatDuration(message.sentAtMs - startedAtMs).padStart(6);
  const route = plainLine(describeRoute(message, labelOf));
  return `${time}  ${route}  (${plainLine(describeReading(message))})  ${inOneLine(message.text)}`;
}
