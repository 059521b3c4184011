/** `bosun logs` */
import type { Recorded } from '../../../contract/event.ts';
import type { ReadTo } from '../../../contract/outputs.ts';
import type { TaskView } from '../../../contract/run.ts';
import { ask, inputOf } from '../ask.ts';
import { given, isOn, type Typed } from '../command.ts';
import { EventLines } from '../event-lines.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { hasColor, painter, writeError, writeOut } from '../output.ts';

/** Of more tasks the names are not read beforehand: their column may become wider on the way. */
const NAMED_MAX = 200;

export async function run(typed: Typed): Promise<number> {
  const asJson = isOn(typed, 'json');
  const input = inputOf('logs', typed);
  const { run, task } = input;
  const tasks = asJson ? [] : await tasksOf(run, task === undefined ? NAMED_MAX : Number.MAX_SAFE_INTEGER);
  const lines = new EventLines({
    paint: painter(hasColor(process.stdout)),
    withOutput: true,
    names: tasks.filter(({ id, label }) => task === undefined || id === task || label === task).map(nameOf),
    // What named its items is not among the events of one task.
    ...(task !== undefined && { labels: tasks.map((each) => [each.id, nameOf(each)] as const) }),
  });
  const render = (recorded: Recorded): string =>
    asJson ? `${safeJson(recorded)}\n` : lines.render(recorded);
  const end = await ask('logs', input, { seen: (page) => writeOut(page.map(render).join('')) });
  const why = whyOf(end, isOn(typed, 'follow'));
  if (why !== undefined) writeError(`${why}\n`);
  return 0;
}

async function tasksOf(run: string | undefined, limit: number): Promise<TaskView[]> {
  return (await ask('status', { ...given('run', run), limit })).tasks;
}

function nameOf({ id, label = id }: TaskView): string {
  return label;
}

/** Why there is no more. */
function whyOf({ run, state }: ReadTo, isFollowed: boolean): string | undefined {
  if (state === 'interrupted')
    return `run ${run}: its bosun process is gone; continue with: bosun resume ${run}`;
  return isFollowed ? `run ${run} has ended: ${state}` : undefined;
}
