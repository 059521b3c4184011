/** `bosun work`: lines on stderr, or NDJSON, about each run of the queue that starts or ends here. */
import type { LiveRun } from '../../../operations/run.ts';
import { plainLine, safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { exitOf } from '../exit-codes.ts';
import { Interrupts } from '../interrupts.ts';
import { say, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const asJson = isOn(typed, 'json');
  const stop = new AbortController();
  const begun = new Set<LiveRun>();
  using interrupts = new Interrupts((text) => say(text));
  interrupts.attach({
    cancel(mode) {
      stop.abort();
      for (const live of begun) live.cancel(mode);
    },
  });
  let isAny = false;
  const { done, failed, cancelled } = await ask('work', inputOf('work', typed), {
    signal: stop.signal,
    begun(live) {
      isAny = true;
      begun.add(live);
      live.finished.then(
        () => begun.delete(live),
        () => begun.delete(live),
      );
    },
    told: (told) => (asJson ? writeOut(`${safeJson(told)}\n`) : say(tell(told))),
  });
  if (!asJson) say(isAny ? tellEnd({ done, failed, cancelled }) : 'no run waits in the queue');
  if (stop.signal.aborted) return exitOf({ state: 'cancelled' });
  return failed + cancelled > 0 ? exitOf({ state: 'failed' }) : 0;
}

function tellEnd(ended: Record<string, number>): string {
  const counts = Object.entries(ended).filter(([, count]) => count > 0);
  const all = counts.map(([state, count]) => `${count} ${state}`).join(', ') || 'none has ended';
  return `nothing is left to do here: ${all}; see: bosun history`;
}

function tell({ run, state, why }: { run: string; state: string; why?: string }): string {
  if (why !== undefined && state !== 'running')
    return `run ${run} is ${state} and was left out: ${plainLine(why)}`;
  if (why !== undefined)
    return `run ${run} was not started: ${plainLine(why)}; once that is fixed: bosun resume ${run}`;
  return state === 'running'
    ? `run ${run} started; watch it with: bosun attach ${run}`
    : `run ${run} is ${state}; see: bosun report ${run}`;
}
