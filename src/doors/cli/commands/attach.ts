/** `bosun attach` */
import type { RunView } from '../../../contract/run.ts';
import type { AttachedRun } from '../../../operations/attach.ts';
import { speakTo } from '../../speak-to-run.ts';
import { aroundHere, ask, inputOf } from '../ask.ts';
import { needLines } from '../../../report/text/asked-lines.ts';
import { given, isOn, type Typed } from '../command.ts';
import { exitOf } from '../exit-codes.ts';
import { say } from '../output.ts';
import { isTerminal, openShow, tellReport } from '../watch.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function run(typed: Typed): Promise<number> {
  const end = new AbortController();
  const detach = (): void => end.abort();
  for (const signal of SIGNALS) process.on(signal, detach);
  // A live view is told the past with all else.
  const show = await openShow(typed, isTerminal() ? undefined : given('run', typed.args[0]));
  let attached: AttachedRun;
  let ended: RunView | undefined;
  try {
    const past = isTerminal() && !isOn(typed, 'json');
    attached = await ask('attach', inputOf('attach', typed, { past }), {
      seen: (events) => show.seen(events),
      signal: end.signal,
    });
    if (typed.args[0] === undefined) show.say(`attached to run ${attached.id}`);
    // A live view shows questions and pauses anyway.
    const { id, pending } = attached.run;
    const needs = past ? { id, questions: [], ...given('pending', pending) } : attached.run;
    for (const line of needLines(needs, Date.now())) show.say(line);
    const orSay = (asked: Promise<void>): void => void asked.catch(({ message }: Error) => show.say(message));
    const run = speakTo(attached.id, aroundHere());
    show.attach?.(
      {
        answer: (question, answer) => orSay(run.answer(question, answer)),
        steer: (task, text) => orSay(run.steer(task, text)),
        pause: (task) => orSay(run.pause(task)),
        unpause: (task) => orSay(run.unpause(task)),
      },
      { press: detach, cancel: () => orSay(run.cancel('graceful')) },
    );
    ended = await attached.finished;
  } finally {
    show.close?.();
    for (const signal of SIGNALS) process.off(signal, detach);
  }
  if (!ended) {
    say(`detached; run ${attached.id} continues: bosun attach ${attached.id}, bosun cancel ${attached.id}`);
    return 0;
  }
  if (!isOn(typed, 'json')) await tellReport(attached.id, 'stdout');
  return exitOf(ended);
}
