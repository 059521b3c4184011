/** What a journal says that becomes part of paths: one that came in an archive may say anything, and is damaged then. */
import type { Event } from '../contract/event.ts';
import type { RunView } from '../contract/run.ts';
import { isRunId } from './run-id.ts';
import { damaged } from './sqlite-errors.ts';
import type { Left } from './store.ts';

export function checkedId(file: string, run: unknown): string {
  if (isRunId(run)) return run;
  throw damaged(file, 'the id of a run is malformed');
}

export function checkedView(file: string, view: unknown): RunView {
  checkedId(file, (view as RunView | null)?.id);
  return view as RunView;
}

export function checkedLeft(file: string, run: string, left: unknown): Left {
  const { workspaces, memories } = (left ?? {}) as Partial<Left>;
  for (const names of [workspaces, memories])
    if (!Array.isArray(names) || !names.every(isPlainName))
      throw damaged(file, `what run ${run} left is malformed`);
  return { workspaces: workspaces!, memories: memories! };
}

/** The id of a task may have slashes. */
export function checkTask(file: string, run: string, seq: number, event: Event): void {
  if (!('task' in event) || event.task === undefined) return;
  if (event.task.split('/').includes('..') || event.task.includes('\0'))
    throw damaged(file, `event ${seq} of run ${run} is malformed: its task is a path`);
}

/** What `fileName` makes: it stays in the directory that it is looked up in. */
function isPlainName(name: unknown): boolean {
  return typeof name === 'string' && /^[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,254}$/.test(name);
}
