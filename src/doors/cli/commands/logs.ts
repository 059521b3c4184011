/** `bosun logs` */
import { BosunError } from '../../../contract/errors.ts';
import type { Recorded } from '../../../contract/event.ts';
import type { FollowedEvent, ReadTo } from '../../../contract/outputs.ts';
import type { TaskView } from '../../../contract/run.ts';
import { ask, inputOf } from '../ask.ts';
import { given, isOn, optionText, type Typed } from '../command.ts';
import { EventLines } from '../../../report/lines/event-lines.ts';
import { safeJson, spellControls } from '../../../report/text/plain.ts';
import { hasColor, painter, writeError, writeOut } from '../output.ts';

/** Of more tasks the names are not read beforehand: their column may become wider on the way. */
const NAMED_MAX = 200;

export async function run(typed: Typed): Promise<number> {
  if (isOn(typed, 'all')) return tellAll(typed);
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

/** Of all runs: each line says of which it is. */
async function tellAll(typed: Typed): Promise<number> {
  const input = inputOf('events', typed);
  if (input.run !== undefined || optionText(typed, 'task') !== undefined)
    throw new BosunError('usage', 'use --all, or name a run or a task, not both');
  const paint = painter(hasColor(process.stdout));
  const linesOf = new Map<string, EventLines>();
  const render = ({ run, ...recorded }: Recorded): string => {
    let lines = linesOf.get(run);
    if (!lines) linesOf.set(run, (lines = new EventLines({ paint, withOutput: true })));
    const text = lines.render({ run, ...recorded });
    return text.replaceAll(/^(?=.)/gm, paint('quiet', `${spellControls(run)} `));
  };
  const seen = (events: FollowedEvent[]): void =>
    writeOut(events.map((each) => (isOn(typed, 'json') ? `${safeJson(each)}\n` : render(each))).join(''));
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  await ask('events', input, { seen, signal: interrupted.signal });
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
