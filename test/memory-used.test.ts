/** Reading how much memory a sandbox takes, where that is made to be slow. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { fairlyUsed } from '../src/sandbox/limits/memory-used.ts';
import { ProcessTable } from '../src/sandbox/limits/process-table.ts';

/** The aim is 100 ms on a quiet machine; it took 800. */
const STEP_CPU_MS_MAX = 300;

test('a process with very many mappings is read in steps, each of which is short', async () => {
  const child = spawn('perl', ['test/fixtures/hogs/mappings.pl'], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    const entry = new ProcessTable().read(child.pid!)!;
    const files = { bytes: 1024 ** 4, devices: new Set(['ff:ff']) };
    const steps = fairlyUsed([entry, entry], files, 1024 ** 4);
    let [count, longestMs] = [0, 0];
    for (let isDone: boolean | undefined = false; isDone !== true; count += 1) {
      const from = process.cpuUsage();
      isDone = steps.next().done;
      const { user, system } = process.cpuUsage(from);
      longestMs = Math.max(longestMs, (user + system) / 1000);
    }
    expect(count).toBe(5); // its share twice, what it has mapped twice, and the end
    expect(longestMs).toBeLessThan(STEP_CPU_MS_MAX);
  } finally {
    child.stdin.end();
  }
});
