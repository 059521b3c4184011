/** What a run changed. */
import { BosunError } from '../contract/errors.ts';
import type { Recorded } from '../contract/event.ts';
import type { Reading } from '../contract/operations.ts';
import type { Changes } from '../contract/outputs.ts';
import { openEngineGit, type EngineGit } from '../system/git/engine-git.ts';
import { requireObjects } from '../system/git/hold-objects.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { AttemptBases } from './attempt-bases.ts';
import { workOf } from './find-task.ts';
import { findRun, openJournal } from '../run/journal.ts';
import { wantedChange } from './wanted-change.ts';

type DiffOptions = Reading<'diff'>;

export interface Diff extends Changes {
  patch: Buffer;
}

export async function diffOf(options: DiffOptions): Promise<Diff> {
  const pieces: Buffer[] = [];
  const changes = await streamDiff(options, (piece) => void pieces.push(piece));
  return { ...changes, patch: Buffer.concat(pieces) };
}

/** The patch goes to `write` piece by piece, however large it is; then come the files and how many lines. */
export async function streamDiff(
  { range, ...options }: DiffOptions & { range?(from: string, to: string): void },
  write: (piece: Buffer) => Promise<void> | void,
): Promise<Changes> {
  if (options.wanted) return wantedChange(options, write);
  const { git, from, to } = await findRange(options);
  range?.(from, to);
  const { path } = options;
  if (path === undefined) {
    await git.streamDiff(from, to, write, options.signal);
    return { from, to, files: await filesOf(git, from, to) }; // not for whoever has stopped reading before
  }
  const files = only(path, await filesOf(git, from, to));
  await git.streamDiff(from, to, write, options.signal, [path]);
  return { from, to, files };
}

/** The files and how many lines, without a patch. */
export async function changesOf(options: DiffOptions): Promise<Changes> {
  if (options.wanted) return wantedChange(options, () => {});
  const { git, from, to } = await findRange(options);
  const files = await filesOf(git, from, to);
  return { from, to, files: options.path === undefined ? files : only(options.path, files) };
}

function only(path: string, files: Changes['files']): Changes['files'] {
  const found = files.filter((file) => file.path === path);
  if (found.length > 0) return found;
  throw new BosunError(
    'not-found',
    `${path} is not among the ${files.length} files that were changed; see them with: bosun diff --stat`,
  );
}

async function findRange(options: DiffOptions): Promise<{ git: EngineGit; from: string; to: string }> {
  await using journal = await openJournal(options.cwd);
  const run = await findRun(journal, options.run);
  const git = await openEngineGit(await inspectRepository(journal.home.top));
  await requireObjects(git, run.baseCommit, `run ${run.id}`);
  options.signal?.throwIfAborted();
  const { id: task, label = task } =
    options.task === undefined ? {} : await workOf(run.id, await journal.store.tasks(run.id), options.task);
  const [from, to] =
    task === undefined
      ? [run.baseCommit, run.headCommit]
      : rangeOf(await journal.store.read(run.id, { task, withoutOutput: true, valueBytesMax: 0 }), run.id, {
          ...options,
          task,
          label: label ?? task,
        });
  return { git, from, to };
}

async function filesOf(git: EngineGit, from: string, to: string): Promise<Changes['files']> {
  return (await git.numstat(from, to)).map(({ path, added, deleted }) => ({
    path: path.toString(),
    added: added ?? null,
    deleted: deleted ?? null,
  }));
}

function rangeOf(
  events: Recorded[],
  run: string,
  { task, label, attempt, outside = false }: DiffOptions & { task: string; label: string },
): [string, string] {
  if (events.length === 0)
    throw new BosunError(
      'not-found',
      `task ${label} of run ${run} has not started; see: bosun status ${run}`,
    );
  const bases = new AttemptBases();
  let range: [string, string] | undefined;
  for (const { event } of events) {
    bases.add(event);
    const base = bases.of(task);
    if (event.type !== 'attempt.finished' || !event.collected || base === undefined) continue;
    if (attempt !== undefined && event.attempt !== attempt) continue;
    const { commit, outside: left } = event.collected;
    // what was left out before a conflict was settled is still left out
    if (outside && !left && range && bases.isSettling(task)) continue;
    range = outside ? [commit, left?.snapshot ?? commit] : [base, commit];
  }
  if (range) return range;
  const what = attempt === undefined ? `task ${label}` : `attempt ${attempt} of task ${label}`;
  throw new BosunError(
    'not-found',
    `${what} of run ${run} has left nothing yet; see: bosun logs ${run} --task ${task}`,
  );
}
