/** The disk that deleted files take while processes still hold them open: no walk through directories finds them. */
import { readdirSync, statfsSync, statSync, type BigIntStats } from 'node:fs';

/** Files in memory are on no disk: those of the sandbox's own tmpfs, which have a size, and what memfd_create makes. */
const TMPFS_MAGIC = 0x01021994;
/** Descriptors that are looked at in one go. */
const DESCRIPTORS_MAX = 2000;

/** A layer may itself lie in memory: `layerDevices` are those of the directories that are measured. */
export function heldBytes(pids: readonly number[], layerDevices: ReadonlySet<number>): number {
  const seen = new Set<string>();
  let bytes = 0;
  let left = DESCRIPTORS_MAX;
  for (const pid of pids) {
    for (const name of descriptorsOf(pid)) {
      if ((left -= 1) < 0) return bytes;
      const file = `/proc/${pid}/fd/${name}`;
      const stat = deletedFile(file);
      if (stat === undefined || stat.blocks === 0n) continue;
      const key = `${stat.dev}:${stat.ino}`;
      if (seen.has(key) || (!layerDevices.has(Number(stat.dev)) && inMemory(file))) continue;
      seen.add(key);
      bytes += Number(stat.blocks) * 512;
    }
  }
  return bytes;
}

function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return []; // gone, or not ours to look into
  }
}

function deletedFile(file: string): BigIntStats | undefined {
  try {
    const stat = statSync(file, { bigint: true });
    return stat.isFile() && stat.nlink === 0n ? stat : undefined;
  } catch {
    return undefined; // closed meanwhile
  }
}

function inMemory(file: string): boolean {
  try {
    return statfsSync(file).type === TMPFS_MAGIC;
  } catch {
    return true; // closed meanwhile
  }
}
