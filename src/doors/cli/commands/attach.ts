/** `bosun attach` */
import { attachRun } from '../../../operations/attach.ts';
import { given, type Typed } from '../command.ts';
import { exitOf } from '../exit-codes.ts';
import { say } from '../output.ts';
import { isTerminal, openShow, tellReport } from '../watch.ts';

export async function run(typed: Typed): Promise<number> {
  const end = new AbortController();
  const detach = (): void => end.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, detach);
  const show = await openShow(typed);
  try {
    const attached = await attachRun({
      cwd: process.cwd(),
      ...given('run', typed.args[0]),
      past: isTerminal(),
      seen: (events) => show.seen(events),
      signal: end.signal,
    });
    if (typed.args[0] === undefined) show.say(`attached to run ${attached.id}`);
    const orSay = (asked: Promise<void>): void => void asked.catch(({ message }: Error) => show.say(message));
    show.attach?.(
      { answer: (question, answer) => orSay(attached.answer(question, answer)) },
      { press: detach, cancel: () => orSay(attached.cancel('graceful')) },
    );
    const ended = await attached.finished;
    show.close?.();
    if (!ended) {
      say(`detached; run ${attached.id} continues: bosun attach ${attached.id}, bosun cancel ${attached.id}`);
      return 0;
    }
    if (typed.options.json !== true) await tellReport(attached.id, 'stdout');
    return exitOf(ended);
  } finally {
    show.close?.();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, detach);
  }
}
