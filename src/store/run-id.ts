/** Ids of runs, which name directories and refs: a journal that came in an archive may say anything. */

/** The name of a workflow and a number, as `create` makes them. */
const RUN_ID = /^[A-Za-z_][A-Za-z0-9_-]{0,63}-\d{1,16}$/;

export function isRunId(id: unknown): id is string {
  return typeof id === 'string' && RUN_ID.test(id);
}

/** What `fileName` makes: it stays in the directory that it is looked up in. */
export function isPlainName(name: unknown): name is string {
  return typeof name === 'string' && /^[A-Za-z0-9_@-][A-Za-z0-9._@-]{0,254}$/.test(name);
}

/** Whether a task's id, which may have slashes, leads out of the directory that it is looked up in. */
export function leadsOut(task: string): boolean {
  return task.split('/').includes('..') || task.includes('\0');
}
