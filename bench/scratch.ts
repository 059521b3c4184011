/** The directory on disk in which all benches of one process work; gone when it ends. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

let root: string | undefined;
let count = 0;

/** A new, empty directory. */
export function scratch(name: string): string {
  if (root === undefined) {
    root = mkdtempSync(path.join(tmpdir(), 'bosun-bench-'));
    chmodSync(root, 0o755); // whoever commands run as must get through
  }
  count += 1;
  const directory = path.join(root, `${count}-${name}`);
  mkdirSync(directory);
  return directory;
}

export function removeScratch(): void {
  if (root !== undefined) rmSync(root, { recursive: true, force: true });
  root = undefined;
}
process.once('exit', removeScratch);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
