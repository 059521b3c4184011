/** What one task of a run gave: the agent's answer, or what a command printed. Whole, however large it is. */
import type { OutputOf, Reading } from '../contract/operations.ts';
import { findRun, openJournal } from '../run/journal.ts';
import { requireTask } from './find-task.ts';

/** Without an output where it gave nothing. */
export async function readOutput(options: Reading<'output'>): Promise<OutputOf<'output'>> {
  await using journal = await openJournal(options.cwd);
  const { id: run } = await findRun(journal, options.run);
  const { id: task } = await requireTask(run, await journal.store.tasks(run), options.task);
  const events = await journal.store.read(run, { task, withoutOutput: true });
  for (const { event } of events.toReversed())
    if (event.type === 'attempt.finished' && event.output !== undefined) return { output: event.output };
  return {};
}
