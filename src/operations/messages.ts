/** What agents of a run said to each other, and who read it; of a run at work, up to now. */
import type { Messages } from '../contract/report-schema.ts';
import { MessageLog } from '../schedule/history/messages.ts';
import { eventsOf } from '../store/events.ts';
import { findRun, openJournal } from '../run/journal.ts';

export async function messagesOf(options: { cwd: string; run?: string }): Promise<Messages> {
  await using journal = await openJournal(options.cwd);
  const { store } = journal;
  const { id, createdAtMs } = await findRun(journal, options.run);
  const log = new MessageLog();
  for await (const { event, atMs } of eventsOf(store, id, { withoutOutput: true })) log.add(event, atMs);
  const tasks = await store.tasks(id);
  const labels = tasks.flatMap((task) => (task.label === undefined ? [] : [[task.id, task.label]]));
  return {
    run: id,
    startedAtMs: createdAtMs,
    messages: log.messages,
    leftOut: log.leftOut,
    labels: Object.fromEntries(labels) as Record<string, string>,
  };
}
