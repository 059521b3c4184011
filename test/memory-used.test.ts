/** Reading how much memory a sandbox takes, where that is made to be slow. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { BufferCount } from '../src/sandbox/limits/buffers-used.ts';
import { MemoryLook } from '../src/sandbox/limits/memory-look.ts';
import { mappedBytes } from '../src/sandbox/limits/memory-used.ts';
import { ProcessTable, shareOf, type ProcessEntry } from '../src/sandbox/limits/process-table.ts';
import { Watchdog } from '../src/sandbox/limits/watchdog.ts';

const MB = 1024 ** 2;
/** The aim is 100 ms on a quiet machine; it took 800. */
const STEP_CPU_MS_MAX = 300;
const NO_FILES = { bytes: 0, devices: new Set<string>() };
const NO_BUFFERS = { leastBytes: 0, mostBytes: 0, look() {} };

async function started(script: string, ...args: string[]): Promise<ChildProcess> {
  const child = spawn('perl', [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

function treeOf({ pid }: ChildProcess): ProcessEntry[] {
  return new ProcessTable().trees(new Set([pid!]), performance.now()).get(pid!) ?? [];
}

test('a process with very many mappings is read in steps, each of which is short', async () => {
  const child = await started('test/fixtures/hogs/mappings.pl');
  try {
    const pid = child.pid!;
    for (const read of [() => shareOf({ pid, reader: pid }), () => mappedBytes(pid, new Set(['ff:ff']))]) {
      const from = process.cpuUsage();
      read();
      const { user, system } = process.cpuUsage(from);
      expect((user + system) / 1000).toBeLessThan(STEP_CPU_MS_MAX);
    }
  } finally {
    child.stdin!.end();
  }
});

test('many processes that share their memory are read a few at a time, until it is clear that they take little', async () => {
  const child = await started('test/fixtures/hogs/memory-family.pl', '60', '20');
  try {
    const look = new MemoryLook();
    let [calls, isKnown, usedBytes] = [0, false, 0];
    for (; !isKnown && calls < 100; calls += 1) {
      let left = 5;
      const isTimeUp = (): boolean => (left -= 1) < 0;
      ({ isKnown, usedBytes } = look.take(treeOf(child), NO_FILES, NO_BUFFERS, 150 * MB, 0, isTimeUp));
    }
    expect(isKnown).toBe(true);
    expect(calls).toBeGreaterThanOrEqual(10);
    expect(usedBytes).toBeLessThanOrEqual(150 * MB);
  } finally {
    child.stdin!.end();
  }
});

test('who takes memory after all were read, or while they are, is read first', async () => {
  const child = await started('test/fixtures/hogs/memory-family.pl', '60', '20');
  try {
    const looks = [new MemoryLook(), new MemoryLook()];
    const take = (look: MemoryLook, readings: number): number => {
      let left = readings;
      const isTimeUp = (): boolean => (left -= 1) < 0;
      return look.take(treeOf(child), NO_FILES, NO_BUFFERS, 150 * MB, 0, isTimeUp).usedBytes;
    };
    expect(take(looks[0]!, 200)).toBeLessThan(150 * MB);
    expect(take(looks[1]!, 5)).toBe(150 * MB); // not through
    child.stdin!.write('200\n');
    await once(child.stdout!, 'data');
    for (const look of looks) expect(Math.max(take(look, 3), take(look, 3))).toBeGreaterThan(150 * MB);
  } finally {
    child.stdin!.end();
  }
});

test('who gets no time to be read is not taken for one that takes too much, however long that lasts', async () => {
  const child = await started('test/fixtures/hogs/memory-family.pl', '20', '20');
  try {
    const look = new MemoryLook();
    const take = (nowMs: number, isTimeUp: () => boolean): ReturnType<MemoryLook['take']> =>
      look.take(treeOf(child), NO_FILES, NO_BUFFERS, 150 * MB, nowMs, isTimeUp);
    for (let nowMs = 0; nowMs < 20_000; nowMs += 1000)
      expect(take(nowMs, () => true)).toMatchObject({ usedBytes: 150 * MB, isKnown: false, hadTime: false });
    const { usedBytes, isKnown, hadTime } = take(20_000, () => false);
    expect({ isKnown, hadTime }).toEqual({ isKnown: true, hadTime: true });
    expect(usedBytes).toBeLessThan(150 * MB);
  } finally {
    child.stdin!.end();
  }
});

test('who is read and stays unclear for long counts at its most', async () => {
  const child = await started('test/fixtures/hogs/memory-family.pl', '20', '20');
  try {
    const look = new MemoryLook();
    const known: boolean[] = [];
    for (let nowMs = 0; nowMs <= 6000; nowMs += 1000) {
      let left = 1;
      const isTimeUp = (): boolean => (left -= 1) < 0;
      known.push(look.take(treeOf(child), NO_FILES, NO_BUFFERS, 50 * MB, nowMs, isTimeUp).isKnown);
    }
    expect(known).toEqual([false, false, false, false, false, false, true]);
  } finally {
    child.stdin!.end();
  }
});

test('what was read before others began to share it is read anew before it counts', async () => {
  const child = await started('test/fixtures/hogs/memory-forked.pl', '100', '60');
  try {
    const look = new MemoryLook();
    const take = (readings: number): number => {
      let left = readings;
      const isTimeUp = (): boolean => (left -= 1) < 0;
      return look.take(treeOf(child), NO_FILES, NO_BUFFERS, 150 * MB, 0, isTimeUp).usedBytes;
    };
    expect(take(1)).toBe(150 * MB); // not through
    child.stdin!.write('\n');
    await once(child.stdout!, 'data');
    expect(take(20)).toBeLessThan(150 * MB);
  } finally {
    child.stdin!.end();
  }
});

test('pipes are free up to an eighth of the limit, and named where they made it too much', async () => {
  const open = 'for (1 .. 1000) { pipe(my $r, my $w) or die $!; push @held, $r, $w }';
  const script = `alarm 20; ${open} syswrite STDOUT, "held\n"; my $line = <STDIN>;`;
  const child = spawn('sh', ['-c', `ulimit -n 4096; exec perl -e '${script}'`], { stdio: 'pipe' });
  try {
    await once(child.stdout, 'data');
    const pid = child.pid!;
    const beyondFree = (limitBytes: number): number => {
      const buffers = new BufferCount(pid, limitBytes).refresh([pid], 0);
      buffers.look(() => false);
      return buffers.leastBytes;
    };
    // 1,000 pipes of 64 KB, beside those to us.
    expect(beyondFree(128 * MB) / MB).toBeCloseTo(62.6 - 32, 0);
    expect(beyondFree(400 * MB) / MB).toBeCloseTo(62.6 - 50, 0);
    expect(beyondFree(1024 * MB)).toBe(0);
    using watchdog = new Watchdog();
    const message = await new Promise((resolve) => {
      const limits = { memoryBytes: 30 * MB };
      watchdog.watch({ initPid: pid, limits, disk: [], onBreach: (breach) => resolve(breach.message) });
    });
    expect(message).toMatch(
      /^used \d+ MB of memory, of which 31 MB are what its pipes and sockets may hold; 30 MB are allowed$/,
    );
  } finally {
    child.stdin.end();
  }
});

test('pipes that were closed do not count, nor those of a count that was broken off long ago', async () => {
  const open = 'for (1 .. 1000) { pipe(my $r, my $w) or die $!; push @held, $r, $w }';
  const script = `alarm 20; ${open} for (1 .. 2) { syswrite STDOUT, "x"; my $line = <STDIN>; @held = () }`;
  const child = spawn('sh', ['-c', `ulimit -n 4096; exec perl -e '${script}'`], { stdio: 'pipe' });
  try {
    await once(child.stdout, 'data');
    const pids = [child.pid!];
    using whole = new BufferCount(child.pid!, 128 * MB);
    using part = new BufferCount(child.pid!, 128 * MB);
    using late = new BufferCount(child.pid!, 128 * MB);
    whole.refresh(pids, 0).look(() => false);
    for (const one of [part, late]) {
      let left = 1900;
      one.refresh(pids, 0).look(() => (left -= 1) < 0);
    }
    for (const one of [whole, part, late]) expect(one.refresh(pids, 100).leastBytes).toBeGreaterThan(20 * MB);
    expect(late.refresh(pids, 60_000).leastBytes).toBe(0);
    child.stdin.write('\n');
    await once(child.stdout, 'data');
    for (const one of [whole, part]) expect(one.refresh(pids, 200).leastBytes).toBe(0);
  } finally {
    child.stdin.end();
  }
});

test('very many descriptors of one process are counted in steps, each of which is short', async () => {
  const hog = 'ulimit -n 16000; exec perl test/fixtures/hogs/descriptors-family.pl 15000 1';
  const child = spawn('sh', ['-c', hog], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    using buffers = new BufferCount(child.pid!, 128 * MB);
    const pids = treeOf(child).map(({ pid }) => pid);
    const steps: number[] = [];
    do {
      let left = 100;
      const from = process.cpuUsage();
      buffers.refresh(pids, steps.length).look(() => (left -= 1) < 0);
      const { user, system } = process.cpuUsage(from);
      steps.push((user + system) / 1000);
    } while (buffers.mostBytes > 0);
    expect(steps.length).toBeGreaterThan(300);
    expect(Math.max(...steps)).toBeLessThan(30);
  } finally {
    child.stdin.end();
  }
});
