/** Calls that a fenced command must not make fail, and what programs need goes on working. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ABSENT, ARCHITECTURES, DENIED, EXAMINED } from '../src/sandbox/linux/denied-calls.ts';
import { callFilter } from '../src/sandbox/linux/seccomp.ts';
import { judge } from './fixtures/classic-bpf.ts';

const [ALLOWED, EPERM, ENOSYS, KILLED] = [0x7fff0000, 0x00050001, 0x00050026, 0x80000000];
const ENOSPC = 0x0005001c;
const [EINVAL, EOPNOTSUPP, IGNORED] = [0x00050016, 0x0005005f, 0x00050000];
const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 };
const HEADERS = {
  x64: ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', '/usr/include/asm/unistd_64.h'],
  arm64: ['/usr/include/asm-generic/unistd.h'],
};

for (const architecture of ARCHITECTURES) {
  describe(`the filter for ${architecture}`, () => {
    const filter = callFilter(architecture)!;
    const at = architecture === 'x64' ? 0 : 1;
    const returned = (number: number, ...args: number[]): number =>
      judge(filter, { architecture: AUDIT[architecture], number, arguments: args }).returned;
    const calls = Object.entries(DENIED).filter(([, numbers]) => numbers[at] !== null);

    test('is short, and shorter still for what programs call most', () => {
      expect(filter.length / 8).toBeLessThan(160);
      const read = architecture === 'x64' ? 0 : 63;
      const { steps } = judge(filter, { architecture: AUDIT[architecture], number: read });
      expect(steps).toBeLessThan(30);
    });

    test('denies every call of the table and no other', () => {
      const denied = new Set(calls.map(([, numbers]) => numbers[at]));
      const absent = new Set(Object.values(ABSENT).map((numbers) => numbers[at]));
      const examined = new Set<number | null>(Object.values(EXAMINED).map((numbers) => numbers[at]));
      for (let number = 0; number < 470; number += 1) {
        if (examined.has(number)) continue;
        expect([number, returned(number)]).toEqual([
          number,
          denied.has(number) ? EPERM : absent.has(number) ? ENOSYS : ALLOWED,
        ]);
      }
    });

    test('knows nothing of calls that are newer than it, or of the other numbers of x32', () => {
      for (const number of [470, 511, 520, 0x40000000, 0x40000000 + 39, 0x7fffffff, 0xffffffff])
        expect([number, returned(number)]).toEqual([number, ENOSYS]);
    });

    test('ends a program of another architecture', () => {
      for (const other of [0x40000003, 0x40000028, 0, AUDIT[architecture === 'x64' ? 'arm64' : 'x64']])
        expect(judge(filter, { architecture: other, number: 39 }).returned).toBe(KILLED);
    });

    test('lets processes and threads start, but in no other namespace', () => {
      const [clone, unshare] = [EXAMINED.clone[at], EXAMINED.unshare[at]];
      for (const flags of [17, 0x4111, 0x3d0f00, 0x01200011])
        expect([flags, returned(clone, flags)]).toEqual([flags, ALLOWED]);
      for (const bit of [17, 25, 26, 27, 28, 29, 30]) {
        expect([bit, returned(clone, 2 ** bit + 17)]).toEqual([bit, EPERM]);
        expect([bit, returned(unshare, 2 ** bit)]).toEqual([bit, EPERM]);
      }
      expect(returned(unshare, 0x80)).toBe(EPERM); // a time namespace
      expect(returned(unshare, 0x40200)).toBe(ALLOWED);
    });

    test('lets no thread have descriptors of its own, where nobody would look for files', () => {
      expect(returned(EXAMINED.clone[at], 0x3d0f00 - 0x400)).toBe(EPERM);
      expect(returned(EXAMINED.unshare[at], 0x400)).toBe(EPERM);
      expect(returned(EXAMINED.close_range[at], 3, 0xffffffff, 2)).toBe(ENOSYS);
      for (const flags of [0, 4])
        expect(returned(EXAMINED.close_range[at], 3, 0xffffffff, flags)).toBe(ALLOWED);
    });

    test('lets memory be shared in small segments only, and space be given back but not taken ahead', () => {
      const { shmget, semget, fallocate } = EXAMINED;
      expect(returned(shmget[at], 0, 16 * 1024, 0o1600)).toBe(ALLOWED);
      for (const size of [16 * 1024 + 1, 2 ** 31, 2 ** 32, 2 ** 40])
        expect([size, returned(shmget[at], 0, size, 0o1600)]).toEqual([size, EINVAL]);
      expect(returned(semget[at], 0, 32, 0o1600)).toBe(ALLOWED);
      expect(returned(semget[at], 0, 33, 0o1600)).toBe(EINVAL);
      for (const mode of [0, 1, 16]) expect(returned(fallocate[at], 3, mode, 0, 4096)).toBe(EOPNOTSUPP);
      expect(returned(fallocate[at], 3, 3, 0, 4096)).toBe(ALLOWED);
    });

    test('keeps pipes and sockets at the size that they have', () => {
      const { fcntl, setsockopt } = EXAMINED;
      expect(returned(fcntl[at], 3, 1031, 1 << 20)).toBe(EPERM);
      for (const command of [1, 2, 3, 4, 1030, 1032]) expect(returned(fcntl[at], 3, command)).toBe(ALLOWED);
      for (const option of [7, 8]) expect(returned(setsockopt[at], 3, 1, option)).toBe(IGNORED);
      for (const [level, option] of [
        [1, 2],
        [1, 9],
        [6, 7],
        [41, 8],
      ])
        expect(returned(setsockopt[at], 3, level!, option!)).toBe(ALLOWED);
    });

    test('leaves a process open to being measured that wants to be closed', () => {
      const [dumpable, name] = [4, 15];
      expect(returned(EXAMINED.prctl[at], dumpable, 0)).toBe(IGNORED);
      expect(returned(EXAMINED.prctl[at], dumpable, 1)).toBe(ALLOWED);
      expect(returned(EXAMINED.prctl[at], name, 0)).toBe(ALLOWED);
    });

    test('keeps attributes of files small: those of a file in memory are on nobody’s account', () => {
      for (const call of [EXAMINED.setxattr[at], EXAMINED.lsetxattr[at], EXAMINED.fsetxattr[at]]) {
        expect(returned(call, 3, 0, 0, 256)).toBe(ALLOWED);
        for (const size of [257, 65_536]) expect(returned(call, 3, 0, 0, size)).toBe(ENOSPC);
      }
    });

    test('lets no file become set-uid', () => {
      const { chmod, fchmod, fchmodat, fchmodat2 } = EXAMINED;
      for (const call of [chmod[at], fchmod[at]]) {
        if (call === null) continue;
        for (const mode of [0o4755, 0o6755, 0o4000]) expect(returned(call, 3, mode)).toBe(EPERM);
        for (const mode of [0o755, 0o2775, 0o1777]) expect(returned(call, 3, mode)).toBe(ALLOWED);
      }
      for (const call of [fchmodat[at], fchmodat2[at]]) {
        expect(returned(call, 3, 0, 0o4755)).toBe(EPERM);
        expect(returned(call, 3, 0o4755, 0o755)).toBe(ALLOWED);
      }
      const { open, openat, creat, mknod, mknodat } = EXAMINED;
      for (const creates of [0o100, 0o101, 0o20200002]) {
        expect(returned(openat[at], 3, 0, creates, 0o4755)).toBe(EPERM);
        expect(returned(openat[at], 3, 0, creates, 0o2755)).toBe(ALLOWED);
        if (open[at] !== null) expect(returned(open[at], 0, creates, 0o4755)).toBe(EPERM);
        if (open[at] !== null) expect(returned(open[at], 0, creates, 0o755)).toBe(ALLOWED);
      }
      // no file is made, and what lies in the place of a mode is left over
      expect(returned(openat[at], 3, 0, 0o2000002, 0o4755)).toBe(ALLOWED);
      if (open[at] !== null) expect(returned(open[at], 0, 0, 0o4755)).toBe(ALLOWED);
      for (const call of [creat[at], mknod[at]])
        if (call !== null) expect(returned(call, 0, 0o104755)).toBe(EPERM);
      expect(returned(mknodat[at], 3, 0, 0o104755)).toBe(EPERM);
      expect(returned(mknodat[at], 3, 0, 0o10644)).toBe(ALLOWED);
    });

    test('lets sockets be of the families that ordinary programs use', () => {
      for (const call of [EXAMINED.socket[at], EXAMINED.socketpair[at]]) {
        const families = Array.from({ length: 64 }, (_, family) => family);
        expect(families.filter((family) => returned(call, family, 3, 0) !== EPERM)).toEqual([1, 2, 10, 16]);
        expect(returned(call, 16, 3, 12)).toBe(EPERM); // the netlink of packet filters
        expect(returned(call, 2, 3, 17)).toBe(ALLOWED);
      }
    });

    test('looks at half of an argument where the kernel does', () => {
      const high = 2 ** 32;
      expect(returned(EXAMINED.ioctl[at], 0, high + 0x5412)).toBe(EPERM);
      expect(returned(EXAMINED.ioctl[at], 0, 0x541c)).toBe(EPERM);
      expect(returned(EXAMINED.ioctl[at], 0, 0x5401)).toBe(ALLOWED);
      expect(returned(EXAMINED.personality[at], high + 0x0400000)).toBe(EPERM);
      expect(returned(EXAMINED.personality[at], 0xffffffff)).toBe(ALLOWED);
      expect(returned(EXAMINED.personality[at], 0)).toBe(ALLOWED);
    });

    const header = HEADERS[architecture].find((file) => existsSync(file));
    test.runIf(header !== undefined)('has the numbers of the kernel', () => {
      const text = readFileSync(header!, 'utf8');
      const newest = Math.max(
        ...[...text.matchAll(/^#define __NR\w*\s+(\d+)$/gm)].map((match) => +match[1]!),
      );
      for (const [name, numbers] of [...calls, ...Object.entries(ABSENT), ...Object.entries(EXAMINED)]) {
        if (numbers[at] === null) continue;
        const [, number] = new RegExp(`^#define __NR(?:3264)?_${name}\\s+(\\d+)$`, 'm').exec(text) ?? [];
        if (number === undefined)
          expect(numbers[at], name).toBeGreaterThanOrEqual(435); // newer than the header
        else expect([name, numbers[at]]).toEqual([name, Number(number)]);
      }
      expect(newest).toBeGreaterThan(400);
    });
  });
}

test('there is no filter for an architecture whose numbers nobody wrote down', () => {
  expect(callFilter('riscv64')).toBeUndefined();
});

const here = ARCHITECTURES.find((architecture) => architecture === process.arch);
describe.runIf(here !== undefined)('behind the filter', () => {
  const at = here === 'x64' ? 0 : 1;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'bosun-seccomp-'));
    await writeFile(path.join(directory, 'filter'), callFilter()!);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  /** With all capabilities of its namespaces, a refusal is the filter's alone. */
  async function run(argv: string[], options: { filtered?: boolean; capabilities?: boolean } = {}) {
    const { filtered = true, capabilities = false } = options;
    const asUser =
      process.getuid!() === 0 ? 'setpriv --reuid=64123 --regid=64123 --clear-groups --'.split(' ') : [];
    const bwrap =
      'bwrap --unshare-all --die-with-parent --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp --chdir /tmp';
    const [command, ...args] = [
      ...asUser,
      ...bwrap.split(' '),
      ...(capabilities ? ['--uid', '0', '--cap-add', 'ALL'] : ['--cap-drop', 'ALL']),
      ...(filtered ? ['--seccomp', '3'] : []),
      '--',
      ...argv,
    ];
    const filter = openSync(path.join(directory, 'filter'), 'r');
    const env = {
      PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin:/usr/sbin`,
      HOME: '/tmp',
      LANG: 'C',
    };
    const child = spawn(command!, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe', filter] });
    closeSync(filter);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream!.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const code = await new Promise<number | string | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (exit, signal) => resolve(signal ?? exit));
    });
    return { code, output: output.trim() };
  }

  /** Makes each call in a process of its own and tells how it ended. */
  async function tell(calls: [string, ...number[]][], options?: Parameters<typeof run>[1]) {
    const script =
      'for (@ARGV) { my ($name, @a) = split /,/; if (!(my $p = fork)) { ' +
      '$! = 0; my $n = shift @a; my $r = syscall($n + 0, map { $_ + 0 } @a); my ($e) = $r < 0 ? grep { $!{$_} } sort keys %! : "done"; ' +
      'syswrite STDOUT, "$name $e\\n"; exec "true" } else { waitpid $p, 0 } }';
    const { output } = await run(
      ['perl', '-MErrno', '-e', script, ...calls.map((call) => call.join(','))],
      options,
    );
    return Object.fromEntries(output.split('\n').map((line) => line.split(' ')));
  }

  const { clone, unshare, personality, socket, socketpair, ioctl } = EXAMINED;
  const tried: [string, ...number[]][] = [
    ...Object.entries(DENIED).flatMap(([name, numbers]): [string, ...number[]][] =>
      numbers[at] === null ? [] : [[name, numbers[at], 0, 0, 0, 0, 0]],
    ),
    ['clone-user', clone[at], 0x10000011, 0, 0, 0, 0],
    ['unshare-user', unshare[at], 0x10000000],
    ['unshare-time', unshare[at], 0x80],
    ['personality-exec', personality[at], 0x0400000],
    ['vsock', socket[at], 40, 1, 0],
    ['packet', socket[at], 17, 3, 0],
    ['alg', socket[at], 38, 5, 0],
    ['netfilter', socket[at], 16, 3, 12],
    ['pair-tipc', socketpair[at], 30, 1, 0, 0],
    ['type', ioctl[at], 0, 0x5412, 0],
    ['console', ioctl[at], 0, 0x541c, 0],
  ];

  test('each denied call is refused by the kernel', async () => {
    const ends = await tell(tried);
    expect(ends).toEqual(Object.fromEntries(tried.map(([name]) => [name, 'EPERM'])));
  });

  test('it is the filter that refuses, also whoever has every capability', async () => {
    const own = new Set('mount umount2 open_tree setns keyctl unshare-user netfilter type chroot'.split(' '));
    const some = tried.filter(([name]) => own.has(name));
    const [without, behind] = [
      await tell(some, { filtered: false, capabilities: true }),
      await tell(some, { capabilities: true }),
    ];
    expect(Object.entries(without).filter(([, end]) => end === 'EPERM')).toEqual([]);
    expect(Object.keys(without).length).toBe(own.size);
    expect(new Set(Object.values(behind))).toEqual(new Set(['EPERM']));
  });

  test('calls that libraries can do without seem to be missing', async () => {
    const calls: [string, ...number[]][] = [
      ...Object.entries(ABSENT).map(([name, numbers]): [string, number] => [name, numbers[at]!]),
      ['x32', 0x40000027],
      ['future', 500, 0],
    ];
    expect(await tell(calls)).toEqual(Object.fromEntries(calls.map(([name]) => [name, 'ENOSYS'])));
  });

  test('calls that only ask are answered', async () => {
    const calls: [string, ...number[]][] = [
      ['personality', personality[at], 0xffffffff],
      ['unshare', unshare[at], 0x200],
      ['route', socket[at], 16, 3, 0],
      ['inet6', socket[at], 10, 1, 0],
    ];
    expect(new Set(Object.values(await tell(calls)))).toEqual(new Set(['done']));
  });

  for (const [what, script, expected] of [
    [
      'a pipeline of bash',
      'seq 100000 | sort -rn | { head -n 1; cat >/dev/null; } & wait; echo $((1+1))',
      '100000\n2',
    ],
    [
      'git',
      'git init -q a && cd a && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git gc -q && git log --format=%s',
      'one',
    ],
    [
      'Node with threads',
      `node -e 'const { Worker } = require("worker_threads"); new Worker("require(\\"worker_threads\\").parentPort.postMessage(7)", { eval: true }).on("message", console.log)'`,
      '7',
    ],
    [
      'asynchronous reading and writing in Node',
      `node -e 'require("fs").promises.writeFile("f", "text").then(() => require("fs").promises.readFile("f", "utf8")).then(console.log)'`,
      'text',
    ],
    [
      'a list of interfaces',
      `node -e 'console.log(Object.keys(require("os").networkInterfaces()).join())'`,
      'lo',
    ],
    [
      'a server on the loopback',
      `node -e 'const s = require("http").createServer((_, r) => r.end("served")).listen(0, "127.0.0.1", () => fetch("http://127.0.0.1:" + s.address().port).then((r) => r.text()).then((t) => { console.log(t); s.close(); process.exit(); }))'`,
      'served',
    ],
    [
      'debugging a child of its own',
      `perl -e '$p = fork; if (!$p) { sleep 5; exit } print syscall(${here === 'x64' ? 101 : 117}, 0x4206, $p, 0, 0), "\\n"; kill 9, $p'`,
      '0',
    ],
  ] as const)
    test(`${what} works`, async () => {
      expect(await run(['bash', '-c', script])).toEqual({ code: 0, output: expected });
    });
});
