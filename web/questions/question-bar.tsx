/** What a run asks a person, over its film. */
import type { ReactNode } from 'react';
import type { RunAt } from '../film/run-at.ts';

export function QuestionBar({ at }: { at: RunAt }): ReactNode {
  return <span hidden>{at.run.id}</span>;
}
