/** `bosun logs` */
import type { Recorded } from '../../../contract/event.ts';
import type { ReadTo } from '../../../contract/outputs.ts';
import { ask, inputOf } from '../ask.ts';
import { given, isOn, type Typed } from '../command.ts';
import { EventLines } from '../event-lines.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { hasColor, painter, writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const asJson = isOn(typed, 'json');
  const input = inputOf('logs', typed);
  const { run, task } = input;
  const lines = new EventLines({
    paint: painter(hasColor(process.stdout)),
    withOutput: true,
    // What named its items is not among the events of one task.
    ...(task !== undefined && { labels: await labelsOf(run) }),
  });
  const render = (recorded: Recorded): string =>
    asJson ? `${safeJson(recorded)}\n` : lines.render(recorded);
  const end = await ask('logs', input, { seen: (page) => writeOut(page.map(render).join('')) });
  const why = whyOf(end, isOn(typed, 'follow'));
  if (why !== undefined) writeError(`${why}\n`);
  return 0;
}

/** What people call the tasks of a run, by id, where that is not the id itself. */
async function labelsOf(run: string | undefined): Promise<Map<string, string>> {
  const { tasks } = await ask('status', { ...given('run', run), limit: Number.MAX_SAFE_INTEGER });
  return new Map(tasks.flatMap(({ id, label }) => (label === undefined ? [] : [[id, label]])));
}

/** Why there is no more. */
function whyOf({ run, state }: ReadTo, isFollowed: boolean): string | undefined {
  if (state === 'interrupted')
    return `run ${run}: its bosun process is gone; continue with: bosun resume ${run}`;
  return isFollowed ? `run ${run} has ended: ${state}` : undefined;
}
