/** What can be done with a run: its budget, cancel, pause, merge, try again. */
import type { ReactNode } from 'react';
import type { RunAt } from '../film/run-at.ts';

export function RunActions({ at }: { at: RunAt }): ReactNode {
  return <span hidden>{at.run.id}</span>;
}
