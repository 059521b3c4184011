/** How much the processes of one sandbox have ever written to disks, whatever became of it; as the kernel counts it. */
import { readFileSync } from 'node:fs';
import { readProcess } from './process-table.ts';

export class Written {
  #last = 0;
  /** Of processes that ended and whose parents did not take over what they had on their account. */
  #lost = 0;

  /** Of all that ever were, as far as they were seen. */
  count(pids: readonly number[]): number {
    let now = 0;
    for (const pid of pids) now += writtenBy(pid);
    if (now < this.#last) this.#lost += this.#last - now;
    this.#last = now;
    return this.#lost + now;
  }
}

function writtenBy(pid: number): number {
  try {
    const text = readFileSync(`/proc/${readProcess(pid)?.reader ?? pid}/io`, 'latin1');
    const figure = (name: string): number =>
      Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    return Math.max(0, figure('write_bytes') - figure('cancelled_write_bytes'));
  } catch {
    return 0; // gone, or not ours to look into
  }
}
