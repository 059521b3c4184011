/** A port of a sandbox that is reached from outside of it, by whoever may open a socket, against whoever is at either end. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ProcessTable } from '../src/sandbox/limits/process-table.ts';
import { canRelay, openRelay } from '../src/sandbox/linux/relay.ts';
import { removeTree } from '../src/system/files/remove-tree.ts';
import type { Relay } from '../src/system/process/process.ts';
import { processesWith } from './fixtures/fenced-run.ts';
import { startByHand, type SandboxByHand } from './fixtures/sandbox-by-hand.ts';

interface Reached extends AsyncDisposable {
  sandbox: SandboxByHand;
  relay: Relay;
  socketPath: string;
}

/** Whatever the sandbox does, a relay to its port 3000. */
async function relayed(...lines: string[]): Promise<Reached> {
  const undo = new AsyncDisposableStack();
  const sandbox = undo.use(await startByHand([], ''));
  const directory = await mkdtemp(path.join(tmpdir(), 'bosun-relay-'));
  undo.defer(() => removeTree(directory));
  for (const line of lines) await sandbox.sh(line);
  const socketPath = path.join(directory, 'web.sock');
  const relay = undo.use(await openRelay({ ...sandbox, port: 3000, socketPath }));
  return { sandbox, relay, socketPath, [Symbol.asyncDispose]: () => undo.disposeAsync() };
}

function dial(socketPath: string): Promise<Socket> {
  const socket = connect({ path: socketPath, allowHalfOpen: true });
  return new Promise((resolve, reject) =>
    socket.once('connect', () => resolve(socket)).once('error', reject),
  );
}

const LISTENS = 'until grep -q ":0BB8 .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.01; done';
/** What each connection gets is what the command prints, which reads what it says. */
const answering = (command: string, address = 'TCP-LISTEN:3000,bind=127.0.0.1'): string =>
  `socat ${address},fork,reuseaddr,backlog=300 SYSTEM:'${command}' & ${LISTENS}`;
const REACHED = 0;
const NOBODY_LISTENS = 1;
const TOO_MANY = 2;

test('the program that reaches ports is built where there is a compiler', () => {
  expect(canRelay).toBe(true);
});

