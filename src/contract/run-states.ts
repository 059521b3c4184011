/** The states that runs and tasks can be in, as lists: types and schemas follow from them. It loads nothing. */

/** As a journal says it. */
export const RUN_STATES = ['running', 'cancelling', 'done', 'failed', 'cancelled'] as const;
/** As people are told it: see `ShownRunState`. */
export const SHOWN_RUN_STATES = [...RUN_STATES, 'interrupted', 'paused', 'pending'] as const;

export const TASK_STATES = [
  'waiting',
  'ready',
  'running',
  'delayed',
  'asking',
  'merging',
  'expanded',
  'done',
  'failed',
  'skipped',
  'cancelled',
] as const;
