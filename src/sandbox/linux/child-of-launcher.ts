/** Finds the one child that a launcher has: the first process of what it holds. */
import { readFileSync } from 'node:fs';

export function childOfLauncher(pid: number): number | undefined {
  try {
    const first = Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1'), 10);
    return Number.isNaN(first) ? undefined : first;
  } catch {
    return undefined;
  }
}
