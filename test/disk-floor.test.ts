/** What stays free of a disk that sandboxes fill, and what of it cannot be looked at. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statfs, statfsSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { heldFiles } from '../src/sandbox/limits/held-files.ts';
import { ProcessTable } from '../src/sandbox/limits/process-table.ts';
import { Watchdog } from '../src/sandbox/limits/watchdog.ts';
import type { FenceLimits } from '../src/system/process/fence.ts';
import { BUSY_MS_MAX, busiestMs } from './fixtures/busiest.ts';
import { HAS_SMALL_DISKS, smallDisk } from './fixtures/small-disk.ts';

const MB = 1024 ** 2;
const run = promisify(execFile);

/** A command in a process group of its own, which ends with it. */
function start(command: string): Disposable & { pid: number } {
  const pid = spawn('sh', ['-c', command], { stdio: 'ignore', detached: true }).pid!;
  return {
    pid,
    [Symbol.dispose]() {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // it is gone
      }
    },
  };
}

/**
 * Takes a step in perl every `everyMs` that this process has, after a look at the disk such as the watchdog's: on a machine
 * that others use the watchdog, which is in here, gets less time, and so what it watches is not faster than it can be.
 */
function startPaced(directory: string, step: string, everyMs: number): Disposable & { pid: number } {
  const script = `while (sysread(STDIN, $_, 1) && do { ${step} }) { syswrite(STDOUT, ".") } sleep 40`;
  const child = spawn('perl', ['-e', script], {
    cwd: directory,
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  child.stdin.on('error', () => {}); // it was ended
  const next = (): void => void child.stdin.write('.');
  child.stdout.on('data', () => statfs(directory, () => setTimeout(next, everyMs)));
  setTimeout(next, 200);
  const pid = child.pid!;
  return { pid, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

/** Fills a file, 4 MB at each step. */
function startFilling(file: string, everyMs: number): Disposable & { pid: number } {
  const open = `fileno(F) || open(F, ">", "${file}") || die`;
  return startPaced(path.dirname(file), `${open}; syswrite(F, "x" x 4194304)`, everyMs);
}

/** Makes ten files at each step. */
function startLittering(directory: string, everyMs: number): Disposable & { pid: number } {
  return startPaced(directory, 'for (1 .. 10) { open(F, ">", ++$n) or exit } 1', everyMs);
}

describe.runIf(HAS_SMALL_DISKS)('a disk', () => {
  test('that is filled fast keeps space free', async () => {
    await using disk = await smallDisk('1-gb');
    const layers = ['quiet', 'filled'].map((name) => path.join(disk.directory, name));
    for (const layer of layers) mkdirSync(layer);
    const breaches: string[] = [];
    using watchdog = new Watchdog();
    const watch = (initPid: number, layer: string): unknown =>
      watchdog.watch({
        initPid,
        limits: {},
        disk: [layer],
        onBreach: ({ message }) => breaches.push(`${path.basename(layer)} ${message}`),
      });
    using quiet = start('sleep 60 & wait');
    watch(quiet.pid, layers[0]!);
    // Half a gigabyte a second: faster than many disks.
    using filling = startFilling(`${layers[1]}/file`, 8);
    watch(filling.pid, layers[1]!);
    await vi.waitUntil(() => breaches.length > 0, { timeout: 40_000, interval: 10 });
    await sleep(100);
    const { bavail, bsize } = statfsSync(disk.directory);
    expect(breaches).toEqual([
      expect.stringMatching(/^filled wrote \d+ MB and the disk has \d+ MB left; 256 MB must stay free$/),
    ]);
    expect((bavail * bsize) / MB).toBeGreaterThan(256);
  });

  test('that runs out of files keeps some possible', async () => {
    await using disk = await smallDisk('1-gb-8000-files');
    const breaches: string[] = [];
    using watchdog = new Watchdog();
    // Most of them are there: who is to blame is found by a walk, which takes its time on a machine that others use.
    mkdirSync(path.join(disk.directory, 'before'));
    for (let n = 0; n < 5000; n++) writeFileSync(path.join(disk.directory, 'before', String(n)), '');
    using filling = startLittering(disk.directory, 20);
    watchdog.watch({
      initPid: filling.pid,
      limits: {},
      disk: [disk.directory],
      onBreach: ({ message }) => breaches.push(message),
    });
    await vi.waitUntil(() => breaches.length > 0, { timeout: 40_000, interval: 10 });
    expect(breaches).toEqual([
      expect.stringMatching(
        /^made at least \d+ files and directories and the disk has room for \d+ more; 500 must stay possible$/,
      ),
    ]);
    expect(statfsSync(disk.directory).ffree).toBeGreaterThan(0);
  });

  test('that has few files left still keeps space free', async () => {
    await using disk = await smallDisk('512-mb-400-files');
    // Others made these: no sandbox is to blame for them.
    for (let n = 0; n < 385; n += 1) writeFileSync(path.join(disk.directory, String(n)), '');
    const layer = path.join(disk.directory, 'layer');
    mkdirSync(layer);
    const breaches: string[] = [];
    using watchdog = new Watchdog();
    using filling = startFilling(`${layer}/file`, 16);
    watchdog.watch({
      initPid: filling.pid,
      limits: {},
      disk: [layer],
      onBreach: ({ message }) => breaches.push(message),
    });
    await vi.waitUntil(() => breaches.length > 0, { timeout: 40_000, interval: 10 });
    const { bavail, bsize } = statfsSync(disk.directory);
    expect(breaches).toEqual([expect.stringMatching(/^wrote \d+ MB and the disk has \d+ MB left/)]);
    expect((bavail * bsize) / MB).toBeGreaterThan(200);
  });

  test('that runs out of files ends who made them, not who is looked at anyway', async () => {
    await using disk = await smallDisk('1-gb-8000-files');
    const layers = ['installed', 'hog', 'unlinked'].map((name) => path.join(disk.directory, name));
    for (const layer of layers) mkdirSync(layer);
    for (let n = 0; n < 400; n += 1) writeFileSync(path.join(layers[0]!, String(n)), '');
    const breaches: string[] = [];
    using started = new DisposableStack();
    using watchdog = new Watchdog();
    const watch = (layer: string, limits: FenceLimits, command: string): unknown =>
      watchdog.watch({
        initPid: started.use(start(`cd ${layer}; ${command}`)).pid,
        limits,
        disk: [layer],
        onBreach: ({ message }) => breaches.push(`${path.basename(layer)} ${message}`),
      });
    // The first has a limit and is walked through all the time; the others have none.
    watch(layers[0]!, { diskBytes: 512 * MB }, 'sleep 40');
    const make = 'open(my $f, ">", "$n") or last';
    watch(layers[1]!, {}, `sleep 0.2; perl -e 'for my $n (1 .. 9000) { ${make} } sleep 40'`);
    await vi.waitUntil(() => breaches.length > 0, { timeout: 20_000, interval: 10 });
    expect(breaches).toEqual([
      expect.stringMatching(/^hog made at least \d+ files and directories and the disk has/),
    ]);
    // What has no name any more takes a file of the disk, too.
    await rm(layers[1]!, { recursive: true });
    await sleep(1200);
    const hold = `${make}; unlink "$n"; push @held, $f`;
    watch(layers[2]!, {}, `ulimit -n 9000; perl -e 'for my $n (1 .. 8800) { ${hold} } sleep 40'`);
    await vi.waitUntil(() => breaches.length > 1, { timeout: 20_000, interval: 10 });
    expect(breaches[1]).toMatch(/^unlinked made at least \d+ files and directories and the disk has/);
  });

  test('in memory shows no sizes of files under way over a socket: who leaves some there is ended', async () => {
    await using disk = await smallDisk('1-gb');
    const breaches: string[] = [];
    using watchdog = new Watchdog();
    const hog = path.join(import.meta.dirname, 'fixtures/hogs/disk-under-way.pl');
    using leaving = start(`perl ${hog} ${disk.directory} 80`);
    watchdog.watch({
      initPid: leaving.pid,
      limits: { diskBytes: 50 * MB },
      disk: [disk.directory],
      onBreach: ({ message }) => breaches.push(message),
    });
    await vi.waitUntil(() => breaches.length > 0, { timeout: 20_000, interval: 10 });
    expect(breaches).toEqual([expect.stringMatching(/^left open files on their way over a socket, /)]);
  });
});

/** Root may look into everything. */
describe.runIf(process.getuid?.() !== 0)('what an ordinary user may not look into', () => {
  const watched = async (command: string, forMs: number): Promise<string[]> => {
    const directory = await mkdtemp(path.join(tmpdir(), 'bosun-closed-'));
    try {
      const breaches: string[] = [];
      using watchdog = new Watchdog();
      using started = start(`cd ${directory}; ${command}`);
      watchdog.watch({
        initPid: started.pid,
        // So near to its limit that it is looked at all the time.
        limits: { diskBytes: MB },
        disk: [directory],
        onBreach: ({ message }) => breaches.push(message),
      });
      const untilMs = performance.now() + forMs;
      await vi.waitUntil(() => breaches.length > 0 || performance.now() > untilMs, {
        timeout: forMs + 5000,
      });
      return breaches;
    } finally {
      await run('sh', ['-c', 'chmod -R u+rwx "$0"; rm -rf "$0"', directory]);
    }
  };
  const close = 'mkdir shut; chmod 0 shut;';
  const execute = 'cp "$(command -v sleep)" only; chmod 111 only;';

  test('for a moment is nothing', async () => {
    expect(await watched(`${close} sleep 2; rmdir shut; ${execute} ./only 2; sleep 40`, 6000)).toEqual([]);
  });

  test('for long ends it, with what it was', async () => {
    const [closed, hidden] = await Promise.all([
      watched(`${close} sleep 40`, 12_000),
      watched(`${execute} ./only 20`, 12_000),
    ]);
    expect(closed).toEqual([expect.stringMatching(/^kept a directory closed to its own user, /)]);
    expect(hidden).toEqual([
      expect.stringMatching(/^kept a program running that cannot be looked into, such as one that may be ex/),
    ]);
  });
});

test('deleted files that are mapped count only where they could be written', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'bosun-mapped-'));
  try {
    const places = ['read only', 'own'].map((name) => path.join(directory, name));
    for (const place of places) {
      mkdirSync(place);
      writeFileSync(path.join(place, 'file'), 'x'.repeat(65_536));
    }
    const mmap = process.arch === 'x64' ? 9 : 222;
    const map = `open(my $f, "<", "$ARGV[0]/file") or die; syscall(${mmap}, 0, 4096, 1, 1, fileno $f, 0) > 0 or die`;
    const script = `alarm 20; { ${map} } syswrite STDOUT, "mapped"; my $line = <STDIN>;`;
    const options = ['--die-with-parent', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
    const held = places.map(async (place, index) => {
      const mount = [index === 0 ? '--ro-bind' : '--bind', place, place];
      const argv = ['bwrap', ...options, ...mount, 'perl', '-e', script, place];
      const child = spawn(argv[0]!, argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
      try {
        await once(child.stdout, 'data');
        await rm(path.join(place, 'file'));
        const tree = new ProcessTable().trees(new Set([child.pid!]), performance.now()).get(child.pid!);
        const pids = tree!.map(({ pid }) => pid);
        const { entries, hasHidden } = await heldFiles(pids, new Set([statSync(place).dev]), new Set());
        return entries > 0 || hasHidden;
      } finally {
        child.stdin.end();
      }
    });
    expect(await Promise.all(held)).toEqual([false, true]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a process with very many mappings of long names is looked at in a moment, and counts as one that hides files', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'bosun-mapped-'));
  const argv = ['test/fixtures/hogs/mappings-named.pl', directory];
  const child = spawn('perl', argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    const devices = new Set([statSync(directory).dev]);
    const look = async (): Promise<void> =>
      expect((await heldFiles([child.pid!], devices, new Set())).hasHidden).toBe(true);
    expect(await busiestMs(look)).toBeLessThan(BUSY_MS_MAX);
  } finally {
    child.stdin.end();
    await rm(directory, { recursive: true });
  }
});

test('processes with very many descriptors are looked at in turns, and no more of them than counts', async () => {
  const hog = 'ulimit -n 6000; exec perl test/fixtures/hogs/descriptors-family.pl 5000 150';
  const child = spawn('sh', ['-c', hog], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    const tree = new ProcessTable().trees(new Set([child.pid!]), performance.now()).get(child.pid!);
    const pids = tree!.map(({ pid }) => pid);
    expect(pids).toHaveLength(151);
    const look = async (): Promise<void> =>
      expect((await heldFiles(pids, new Set(), new Set())).hasHidden).toBe(true);
    expect(await busiestMs(look)).toBeLessThan(BUSY_MS_MAX);
  } finally {
    child.stdin.end();
  }
});
