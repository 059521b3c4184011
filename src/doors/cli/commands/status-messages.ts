/** `bosun status --messages`: who said what to whom in a run, and who has read it. */
import { describeUnread } from '../../../report/message-words.ts';
import { fitColumns } from '../../../report/text/columns.ts';
import { messageLine } from '../../../report/text/message-line.ts';
import { plainLine, safeJson } from '../../../report/text/plain.ts';
import { count } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { columnsOfStream, hasColor, painter, writeError, writeOut } from '../output.ts';

export async function tellMessages(typed: Typed): Promise<number> {
  const said = await ask('messages', inputOf('messages', typed));
  if (isOn(typed, 'json')) {
    writeOut(`${safeJson(said)}\n`);
    return 0;
  }
  const { run, startedAtMs, messages, leftOut, labels } = said;
  if (messages.length + leftOut === 0) {
    writeError(`in run ${run} nobody has sent a message\n`);
    return 0;
  }
  const paint = painter(hasColor(process.stdout));
  const columns = columnsOfStream(process.stdout);
  const labelOf = (task: string): string => labels[task] ?? task;
  const unread = describeUnread(messages, labelOf);
  const lines = [
    `${paint('strong', run)} ${count(messages.length + leftOut, 'message')}`,
    ...messages.map((message) => `  ${fitColumns(messageLine(message, startedAtMs, labelOf), columns - 2)}`),
    ...(leftOut > 0 ? [`  … and ${leftOut} more: bosun logs ${run}`] : []),
    ...(unread === undefined ? [] : [`  ${paint('ask', plainLine(unread))}`]),
  ];
  writeOut(lines.map((line) => `${line}\n`).join(''));
  return 0;
}
