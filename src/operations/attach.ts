/** A run that another process drives: watched through the journal, and spoken to through it. It drives nothing. */
import { BosunError } from '../contract/errors.ts';
import type { Recorded } from '../contract/event.ts';
import type { Asked } from '../contract/operations.ts';
import { isOpen, type RunView } from '../contract/run.ts';
import { findRun, openJournal, shownState } from '../run/journal.ts';
import type { Request } from '../store/store.ts';
import { fittingAnswer } from './fitting-answer.ts';
import { logs } from './logs.ts';

/** The signal stops the watching; the run goes on. */
export type AttachOptions = Asked<'attach'> & { seen(events: Recorded[]): void };

export interface AttachedRun {
  id: string;
  /** Resolves with the run as it ended; with nothing where the watching was ended first. */
  finished: Promise<RunView | undefined>;
  cancel(mode: 'graceful' | 'now'): Promise<void>;
  /** The run with all its tasks, where none is named. */
  pause(task?: string): Promise<void>;
  unpause(task?: string): Promise<void>;
  /** Says something to the agent of a task. */
  steer(task: string, text: string): Promise<void>;
  /** As a person says it; rejects what does not fit the question. */
  answer(question: string, answer: string | readonly string[]): Promise<void>;
}

export async function attachRun(options: AttachOptions): Promise<AttachedRun> {
  const { cwd, by } = options;
  await using journal = await openJournal(cwd);
  const run = await findRun(journal, options.run);
  const state = await shownState(journal, run);
  if (!isOpen({ state })) throw notAtWork(run.id, state);
  const { id, lastSeq } = run;
  if (options.past)
    for await (const page of logs({ cwd, run: id, withoutOutput: true })) {
      const known = page.filter(({ seq }) => seq <= lastSeq);
      options.seen(known);
      if (known.length < page.length) break;
    }
  const ask = async (request: Request): Promise<void> => {
    await using open = await openJournal(cwd);
    await open.store.request(id, request);
  };
  const answer = async (question: string, said: string | readonly string[]): Promise<void> => {
    await using open = await openJournal(cwd);
    const asked = (await findRun(open, id)).questions.find((each) => each.id === question);
    if (!asked) return; // it was answered, or is not asked any more
    await open.store.request(id, { do: 'answer', question, ...fittingAnswer(asked, said), by });
  };
  const finished = follow(options, id, lastSeq);
  finished.catch(() => {}); // whoever awaits it is told
  return {
    id,
    finished,
    cancel: (mode) => ask({ do: 'cancel', mode, by }),
    pause: (task) => ask({ do: 'pause', by, ...(task !== undefined && { task }) }),
    unpause: (task) => ask({ do: 'unpause', by, ...(task !== undefined && { task }) }),
    steer: (task, text) => ask({ do: 'steer', task, text, by }),
    answer,
  };
}

async function follow(
  { cwd, seen, signal }: AttachOptions,
  run: string,
  afterSeq: number,
): Promise<RunView | undefined> {
  const events = logs({ cwd, run, afterSeq, follow: true, ...(signal && { signal }) });
  for (;;) {
    const next = await events.next();
    if (!next.done) {
      seen(next.value);
      continue;
    }
    if (signal?.aborted) return undefined;
    if (next.value.state === 'interrupted') throw notAtWork(run, next.value.state);
    await using journal = await openJournal(cwd);
    return findRun(journal, run);
  }
}

function notAtWork(id: string, state: string): BosunError {
  const next =
    state === 'interrupted'
      ? `its bosun process is gone; continue with: bosun resume ${id}`
      : `see: bosun report ${id}`;
  return new BosunError('wrong-state', `run ${id} is not at work: it is ${state}; ${next}`);
}
