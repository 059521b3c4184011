/** Several runs that one program drives at the same time share an engine, and nothing else. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { bosun as command, startProgram } from './fixtures/cli.ts';
import { heldResources, type HeldResources } from './fixtures/held-resources.ts';
import { makeRepository, type TestRepository } from './fixtures/repository.ts';
import { testProgram } from './fixtures/test-program.ts';

const QUICK = workflow({ name: 'quick', tasks: { one: { run: 'echo 1 > one.txt' } } });
/** Waits for a person. */
const PATIENT = workflow({
  name: 'patient',
  tasks: { go: { approve: 'Go on?' }, after: { needs: ['go'], run: 'echo 2 > two.txt' } },
});
/** Has something at work until it is stopped. */
const ENDLESS = workflow({ name: 'endless', tasks: { one: { run: 'echo 1 > one.txt; sleep 1000' } } });

async function enginesOf(repository: TestRepository): Promise<string[]> {
  const names = await readdir(path.join(repository.path, '.git/bosun/engines'));
  // SQLite keeps a second file beside one that is held
  return names.filter((name) => name.endsWith('.lock'));
}

describe('runs of one program', { timeout: 120_000 }, () => {
  it('share one engine, ten of ten tasks each, and each keeps its own work', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const tasks = Object.fromEntries(
      Array.from({ length: 10 }, (_, n) => [`task-${n}`, { run: `echo "$BOSUN_RUN" > ${n}.txt` }]),
    );
    const ten = workflow({ name: 'ten', tasks });
    const runs = await Promise.all(Array.from({ length: 10 }, () => bosun.run(ten)));
    expect(await enginesOf(repository)).toHaveLength(1);
    const ended = await Promise.all(runs.map(({ finished }) => finished));
    expect(ended.map(({ state }) => state)).toEqual(Array.from({ length: 10 }, () => 'done'));
    expect(new Set(ended.map(({ id }) => id)).size).toBe(10);
    for (const { id } of ended) {
      const { files, patch } = await bosun.diff(id);
      expect(files).toHaveLength(10);
      expect(patch.toString().match(/^\+ten-\d+$/gm)).toEqual(Array.from({ length: 10 }, () => `+${id}`));
    }
    expect(await enginesOf(repository)).toEqual([]);
  });

  it('have fifty names where fifty are started in one second', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const none = workflow({ name: 'none', tasks: { one: { run: 'true', workspace: 'none' } } });
    const runs = await Promise.all(Array.from({ length: 50 }, () => bosun.run(none)));
    const ended = await Promise.all(runs.map(({ finished }) => finished));
    expect(ended.every(({ state }) => state === 'done')).toBe(true);
    expect(new Set(ended.map(({ id }) => id)).size).toBe(50);
  });

  it('end on their own: one is cancelled, one cannot start, and the others go on', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const [patient, endless] = [await bosun.run(PATIENT), await bosun.run(ENDLESS)];
    await expect(bosun.resume('nobody-1')).rejects.toThrow('there is no run nobody-1');
    await expect(bosun.resume(patient.id)).rejects.toThrow(`is at work on run ${patient.id}`);
    endless.cancel('now');
    expect((await endless.finished).state).toBe('cancelled');
    expect((await bosun.status(patient.id)).run.state).toBe('running');
    expect(await enginesOf(repository)).toHaveLength(1);
    // what has ended can be gone on with, by the engine that still drives the other
    const again = await bosun.resume(endless.id);
    again.cancel('now');
    expect((await again.finished).state).toBe('cancelled');
    patient.answer('go', 'yes');
    expect((await patient.finished).state).toBe('done');
    expect((await bosun.diff(patient.id)).files.map(({ path: file }) => file)).toEqual(['two.txt']);
  });

  it('start from what is committed now, though their engine is older', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const patient = await bosun.run(PATIENT);
    await repository.write({ 'new.txt': 'new\n' });
    await repository.git('add', '-A');
    await repository.git('commit', '-m', 'Later');
    const committed = workflow({ name: 'committed', tasks: { one: { run: 'cat new.txt > one.txt' } } });
    expect((await (await bosun.run(committed)).finished).state).toBe('done');
    await repository.write({ 'dirty.txt': 'dirty\n' });
    const dirty = workflow({ name: 'dirty', tasks: { one: { run: 'cat new.txt dirty.txt > one.txt' } } });
    expect((await (await bosun.run(dirty, { dirty: true })).finished).state).toBe('done');
    patient.cancel('now');
    await patient.finished;
  });

  it('leave nothing behind in an engine that goes on', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const patient = await bosun.run(PATIENT);
    const runSome = async (count: number): Promise<HeldResources> => {
      for (let n = 0; n < count; n++) expect((await (await bosun.run(QUICK)).finished).state).toBe('done');
      return heldResources();
    };
    const few = await runSome(2);
    expect(await runSome(12)).toEqual(few);
    expect(await enginesOf(repository)).toHaveLength(1);
    patient.cancel('now');
    await patient.finished;
  });

  it('are cancelled when the program closes them, with their work kept, and no more can be started', async () => {
    await using repository = await makeRepository();
    const bosun = new Bosun(repository.path);
    const runs = [await bosun.run(PATIENT), await bosun.run(ENDLESS)];
    await bosun[Symbol.asyncDispose]();
    const ended = await Promise.all(runs.map(({ finished }) => finished));
    expect(ended.map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
    expect(await enginesOf(repository)).toEqual([]);
    await expect(bosun.run(QUICK)).rejects.toThrow('this Bosun was closed');
    expect((await bosun.status(ended[0]!.id)).run.state).toBe('cancelled');
  });

  it('can each be resumed by another engine when theirs is killed', async () => {
    await using repository = await makeRepository();
    const program = testProgram('many-runs');
    const started = startProgram([process.execPath, program, repository.path, '3'], repository.path);
    await started.prints('all at work');
    started.child.kill('SIGKILL');
    await started.finished;
    const ids = [1, 2, 3].map((n) => `patient-${n}`);
    const resumed = await Promise.all(ids.map((id) => command(repository.path, 'resume', id)));
    for (const { code, stderr } of resumed) expect(code, stderr).toBe(0);
    for (const id of ids) {
      const { patch } = await new Bosun(repository.path).diff(id);
      expect(patch.toString().match(/^\+\d$/gm)).toEqual(['+1', '+2']);
    }
  });
});
