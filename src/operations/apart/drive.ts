/**
 * A program of its own: begins the run that it is told on stdin, says over a pipe which one that is, and drives it to
 * its end. Nobody watches it; who wants to can attach.
 */
import { closeSync, writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { machineError } from '../../base/machine-failure.ts';
import { BosunError } from '../../contract/errors.ts';
import { workflow } from '../../definition/builder.ts';
import { usersConfig } from '../../definition/config.ts';
import { checkFile, topOf } from '../check.ts';
import { execTask } from '../exec.ts';
import { resumeRun, startRun, type LiveRun, type ResumeOptions } from '../run.ts';
import { INLINE } from '../trust.ts';
import { requireOwnFile } from './own-file.ts';
import type { Order, SaidByProcess } from './start.ts';

const PIPE = 3;

export async function driveApart(): Promise<void> {
  process.stderr.on('error', () => {}); // whoever read it is gone
  process.on('SIGHUP', () => {}); // a terminal is none of ours
  const order = JSON.parse(await text(process.stdin)) as Order;
  let live: LiveRun | undefined;
  let isEnding = false;
  const end = (): void => {
    if (!live) process.exit();
    live.cancel(isEnding ? 'now' : 'graceful');
    isEnding = true;
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  try {
    const begun = await begin(order);
    live = begun.live;
    const isHeard = tell({ run: live.id, notes: [...begun.warnings, ...live.notes] });
    // With its key whoever asked can still find it.
    if (!isHeard && !order.once) live.cancel('now');
  } catch (error) {
    tell({ error: errorOf(error) });
    process.exitCode = 1;
    return;
  }
  await live.finished;
}

async function begin(order: Order): Promise<{ live: LiveRun; warnings: string[] }> {
  const { file, workflow: source, prompt, resume, once, ...rest } = order;
  const { cwd } = rest;
  const common = { ...rest, ...(once && { once }) };
  if (resume !== undefined) return { live: await goOn({ ...rest, run: resume }), warnings: [] };
  if (prompt !== undefined) return { live: await execTask({ ...common, prompt }), warnings: [] };
  if (source !== undefined) {
    const { users } = usersConfig(undefined);
    const built = workflow(source, { directory: cwd, users, within: topOf(cwd) ?? cwd });
    return { live: await startRun({ ...common, workflow: built, source: INLINE }), warnings: [] };
  }
  if (file !== undefined) requireOwnFile(cwd, file);
  const checked = await checkFile({ ...rest, ...(file !== undefined && { file }) });
  const live = await startRun({ ...common, workflow: checked.workflow, source: checked.file });
  return { live, warnings: checked.warnings };
}

/** Until that is in the journal nobody else sees that it goes on. */
async function goOn(options: ResumeOptions): Promise<LiveRun> {
  const { promise: isNoted, resolve } = Promise.withResolvers<void>();
  const live = await resumeRun({ ...options, seen: () => resolve() });
  await Promise.race([isNoted, live.finished]);
  return live;
}

/** False where nobody listens any more. */
function tell(said: SaidByProcess): boolean {
  try {
    const line = Buffer.from(`${JSON.stringify(said)}\n`);
    for (let at = 0; at < line.length;) at += writeSync(PIPE, line, at);
    return true;
  } catch {
    return false;
  } finally {
    closeSync(PIPE);
  }
}

function errorOf(error: unknown): Extract<SaidByProcess, { error: unknown }>['error'] {
  const known = error instanceof BosunError ? error : machineError(error);
  if (known) return { code: known.code, message: known.message, data: known.data };
  return { message: error instanceof Error ? error.message : String(error) };
}
