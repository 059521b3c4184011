/** The views of a run at a moment: its graph and all others. */
import type { ReactNode } from 'react';
import type { RunAt } from '../../film/run-at.ts';

export interface MiddleViewsProps {
  at: RunAt;
  chosen: string | undefined;
  choose(task: string): void;
  wind(atMs: number): void;
}

export function MiddleViews({ at }: MiddleViewsProps): ReactNode {
  return <span hidden>{at.run.id}</span>;
}
