/** How long to wait before a failed task is tried again. Pure: no clock, no chance. */
import { parseDurationMs } from '../../base/units.ts';
import type { Retry } from '../../contract/workflow.ts';

const DELAY_MS_MAX = 600_000;

/** The delay before the next attempt, or undefined when there is none left. `failures` counts the failed ones. */
export function delayBeforeRetryMs(retry: Retry | undefined, failures: number): number | undefined {
  if (!retry || failures >= retry.attempts) return undefined;
  return Math.min(parseDurationMs(retry.backoff) * 2 ** (failures - 1), DELAY_MS_MAX);
}
