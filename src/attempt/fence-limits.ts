/** What a workflow allows an attempt of memory, processes, disk and the like, in numbers: the fence holds it. */
import { parseSizeBytes } from '../base/units.ts';
import type { Agent } from '../contract/workflow.ts';
import type { FenceLimits } from '../system/process/fence.ts';

/** More than any build needs, and few enough for the machine to stay usable while a fork bomb meets it. */
const PROCESSES_DEFAULT = 4096;

export function fenceLimits(limits: NonNullable<Agent['limits']>): FenceLimits {
  const { memory, processes = PROCESSES_DEFAULT, cpu, disk, files } = limits;
  return {
    processes,
    ...(memory !== undefined && { memoryBytes: parseSizeBytes(memory) }),
    ...(cpu !== undefined && { cpu }),
    ...(disk !== undefined && { diskBytes: parseSizeBytes(disk) }),
    ...(files !== undefined && { openFiles: files }),
  };
}
