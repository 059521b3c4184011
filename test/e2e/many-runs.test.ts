import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { perform } from '../../src/operations/perform.ts';
import { openJournal, shownState } from '../../src/run/journal.ts';
import { BOSUN, bosun, start, startProgram } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const QUICK = 'name: quick\ntasks: { one: { run: echo 1 > one.txt } }\n';
/** Waits for a person. */
const PATIENT =
  'name: patient\ntasks: { go: { approve: Go on? }, after: { needs: [go], run: echo 2 > two.txt } }\n';

async function detached(repository: TestRepository, command: string, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await bosun(repository.path, command, '--detach', ...words);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^[\w-]+-\d+\n$/);
  return stdout.trim();
}

describe('many runs at once', () => {
  it('work side by side in one repository, and each keeps its own work', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': QUICK } });
    const all = await Promise.all(Array.from({ length: 5 }, () => bosun(repository.path, 'run')));
    for (const { code, stderr } of all) expect(code, stderr).toBe(0);
    const history = (await bosun(repository.path, 'history', '--json')).stdout.trim().split('\n');
    const runs = history.map((line) => JSON.parse(line) as { id: string; state: string });
    expect(runs.map(({ id }) => id).toSorted()).toEqual([1, 2, 3, 4, 5].map((n) => `quick-${n}`));
    expect(runs.every(({ state }) => state === 'done')).toBe(true);
    for (const { id } of runs)
      expect((await bosun(repository.path, 'diff', id, '--stat')).stdout).toContain('one.txt');
    // one checkout serves them all, and no engine left a lock behind
    const state = path.join(repository.path, '.git/bosun');
    const bases = (await readdir(path.join(state, 'sandbox/bases'))).filter((name) => !name.startsWith('.'));
    expect(bases.length).toBeLessThanOrEqual(1);
    expect(await readdir(path.join(state, 'engines'))).toEqual([]);
  });

  it('are never seen without the engine that has just begun them', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': QUICK } });
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    await using journal = await openJournal(repository.path);
    const seen = new Set<string>();
    const interrupted = new Set<string>();
    const over = new AbortController();
    const look = async (): Promise<void> => {
      while (!over.signal.aborted) {
        for (const run of await journal.store.openRuns()) {
          seen.add(run.id);
          if ((await shownState(journal, run)) === 'interrupted') interrupted.add(run.id);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const looking = look();
    for (let n = 0; n < 2; n++) expect((await bosun(repository.path, 'run')).code).toBe(0);
    over.abort();
    await looking;
    expect(seen.size).toBe(2);
    expect([...interrupted]).toEqual([]);
  });

  it('are driven by one engine each: a second resume is refused, and says which process has it', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': PATIENT } });
    const id = await detached(repository, 'run');
    const { pid } = JSON.parse(
      await readFile(path.join(repository.path, `.git/bosun/runs/${id}/engine.json`), 'utf8'),
    ) as { pid: number };
    const second = await bosun(repository.path, 'resume', id);
    expect(second).toMatchObject({ code: 2 });
    expect(second.stderr).toContain(`another bosun (process ${pid}) is at work on run ${id}`);
    expect((await bosun(repository.path, 'cancel', id)).code).toBe(0);
  });

  it('go on when the engine of one is killed, and that one can be resumed beside them', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': PATIENT } });
    const [killed, other] = [await detached(repository, 'run'), await detached(repository, 'run')];
    const note = path.join(repository.path, `.git/bosun/runs/${killed}/engine.json`);
    const { pid } = JSON.parse(await readFile(note, 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await expect
      .poll(async () => (await bosun(repository.path, 'status', killed)).stdout, { timeout: 10_000 })
      .toContain('interrupted');
    expect((await bosun(repository.path, 'status', other)).stdout).toContain('running');
    expect((await bosun(repository.path, 'wait', killed)).stderr).toContain(
      `run ${killed} was interrupted: its bosun process is gone; continue with: bosun resume ${killed}`,
    );
    // whoever resumes it at the same moment is told that somebody else does
    const both = await Promise.all([0, 1].map(() => bosun(repository.path, 'resume', '--detach', killed)));
    expect(new Set(both.map(({ code }) => code))).toEqual(new Set([0, 2]));
    expect(both.find(({ code }) => code === 2)!.stderr).toContain(`is at work on run ${killed}`);
    for (const id of [killed, other])
      expect((await bosun(repository.path, 'answer', 'yes', '--run', id)).code).toBe(0);
    expect((await bosun(repository.path, 'wait', killed, other)).code).toBe(0);
    expect((await bosun(repository.path, 'diff', killed, '--stat')).stdout).toContain('two.txt');
  });

  it('are shown together by status, those that ask first, and named by it to look at one', async () => {
    await using repository = await makeRepository({
      files: { 'bosun.yaml': PATIENT, 'nap.yaml': 'name: nap\ntasks: { z: { run: sleep 60 } }\n' },
    });
    const asking = await detached(repository, 'run');
    const napping = await detached(repository, 'run', 'nap.yaml');
    await expect
      .poll(async () => (await bosun(repository.path, 'status')).stdout, { timeout: 10_000 })
      .toContain('Go on?');
    const { stdout } = await bosun(repository.path, 'status');
    expect(stdout.indexOf(asking)).toBeLessThan(stdout.indexOf(napping));
    expect(stdout).toContain(`bosun answer go yes|no --run ${asking}`);
    expect(stdout).toContain('2 runs at work');
    const lines = (await bosun(repository.path, 'status', '--json')).stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual([asking, napping]);
    // nobody guesses which of them is to be changed
    for (const words of [
      ['cancel'],
      ['pause'],
      ['resume'],
      ['steer', 'z', 'hello'],
      ['budget', '--usd', '9'],
    ]) {
      const { code, stderr } = await bosun(repository.path, ...words);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(
          `several runs are at work: ${napping}, ${asking}; name the one you mean: bosun ${words[0]} `,
        ),
      ]);
    }
    const paused = await bosun(repository.path, 'pause', asking);
    expect(paused.stderr).toContain(`run ${asking} is paused`);
    // the one that is paused is driven: it continues, and there is nothing to detach
    expect(await bosun(repository.path, 'resume', '--detach')).toMatchObject({
      code: 0,
      stdout: `${asking}\n`,
      stderr: '',
    });
    expect((await bosun(repository.path, 'cancel', napping)).code).toBe(0);
    // the only one at work is meant where none is named, although it is not the latest
    expect((await bosun(repository.path, 'status')).stdout).toContain(asking);
    expect((await bosun(repository.path, 'cancel')).code).toBe(0);
  });

  it('are left alone by clean and prune', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': PATIENT, 'quick.yaml': QUICK } });
    const id = await detached(repository, 'run');
    expect((await bosun(repository.path, 'run', 'quick.yaml')).code).toBe(0);
    expect((await bosun(repository.path, 'workspaces', 'clean')).code).toBe(0);
    const pruned = await bosun(
      repository.path,
      'prune',
      '--keep',
      '0',
      '--interrupted',
      '--unmerged',
      '--yes',
    );
    expect(pruned.stderr).toContain(`kept ${id}: it is at work`);
    expect(pruned.stderr).toContain('other runs are at work; prune again once they have ended');
    expect((await bosun(repository.path, 'history')).stdout).not.toContain('quick-1');
    expect((await bosun(repository.path, 'answer', 'yes')).code).toBe(0);
    expect((await bosun(repository.path, 'wait')).code).toBe(0);
    expect((await bosun(repository.path, 'diff', id, '--stat')).stdout).toContain('two.txt');
  });
});

