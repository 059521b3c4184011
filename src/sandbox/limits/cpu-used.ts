/** How long the processes of a tree have worked, or would have: on a busy machine they wait for their turn. It only looks. */
import { readFileSync } from 'node:fs';
import { ProcessTable } from './process-table.ts';

/** With what those used that have ended; undefined where nothing can be seen: it is gone, or this is not Linux. */
export function cpuUsedMs(rootPid: number): number | undefined {
  if (process.platform !== 'linux' || rootPid === 0) return undefined;
  const tree = new ProcessTable().trees(new Set([rootPid]), performance.now()).get(rootPid);
  return tree?.reduce((sum, { pid, cpuMs, childrenCpuMs }) => sum + cpuMs + childrenCpuMs + waitedMs(pid), 0);
}

/** How long it was ready to run while others had the cores. */
function waitedMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0; // it is gone, or this kernel does not count it
  }
}
