/** A service of a run at work, on a free port of loopback, whoever drives the run. It changes nothing. */
import { BosunError } from '../contract/errors.ts';
import type { Recorded } from '../contract/event.ts';
import type { Reading } from '../contract/operations.ts';
import { isOpen, type TaskView } from '../contract/run.ts';
import type { Service } from '../contract/services.ts';
import { didYouMean } from '../base/suggest.ts';
import { openLoopbackDoor } from '../egress/loopback-door.ts';
import { findRun, openJournal, shownState } from '../run/journal.ts';
import { servicePath } from '../store/home.ts';
import { logs } from './logs.ts';

const NAMES_SHOWN_MAX = 20;

export type OpenOptions = Reading<'open'>;

export interface OpenedService extends AsyncDisposable {
  run: string;
  service: string;
  /** Who serves it. */
  task: string;
  /** Of its sandbox. */
  port: number;
  /** Where it is now: `http://…`, or with `tcp` the address alone. */
  url: string;
  /** Resolves when the service is gone, with the reason. */
  ended: Promise<string>;
}

interface Found {
  task: TaskView;
  service: Service;
}

export async function openService(options: OpenOptions): Promise<OpenedService> {
  const { cwd, service: name, tcp: isTcp = false, signal } = options;
  await using journal = await openJournal(cwd);
  const run = await findRun(journal, options.run);
  const state = await shownState(journal, run);
  if (!isOpen({ state }))
    throw new BosunError(
      'wrong-state',
      `run ${run.id} is not at work: it is ${state}, and its services ended with it`,
    );
  const { task, service } = found(run.id, await journal.store.tasks(run.id, { states: ['running'] }), name);
  const socketPath = servicePath(journal.home.run(run.id), name);
  await using undo = new AsyncDisposableStack();
  const door = undo.use(await openLoopbackDoor({ name, socketPath, isTcp }));
  const watching = new AbortController();
  undo.defer(() => watching.abort());
  const over = AbortSignal.any([watching.signal, ...(signal ? [signal] : [])]);
  const ended = untilGone({ cwd, run: run.id, afterSeq: run.lastSeq, signal: over }, task, name);
  ended.catch(() => {}); // whoever awaits it is told
  const all = undo.move();
  return {
    run: run.id,
    service: name,
    task: task.label ?? task.id,
    port: service.port,
    url: isTcp ? door.address : `http://${door.address}`,
    ended,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function found(run: string, tasks: readonly TaskView[], name: string): Found {
  const all = tasks.flatMap((task) => (task.services ?? []).map((service) => ({ task, service })));
  const one = all.find(({ service }) => service.name === name);
  if (one) return one;
  const names = all.map(({ service }) => service.name);
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(', ') || 'none';
  throw new BosunError(
    'not-found',
    `run ${run} has no service ${JSON.stringify(name.slice(0, 100))}${didYouMean(name, names)}; there is now: ${shown}`,
  );
}

/** Whatever ends it: its agent, its attempt, the run, or the engine. */
async function untilGone(
  around: { cwd: string; run: string; afterSeq: number; signal: AbortSignal },
  { id, attempt }: TaskView,
  name: string,
): Promise<string> {
  const why = ({ event }: Recorded): string | undefined => {
    if (event.type !== 'service.gone' && event.type !== 'attempt.finished') return undefined;
    if (event.task !== id || event.attempt !== attempt) return undefined;
    if (event.type === 'attempt.finished') return 'its agent has ended';
    return event.name === name ? event.why : undefined;
  };
  const pages = logs({ ...around, withoutOutput: true, follow: true });
  for (;;) {
    const next = await pages.next();
    if (next.done) return around.signal.aborted ? 'it was closed' : `the run is ${next.value.state}`;
    const reason = next.value.map(why).find((one) => one !== undefined);
    if (reason === undefined) continue;
    await pages.return(undefined as never);
    return reason;
  }
}