describe('a port of a sandbox', () => {
  test('is reached through a socket that only its owner may open, and bytes go both ways', async () => {
    await using at = await relayed(answering('wc -c; head -c 3000000 /dev/zero'));
    expect((await stat(at.socketPath)).mode & 0o777).toBe(0o600);
    const socket = await dial(at.socketPath);
    socket.end(Buffer.alloc(2_000_000));
    const answer = await buffer(socket);
    expect(answer[0]).toBe(REACHED);
    expect(answer.subarray(1, 9).toString()).toBe('2000000\n');
    expect(answer.length).toBe(9 + 3_000_000);
  });

  test('is also found where a program listens on ::1 alone', async () => {
    await using at = await relayed(answering('echo six', 'TCP6-LISTEN:3000,bind=[::1]'));
    expect(await at.relay.isListening()).toBe(true);
    expect(await said(at.socketPath)).toEqual([REACHED, 'six\n']);
  });

  test('is told apart from one on which nobody listens', async () => {
    await using at = await relayed();
    expect(await at.relay.isListening()).toBe(false);
    expect(await said(at.socketPath)).toEqual([NOBODY_LISTENS, '']);
    await at.sandbox.sh(answering('echo late'));
    expect(await at.relay.isListening()).toBe(true);
    expect(await said(at.socketPath)).toEqual([REACHED, 'late\n']);
  });

  test('gets what was said by somebody who has gone since, and no connection is kept for that one', async () => {
    await using at = await relayed(answering('cat >> /tmp/got'));
    const rounds = 300; // more than may be open at once
    for (let n = 0; n < rounds; n++) {
      const socket = await dial(at.socketPath);
      const [first] = (await once(socket, 'data')) as [Buffer];
      expect(first[0], `connection ${n}`).toBe(REACHED);
      socket.write(`hello ${n}`);
      socket.destroy();
    }
    await at.sandbox.sh(`until grep -q 'hello ${rounds - 1}' /tmp/got; do sleep 0.01; done`);
  });

  test('keeps those waiting who do not read, and reads nothing for them', async () => {
    await using at = await relayed(answering('head -c 100000000 /dev/zero; echo >> /tmp/ended'));
    const socket = await dial(at.socketPath);
    socket.pause();
    // Others are served meanwhile, to their end.
    const other = await dial(at.socketPath);
    expect((await buffer(other)).length).toBe(100_000_001);
    await at.sandbox.sh('until [ -s /tmp/ended ]; do sleep 0.01; done');
    expect(await at.sandbox.sh('wc -l < /tmp/ended')).toBe('1');
    socket.destroy();
  });

  test('takes so many connections and no more, until one ends', async () => {
    await using at = await relayed(answering('cat'));
    const open = await Promise.all(Array.from({ length: 256 }, () => dial(at.socketPath)));
    const first = await Promise.all(open.map((socket) => once(socket, 'data') as Promise<[Buffer]>));
    expect(first.every(([chunk]) => chunk[0] === REACHED)).toBe(true);
    expect(await said(at.socketPath)).toEqual([TOO_MANY, '']);
    open.pop()!.destroy();
    for (;;) {
      const socket = await dial(at.socketPath);
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      if (chunk[0] === REACHED) break;
    }
    for (const socket of open) socket.destroy();
  });

  test('lets whoever it has no descriptors for wait, and does nothing meanwhile', async () => {
    await using at = await relayed(answering('cat'));
    const [process_] = processesWith(path.dirname(at.socketPath), 'command line');
    const pid = process_!.split(' ')[0]!;
    // Four of its own, and two for each of two connections.
    const { uid } = at.sandbox;
    const as = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
    const [command, ...args] = [...as, 'prlimit', `--pid=${pid}`, '--nofile=8:8'];
    await promisify(execFile)(command, args);
    const open = [await dial(at.socketPath), await dial(at.socketPath)];
    for (const socket of open) await once(socket, 'data');
    const late = await dial(at.socketPath);
    const answered = once(late, 'data') as Promise<[Buffer]>;
    // It sleeps again and again: whoever is woken at once by what it cannot take never does.
    const sleeps = async (): Promise<number> =>
      Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]);
    const before = await sleeps();
    while ((await sleeps()) < before + 5) await setTimeout(10);
    open[0]!.destroy();
    expect((await answered)[0][0]).toBe(REACHED);
    open[1]!.destroy();
    late.destroy();
  });

  test('is gone with its relay, and ends for those who use it when their sandbox ends', async () => {
    const at = await relayed(answering('cat'));
    const socket = await dial(at.socketPath);
    await once(socket, 'data');
    const over = once(socket, 'end');
    socket.resume();
    process.kill(at.sandbox.initPid, 'SIGKILL');
    await over;
    await at[Symbol.asyncDispose]();
    await at.relay.ended;
    await expect(dial(at.socketPath)).rejects.toThrow(/ENOENT/);
  });

  test('is never one of this machine, nor of another process', async () => {
    await using at = await relayed();
    const socketPath = `${at.socketPath}.other`;
    const { initPid, startTicks, uid } = at.sandbox;
    const of = { port: 3000, socketPath, ...(uid !== undefined && { uid }) };
    await expect(openRelay({ ...of, initPid, startTicks: startTicks + 1 })).rejects.toThrow(
      /No such process/,
    );
    const own = new ProcessTable().read(process.pid)!;
    await expect(
      openRelay({ port: 3000, socketPath, initPid: process.pid, startTicks: own.startTicks }),
    ).rejects.toThrow(/no network of its own|Permission denied/);
    await expect(dial(socketPath)).rejects.toThrow(/ENOENT/);
  });
});

/** The relay's own word first. */
async function said(socketPath: string): Promise<[number | undefined, string]> {
  const answer = await buffer(await dial(socketPath));
  return [answer[0], answer.subarray(1).toString()];
}
