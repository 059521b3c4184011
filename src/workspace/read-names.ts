/** Reads the names in a directory in their order, however many there are, without keeping everything else waiting. */
import { readdir } from 'node:fs/promises';
import type { Breather } from '../base/breather.ts';
import { lstatOrWhy } from './stack.ts';

/** As many as are put in order at once: some 5 ms. */
const RUN_NAMES = 5000;

/** None where there is no directory, or something else. */
export async function readNames(directory: Buffer, breather: Breather): Promise<Buffer[]> {
  const stat = lstatOrWhy(directory);
  if (typeof stat !== 'object' || !stat.isDirectory()) return [];
  const names = await readdir(directory, { encoding: 'buffer' });
  let runs: Buffer[][] = [];
  for (let n = 0; n < names.length; n += RUN_NAMES) {
    runs.push(names.slice(n, n + RUN_NAMES).sort((a, b) => Buffer.compare(a, b)));
    await breather.breathe();
  }
  while (runs.length > 1) {
    const longer: Buffer[][] = [];
    for (let n = 0; n < runs.length; n += 2) longer.push(await merged(runs[n]!, runs[n + 1] ?? [], breather));
    runs = longer;
  }
  return runs[0] ?? [];
}

async function merged(a: Buffer[], b: Buffer[], breather: Breather): Promise<Buffer[]> {
  if (b.length === 0) return a;
  const all: Buffer[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    if (breather.isDue) await breather.breathe();
    all.push(j === b.length || (i < a.length && Buffer.compare(a[i]!, b[j]!) < 0) ? a[i++]! : b[j++]!);
  }
  return all;
}