describe('a detached run', () => {
  it('tells what is wrong with its file where it was typed, and starts nothing', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': 'name: x\ntasks: { a: {} }\n' } });
    const { code, stdout, stderr } = await bosun(repository.path, 'run', '--detach');
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('bosun.yaml');
    expect(existsSync(path.join(repository.path, '.git/bosun/journal.db'))).toBe(false);
  });

  it('is cancelled where nobody could be told its id, since Ctrl-C was faster', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': PATIENT } });
    const env = { ...process.env, BOSUN_DETACHED: '1' };
    const child = spawn(BOSUN, ['run'], {
      cwd: repository.path,
      env,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    (child.stdio[3] as Socket).destroy();
    await once(child, 'exit');
    expect((await bosun(repository.path, 'status', 'patient-1')).stdout).toContain('cancelled');
  });

  it('is waited for with its exit code: failed, cancelled, unknown', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': PATIENT } });
    const failed = await detached(repository, 'exec', '--', 'false');
    expect((await bosun(repository.path, 'wait', failed)).code).toBe(1);
    const cancelled = await detached(repository, 'run');
    const waiting = bosun(repository.path, 'wait', cancelled);
    await bosun(repository.path, 'cancel', cancelled);
    expect((await waiting).code).toBe(3);
    expect(await bosun(repository.path, 'wait', 'nope-9')).toMatchObject({ code: 2 });
  });

  it('survives the end of the session that started it', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': PATIENT } });
    const script = `${BOSUN} run --detach; kill -HUP 0; kill -TERM 0`;
    const typed = await startProgram(['setsid', 'sh', '-c', script], repository.path).finished;
    const id = typed.stdout.trim();
    expect(id).toBe('patient-1');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await bosun(repository.path, 'status', id)).stdout).toContain('asking');
    expect((await bosun(repository.path, 'cancel', id)).code).toBe(0);
  });

  it('whose repository is removed ends by itself', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': PATIENT } });
    const id = await detached(repository, 'run');
    const note = path.join(repository.path, `.git/bosun/runs/${id}/engine.json`);
    const { pid } = JSON.parse(await readFile(note, 'utf8')) as { pid: number };
    // It is still writing: a directory may be filled again while it is emptied.
    await rm(repository.path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 20_000 }).toBe(false);
  });
});

