/** How much of the processor a tree of processes has used since it began. It only looks. */
import { ProcessTable } from './process-table.ts';

/** With what those used that have ended; undefined where nothing can be seen: it is gone, or this is not Linux. */
export function cpuUsedMs(rootPid: number): number | undefined {
  if (process.platform !== 'linux' || rootPid === 0) return undefined;
  const tree = new ProcessTable().trees(new Set([rootPid]), performance.now()).get(rootPid);
  return tree?.reduce((sum, { cpuMs, childrenCpuMs }) => sum + cpuMs + childrenCpuMs, 0);
}
