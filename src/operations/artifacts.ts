/** Files that a task kept as artifacts, as the engine copied them: which there are, and what is in one. Follows no link. */
import { closeSync, fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { Artifact, Artifacts } from '../contract/task-outputs.ts';
import { findRun, openJournal } from '../run/journal.ts';
import { openBelow } from '../system/files/below.ts';
import { workOf } from './find-task.ts';

const PIECE_BYTES = 64 * 1024;

interface Kept {
  task: string;
  attempt: number;
  paths: string[];
  /** The run's own directory; and, from there, the one with the files. */
  root: string;
  directory: string;
}

export async function artifactsOf(options: Reading<'artifacts'>): Promise<Artifacts> {
  const { task, attempt, paths, root, directory } = await findKept(options);
  const files = paths.flatMap((path) => {
    const bytes = sizeOf(root, `${directory}/${path}`);
    return bytes === undefined ? [] : [{ path, bytes }];
  });
  return { task, attempt, files };
}

/** Byte for byte, piece by piece; what is added to the file meanwhile does not count. */
export async function streamArtifact({
  write,
  ...options
}: Reading<'artifact'> & { write(piece: Buffer): Promise<void> | void }): Promise<Artifact> {
  const { task, attempt, paths, root, directory } = await findKept(options);
  const { path, signal } = options;
  const none = `attempt ${attempt} of task ${task} kept no artifact ${path}; see: bosun artifacts --task ${task}`;
  if (!paths.includes(path)) throw new BosunError('not-found', none);
  const fd = openKept(root, `${directory}/${path}`, none);
  try {
    const { size } = fstatSync(fd);
    for (let at = 0; at < size;) {
      signal?.throwIfAborted();
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at)); // kept by whoever is written to
      const { bytesRead } = await promisify(read)(fd, piece, 0, piece.length, at);
      if (bytesRead === 0) throw new BosunError('system', `${path} became shorter while it was read`);
      at += bytesRead;
      await write(piece.subarray(0, bytesRead));
    }
    return { task, attempt, path, bytes: size };
  } finally {
    closeSync(fd);
  }
}

/** Of the attempt that is named, else of the last one that left something. */
async function findKept({
  cwd,
  run: name,
  task: named,
  attempt: wanted,
}: Reading<'artifacts'>): Promise<Kept> {
  await using journal = await openJournal(cwd);
  const { id: run } = await findRun(journal, name);
  const { id: task, label = task } = await workOf(run, await journal.store.tasks(run), named);
  const events = await journal.store.read(run, {
    task,
    types: ['attempt.finished'],
    withoutOutput: true,
    valueBytesMax: 0,
  });
  for (const { event } of events.toReversed()) {
    if (event.type !== 'attempt.finished' || !event.collected) continue;
    const { attempt, collected } = event;
    if (wanted !== undefined && attempt !== wanted) continue;
    const root = journal.home.run(run);
    return {
      task: label,
      attempt,
      paths: collected.artifacts,
      root,
      directory: `artifacts/${task}@${attempt}`,
    };
  }
  const what = wanted === undefined ? `task ${label}` : `attempt ${wanted} of task ${label}`;
  throw new BosunError('not-found', `${what} of run ${run} has left nothing yet; see: bosun status ${run}`);
}

/** Undefined where it is not there any more, or is no file. */
function sizeOf(root: string, path: string): number | undefined {
  let fd: number;
  try {
    fd = openBelow(root, path);
  } catch {
    return undefined;
  }
  try {
    return fstatSync(fd).size;
  } finally {
    closeSync(fd);
  }
}

function openKept(root: string, path: string, none: string): number {
  try {
    return openBelow(root, path);
  } catch (error) {
    throw new BosunError('not-found', none, { cause: error });
  }
}
