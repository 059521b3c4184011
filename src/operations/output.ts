/** What one task of a run gave: the agent's answer, or what a command printed. Whole, however large it is. */
import type { Json } from '../contract/workflow.ts';
import { openJournal } from '../run/journal.ts';

/** Undefined where it gave nothing. */
export async function outputOf(options: {
  cwd: string;
  run: string;
  task: string;
}): Promise<Json | undefined> {
  await using journal = await openJournal(options.cwd);
  const events = await journal.store.read(options.run, { task: options.task, withoutOutput: true });
  for (const { event } of events.toReversed())
    if (event.type === 'attempt.finished' && event.output !== undefined) return event.output;
  return undefined;
}
