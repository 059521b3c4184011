/** What stays free of a disk that sandboxes fill. Only root can have a disk that is small enough to be filled. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { Watchdog } from '../src/sandbox/limits/watchdog.ts';

const MB = 1024 ** 2;
const run = promisify(execFile);

interface Disk extends AsyncDisposable {
  directory: string;
  /** A command of its own process group, ended with the disk. */
  start(command: string): number;
}

async function makeDisk(options: string): Promise<Disk> {
  const directory = await mkdtemp(path.join(tmpdir(), 'bosun-test-'));
  await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory]);
  const started: number[] = [];
  return {
    directory,
    start(command) {
      const child = spawn('sh', ['-c', command], { stdio: 'ignore', detached: true });
      started.push(child.pid!);
      return child.pid!;
    },
    async [Symbol.asyncDispose]() {
      for (const pid of started)
        try {
          process.kill(-pid, 'SIGKILL');
        } catch {
          // it is gone
        }
      await run('umount', ['--lazy', directory]);
      await rm(directory, { recursive: true });
    },
  };
}

describe.runIf(process.getuid?.() === 0)('a disk', () => {
  test('that is filled fast keeps space free', async () => {
    await using disk = await makeDisk('size=1g');
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
    watch(disk.start('sleep 20 & wait'), layers[0]!);
    // Half a gigabyte a second: faster than many disks, and slow enough for a machine that others use, too.
    const fill = 'while (syswrite(STDOUT, "x" x 4194304)) { select(undef, undef, undef, 0.008) }';
    watch(disk.start(`sleep 0.2; perl -e '${fill}' > ${layers[1]}/file; sleep 20`), layers[1]!);
    await vi.waitUntil(() => breaches.length > 0, { timeout: 10_000, interval: 10 });
    await sleep(100);
    const { bavail, bsize } = statfsSync(disk.directory);
    expect(breaches).toEqual([
      expect.stringMatching(/^filled wrote \d+ MB and the disk has \d+ MB left; 256 MB must stay free$/),
    ]);
    expect((bavail * bsize) / MB).toBeGreaterThan(256);
  });

  test('that runs out of files keeps some possible', async () => {
    await using disk = await makeDisk('size=1g,nr_inodes=8000');
    const breaches: string[] = [];
    using watchdog = new Watchdog();
    const fill =
      'for my $n (1 .. 9000) { open(my $f, ">", "$n") or exit; select(undef, undef, undef, 0.0005) }';
    watchdog.watch({
      initPid: disk.start(`cd ${disk.directory}; sleep 0.2; perl -e '${fill}'; sleep 20`),
      limits: {},
      disk: [disk.directory],
      onBreach: ({ message }) => breaches.push(message),
    });
    await vi.waitUntil(() => breaches.length > 0, 15_000);
    expect(breaches).toEqual([
      expect.stringMatching(
        /^made \d+ files and directories and the disk has room for \d+ more; 500 must stay possible$/,
      ),
    ]);
    expect(statfsSync(disk.directory).ffree).toBeGreaterThan(0);
  });
});
