/** `bosun tasks`: the tasks of a run, or with `--task` what was tried for one. */
import { formatDuration } from '../../../base/units.ts';
import { fitColumns, padColumns } from '../../../report/text/columns.ts';
import { plainLine, safeJson } from '../../../report/text/plain.ts';
import type { TaskState } from '../../../contract/run.ts';
import { glyphOf, toneOf } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, optionText, type Typed } from '../command.ts';
import { columnsOfStream, hasColor, painter, writeError, writeOut } from '../output.ts';

const NAME_COLUMNS_MAX = 40;
/** Of the columns before the message. */
const LEFT_COLUMNS = 16;

export async function run(typed: Typed): Promise<number> {
  if (optionText(typed, 'task') !== undefined) {
    const attempts = await ask('attempts', inputOf('attempts', typed));
    if (isOn(typed, 'json')) for (const each of attempts) writeOut(`${safeJson(each)}\n`);
    else
      tell(
        attempts.map(({ attempt, state, durationMs, changedCount, message }) => {
          const took = durationMs === undefined ? '' : formatDuration(durationMs);
          const left = changedCount === undefined ? '' : `${changedCount} changed`;
          return { state, name: String(attempt), more: [took, left, message] };
        }),
      );
    if (attempts.length === 0) writeError('nothing was tried for this task yet\n');
    return 0;
  }
  const tasks = await ask('tasks', inputOf('tasks', typed));
  if (isOn(typed, 'json')) for (const each of tasks) writeOut(`${safeJson(each)}\n`);
  else
    tell(
      tasks.map(({ id, label = id, state, agent, message }) => ({
        state,
        name: label,
        more: [agent, message],
      })),
    );
  if (tasks.length === 0) writeError('there is no such task\n');
  return 0;
}

interface Row {
  /** An attempt that was lost is made again. */
  state: TaskState | 'lost';
  name: string;
  more: (string | undefined)[];
}

function tell(rows: Row[]): void {
  const paint = painter(hasColor(process.stdout));
  const names = rows.map(({ name }) => fitColumns(plainLine(name), NAME_COLUMNS_MAX));
  const width = Math.max(0, ...names.map((name) => name.length));
  for (const [n, { state, more }] of rows.entries()) {
    const sign = state === 'lost' ? 'delayed' : state;
    const shown = paint(toneOf(sign), padColumns(`${glyphOf(sign)} ${state}`, 12));
    const rest = more.filter((each) => each !== undefined && each !== '').join('  ');
    const room = columnsOfStream(process.stdout) - LEFT_COLUMNS - width;
    writeOut(
      `${shown}  ${padColumns(names[n]!, width)}  ${paint('quiet', fitColumns(plainLine(rest), room))}`.trimEnd() +
        '\n',
    );
  }
}
