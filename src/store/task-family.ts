/** Which events of a journal belong to a task and to the tasks within it, as a condition of a query. It reads nothing. */

/**
 * Ids of tasks within `a` begin with `a.` or `a/`, names of what it asks with `a+`; `0` comes right after `/`. Answers
 * name their question alone.
 */
export const IN_FAMILY = `(
  task = ? OR (task >= ? AND task < ?) OR (
    type = 'question.answered' AND (
      body ->> 'id' = ? OR (body ->> 'id' >= ? AND body ->> 'id' < ?) OR (body ->> 'id' >= ? AND body ->> 'id' < ?)
    )
  )
)`;

/** What the condition asks for, in its order. */
export function familyOf(task: string): string[] {
  const within = [`${task}.`, `${task}0`];
  return [task, ...within, task, ...within, `${task}+`, `${task},`];
}