describe('attach', () => {
  it('shows what happens until the run ends, and has its exit code', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': PATIENT } });
    const id = await detached(repository, 'run');
    await expect
      .poll(async () => (await bosun(repository.path, 'status')).stdout, { timeout: 10_000 })
      .toContain('go asks: Go on?');
    expect((await bosun(repository.path, 'history')).stdout).toContain('1 asking, 1 waiting');
    expect((await bosun(repository.path, 'pause')).code).toBe(0);
    const attached = start(repository.path, 'attach');
    await attached.prints(`attached to run ${id}`);
    await attached.prints(`run ${id} is paused (by`);
    await attached.prints(`go of run ${id} asks: Go on?; answer with: bosun answer go yes|no --run ${id}`);
    await bosun(repository.path, 'resume');
    await bosun(repository.path, 'answer', 'yes');
    const { code, stderr, stdout } = await attached.finished;
    expect(code).toBe(0);
    expect(stderr).toContain(`attached to run ${id}`);
    expect(stderr).toMatch(/after .*done/);
    expect(stdout).toContain('bosun merge');
  });

  it('ends with the report of this end, where the run had ended before', async () => {
    const files = {
      'bosun.yaml':
        "name: twice\ntasks: { a: { run: 'sleep 1; echo a > a.txt' }, b: { needs: [a], run: 'true' } }\n",
    };
    await using repository = await makeRepository({ files });
    const id = await detached(repository, 'run');
    expect((await bosun(repository.path, 'cancel', id)).code).toBe(0);
    expect((await bosun(repository.path, 'wait', id)).code).toBe(3);
    const report = path.join(repository.path, `.git/bosun/runs/${id}/report.json`);
    await expect.poll(() => existsSync(report), { timeout: 10_000 }).toBe(true);
    const earlier = await readFile(report);
    const around = { cwd: repository.path, by: { kind: 'person', name: 'anna' } } as const;
    const { file: page } = await perform('reportPage', { run: id }, around);
    const earlierPage = await readFile(page);
    await detached(repository, 'resume', id);
    const { code, stdout } = await start(repository.path, 'attach').finished;
    expect(stdout).toContain(`✓ ${id} done`);
    expect(stdout).toContain('1 file changed');
    expect(code).toBe(0);
    // as they are until the engine has written the new ones
    await writeFile(report, earlier);
    await writeFile(page, earlierPage);
    expect((await perform('report', { run: id, written: true }, around)).run.state).toBe('done');
    await perform('reportPage', { run: id }, around);
    expect(await readFile(page)).not.toEqual(earlierPage);
  });

  it('is ended by Ctrl-C, and the run goes on', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': PATIENT } });
    const id = await detached(repository, 'run');
    const attached = start(repository.path, 'attach');
    await attached.prints(`attached to run ${id}`);
    attached.child.kill('SIGINT');
    const { code, stderr } = await attached.finished;
    expect(code).toBe(0);
    expect(stderr).toContain(`detached; run ${id} continues`);
    expect((await bosun(repository.path, 'status', id)).stdout).toContain('asking');
    expect((await bosun(repository.path, 'cancel', id)).code).toBe(0);
  });

  it('says what to do with a run that has ended, or that nobody drives', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': QUICK } });
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    const { code, stderr } = await bosun(repository.path, 'attach');
    expect(code).toBe(2);
    expect(stderr).toContain('run quick-1 is not at work: it is done; see: bosun report quick-1');
  });
});
