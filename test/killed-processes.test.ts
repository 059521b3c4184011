/** A process of bosun's own that is killed is nobody's failure: what it did is done again, and the run ends well. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Event } from '../src/contract/event.ts';
import { Bosun, workflow } from '../src/index.ts';
import { startGit } from '../src/system/git/git.ts';
import { TreeReader } from '../src/system/git/tree-reader.ts';
import { OpaqueReader } from '../src/workspace/read-opaque.ts';
import { makeRepository } from './fixtures/repository.ts';

/** Our own children whose command line holds these words. */
function helpers(...words: string[]): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').join(' ');
        const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
        return Number(parent) === process.pid && words.every((word) => line.includes(word));
      } catch {
        return false; // no process, or gone
      }
    });
}

async function whenThere<T>(find: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 500; tries += 1) {
    const found = find();
    if (found !== undefined) return found;
    await sleep(10);
  }
  throw new Error('it never came');
}

/** Runs a workflow of one task, and calls `onOutput` whenever the task printed something. */
async function runTask(
  task: { run: string; scope?: { network: string[] } },
  onOutput: (count: number) => void,
): Promise<{ state: string; events: Event[] }> {
  await using repository = await makeRepository();
  const events: Event[] = [];
  const run = await new Bosun(repository.path).run(workflow({ name: 'killed', tasks: { task } }), {
    seen: (batch) => {
      for (const { event } of batch) {
        events.push(event);
        if (event.type === 'attempt.output')
          onOutput(events.filter(({ type }) => type === 'attempt.output').length);
      }
    },
  });
  const { state } = await run.finished;
  return { state, events };
}

const attempts = (events: Event[]): unknown[] =>
  events.flatMap((event) => (event.type === 'attempt.finished' ? [event.outcome] : []));

test('a killed launcher costs no task an attempt', async () => {
  const { state, events } = await runTask({ run: 'echo here; sleep 1; echo done > made' }, (count) => {
    if (count === 1) for (const pid of helpers('launch', 'serve')) process.kill(pid, 'SIGKILL');
  });
  expect(attempts(events)).toEqual([
    {
      kind: 'lost',
      because: "a helper process of bosun's own (the launcher) died: it took all commands along",
    },
    { kind: 'done' },
  ]);
  expect(state).toBe('done');
});

test('a launcher that is killed again and again is the end of the task, not of patience', async () => {
  const { state, events } = await runTask({ run: 'echo here; sleep 5' }, () => {
    for (const pid of helpers('launch', 'serve')) process.kill(pid, 'SIGKILL');
  });
  expect(attempts(events)).toEqual(
    Array.from({ length: 4 }, () => expect.objectContaining({ kind: 'lost' }) as unknown),
  );
  const ends = events.filter((event) => event.type === 'task.finished');
  expect(ends.map(({ outcome }) => outcome)).toEqual([
    {
      kind: 'failed',
      reason: 'start',
      message:
        "a helper process of bosun's own (the launcher) died: it took all commands along, for the 4th time in a row; bosun doctor checks this machine",
    },
  ]);
  const waits = events.flatMap((event) => (event.type === 'task.again' ? [event.delayMs] : []));
  expect(waits).toEqual([200, 400, 800]);
  expect(state).toBe('failed');
});

test('a killed bridge to the network is there again', async () => {
  const script = `
for each in /proc/[0-9]*; do
  case $(tr '\\0' ' ' < $each/cmdline) in socat*) kill -9 "\${each#/proc/}";; esac
done
for n in 1 2 3 4 5 6 7 8 9 10; do
  sleep 0.1
  grep -q ':0C38 00000000:0000 0A' /proc/net/tcp && exit 0
done
exit 1`;
  const { state } = await runTask({ run: script, scope: { network: ['example.com'] } }, () => {});
  expect(state).toBe('done');
});

test.runIf(OpaqueReader.isAvailable)('a killed reader of attributes is asked again', async () => {
  const reader = new OpaqueReader();
  const first = reader.read([Buffer.from('/usr')]);
  expect(await first).toEqual([false]);
  const [pid] = helpers('build/opaque');
  process.kill(pid!, 'SIGSTOP');
  const answer = reader.read([Buffer.from('/usr'), Buffer.from('/etc')]);
  await sleep(20);
  process.kill(pid!, 'SIGKILL');
  expect(await answer).toEqual([false, false]);
  reader.close();
});

test('a killed git that reads trees is asked again', async () => {
  await using repository = await makeRepository();
  const tree = await repository.git('rev-parse', 'HEAD^{tree}');
  await using reader = new TreeReader(() => startGit(['-C', repository.path, 'cat-file', '--batch']));
  const answer = reader.read(tree);
  const pid = await whenThere(() => helpers('cat-file', repository.path)[0]);
  process.kill(pid, 'SIGSTOP');
  const other = reader.read(`${tree}^{tree}`);
  process.kill(pid, 'SIGKILL');
  expect((await answer).toString()).toContain('README.md');
  expect((await other).toString()).toContain('README.md');
});

test('git that must not go on alone ends with bosun, also where that is killed', async () => {
  const name = `nap${process.pid}`;
  const script = `import { git } from '${path.resolve('src/system/git/git.ts')}';
    await git(['-c', 'alias.${name}=!sleep 5', '${name}'], { mortal: true });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  await expect.poll(() => gitsWith(name), { timeout: 20_000 }).toHaveLength(1);
  child.kill('SIGKILL');
  await expect.poll(() => gitsWith(name), { timeout: 2000 }).toEqual([]);
});

function gitsWith(word: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [program, ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return program === 'git' && words.includes(word);
    } catch {
      return false; // it has ended
    }
  });
}
