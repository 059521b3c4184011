import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Bosun } from '../../src/index.ts';
import { cleanWorkspaces } from '../../src/operations/clean.ts';
import { makeRepository } from '../fixtures/repository.ts';
import { testProgram } from '../fixtures/test-program.ts';

const PROGRAM = testProgram('crash');
/** Far more than a run of ten tasks has; reaching it is a failure. */
const POINTS_MAX = 300;
const AT_ONCE = 2;

/** A process of its own, since it is to be killed. */
async function engine(
  mode: 'run' | 'resume',
  repository: string,
  marker: string,
  dieAt: number,
): Promise<string> {
  const args = [PROGRAM, mode, repository, marker, String(dieAt)];
  try {
    return (await promisify(execFile)(process.execPath, args)).stdout.trim();
  } catch (error) {
    const { signal, stderr } = error as { signal: string | null; stderr: string };
    if (signal === 'SIGKILL') return 'killed';
    throw new Error(`the engine failed: ${stderr}`, { cause: error });
  }
}

function processesWith(marker: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`1000.${marker}`);
      } catch {
        return false;
      }
    });
}

/** Kills the engine at one point, resumes it, and looks for anything lost, done twice, or left running. */
async function crashAt(point: number): Promise<'reached' | 'past the end'> {
  await using repository = await makeRepository({ files: { 'README.md': 'hello\n' } });
  const marker = `${process.pid}${point}`;
  const first = await engine('run', repository.path, marker, point);
  if (first !== 'killed') {
    expect(first).toMatch(/^done \d+$/);
    return 'past the end';
  }
  const at = `killed at point ${point}`;
  const bosun = new Bosun(repository.path);
  expect((await bosun.status()).run.state, at).toMatch(/interrupted|done/);
  await expect.poll(() => processesWith(marker), { message: `${at}: orphans` }).toEqual([]);

  if (point % 4 === 0) {
    // What is not a commit survives a clean; and an engine that takes over may be killed itself.
    await cleanWorkspaces({ cwd: repository.path });
    if ((await bosun.status()).run.state === 'interrupted')
      await engine('resume', repository.path, marker, 1 + (point % 7));
    await expect.poll(() => processesWith(marker), { message: `${at}: orphans of the resume` }).toEqual([]);
  }
  if ((await bosun.status()).run.state === 'interrupted') {
    // Nobody kills this one, so it needs no process of its own.
    const resumed = await bosun.resume();
    expect((await resumed.finished).state, at).toBe('done');
  }
  expect(processesWith(marker), `${at}: orphans after resume`).toEqual([]);

  const { run, tasks } = await bosun.status();
  expect([run.state, tasks.filter((task) => task.state !== 'done').map(({ id }) => id)], at).toEqual([
    'done',
    [],
  ]);
  const finished: string[] = [];
  for await (const page of bosun.events()) {
    for (const { event } of page) if (event.type === 'task.finished') finished.push(event.task);
  }
  expect(finished.toSorted(), `${at}: completed twice`).toEqual([...new Set(finished)].toSorted());
  expect(finished).toHaveLength(10);
  const { files } = await bosun.diff();
  expect(files.map((file) => file.path).toSorted(), `${at}: lost work`).toEqual(
    ['a.txt', 'b.txt', 'd.txt', 'e.txt', 'f-x.txt', 'f-y.txt', 'h.txt', 'joined.txt'].toSorted(),
  );
  // One commit per task that changed something, each exactly once.
  const log = await repository.git(
    '--git-dir=.git/bosun/git',
    'log',
    '--format=%s',
    `${run.baseCommit}..${run.headCommit}`,
  );
  expect(log.trim().split('\n').toSorted(), at).toEqual(['a', 'b', 'd', 'e', 'f.1', 'f.2', 'h']);
  return 'reached';
}

describe('an engine that is killed', () => {
  it(
    'loses nothing, repeats nothing and leaves nothing running, at every point of its journal',
    { timeout: 600_000 },
    async () => {
      let next = 1;
      let isPast = false;
      const reached: number[] = [];
      const worker = async (): Promise<void> => {
        while (!isPast && next < POINTS_MAX) {
          const point = next++;
          if ((await crashAt(point)) === 'past the end') isPast = true;
          else reached.push(point);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      expect(isPast).toBe(true);
      expect(reached.length).toBeGreaterThan(20);
    },
  );
});
