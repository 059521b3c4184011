/** Goes on with a run that stands still: that failed, was cancelled, or lost the process that drove it. */
import type { ShownRunState } from '../../src/contract/run.ts';
import { ask, runPath } from '../data/api.ts';
import { refreshRun } from '../data/home-store.ts';

export async function goOn(repository: string, run: string): Promise<void> {
  await ask(`${runPath(repository, run)}/resume`, { body: {} });
  refreshRun(repository, run);
}

export function goOnLabel(state: ShownRunState): string {
  return state === 'failed' ? 'Try again' : 'Resume';
}

export function goOnCli(run: string): string {
  return `bosun resume ${run}`;
}
