/** `bosun agents` */
import { padColumns } from '../../../report/text/columns.ts';
import { plainLine, safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const agents = await ask('agents', inputOf('agents', typed));
  if (isOn(typed, 'json')) for (const each of agents) writeOut(`${safeJson(each)}\n`);
  else for (const line of linesOf(agents)) writeOut(`${line}\n`);
  if (agents.length === 0) writeError('the run has no agents: its tasks are plain commands\n');
  return 0;
}

type Agent = Awaited<ReturnType<typeof ask<'agents'>>>[number];

function linesOf(agents: readonly Agent[]): string[] {
  const rows = agents.map(({ state, role, run, task, label = task, parent, message }) => [
    state,
    plainLine(role),
    label === undefined ? '(not taken by an engine yet)' : `${run}/${plainLine(label)}`,
    parent === undefined ? '' : `child of ${plainLine(parent)}`,
    message === undefined ? '' : plainLine(message),
  ]);
  const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows.map((row) =>
    row
      .map((cell, at) => padColumns(cell, widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
