/** The change that an agent asks for in files of others, from the journal: all of it, however little a question shows. */
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { Changes } from '../contract/outputs.ts';
import { PatchReader } from '../report/patch/patch-reader.ts';
import { findRun, openJournal } from '../run/journal.ts';
import { requireTask } from './find-task.ts';

/** The last one that came with a diff. It is in no commit: both ends are the head of the run's branch. */
export async function wantedChange(
  options: Reading<'diff'>,
  write: (piece: Buffer) => Promise<void> | void,
): Promise<Changes> {
  await using journal = await openJournal(options.cwd);
  const run = await findRun(journal, options.run);
  const tasks = await journal.store.tasks(run.id);
  const { id, label = id } = await requireTask(run.id, tasks, options.task!);
  const events = await journal.store.read(run.id, { task: id, withoutOutput: true });
  const asked = events.flatMap(({ event }) =>
    event.type === 'access.requested' && event.patch !== undefined ? [event.patch] : [],
  );
  const patch = asked.at(-1);
  if (patch === undefined)
    throw new BosunError(
      'not-found',
      `task ${label} of run ${run.id} has sent no diff of a change that it wants; see: bosun logs ${run.id} --task ${id}`,
    );
  await write(Buffer.from(patch));
  return { from: run.headCommit, to: run.headCommit, files: filesIn(patch) };
}

/** One diff after the other, each begins with its names. */
function filesIn(patch: string): Changes['files'] {
  const parts = patch.split(/^(?=--- .*\n\+\+\+ )/m).filter((part) => part.startsWith('--- '));
  return parts.map((part) => {
    const [before = '', after = ''] = part.split('\n');
    const name = after.slice(4) === '/dev/null' ? before : after;
    const reader = new PatchReader();
    reader.add(Buffer.from(part));
    const { linesAdded, linesRemoved } = reader.end();
    return { path: name.slice(4).replace(/^[ab]\//, ''), added: linesAdded, deleted: linesRemoved };
  });
}
