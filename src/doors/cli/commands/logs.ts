/** `bosun logs` */
import { labelsOf, logs, type ReadTo } from '../../../operations/logs.ts';
import { given, isOn, textOf, type Typed } from '../command.ts';
import { EventLines } from '../event-lines.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { hasColor, painter, writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const asJson = isOn(typed, 'json');
  const [run, task] = [typed.args[0], textOf(typed, 'task')];
  const lines = new EventLines({
    paint: painter(hasColor(process.stdout)),
    withOutput: true,
    // What named its items is not among the events of one task.
    ...(task !== undefined && { labels: await labelsOf({ cwd: process.cwd(), ...given('run', run) }) }),
  });
  const pages = logs({
    cwd: process.cwd(),
    follow: isOn(typed, 'follow'),
    ...given('run', run),
    ...given('task', task),
  });
  let next = await pages.next();
  for (; !next.done; next = await pages.next()) {
    writeOut(
      next.value.map((recorded) => (asJson ? `${safeJson(recorded)}\n` : lines.render(recorded))).join(''),
    );
  }
  const why = whyOf(next.value, isOn(typed, 'follow'));
  if (why !== undefined) writeError(`${why}\n`);
  return 0;
}

/** Why there is no more. */
function whyOf({ run, state }: ReadTo, isFollowed: boolean): string | undefined {
  if (state === 'interrupted')
    return `run ${run}: its bosun process is gone; continue with: bosun resume ${run}`;
  return isFollowed ? `run ${run} has ended: ${state}` : undefined;
}
