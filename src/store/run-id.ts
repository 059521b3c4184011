/** Ids of runs, which name directories and refs. */

/** The name of a workflow and a number, as `create` makes them. */
const RUN_ID = /^[A-Za-z_][A-Za-z0-9_-]{0,63}-\d{1,16}$/;

export function isRunId(id: unknown): id is string {
  return typeof id === 'string' && RUN_ID.test(id);
}
