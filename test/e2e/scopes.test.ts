import { describe, expect, it } from 'vitest';
import { createRun } from '../../src/run/create-run.ts';
import { workflow } from '../../src/definition/builder.ts';
import type { WorkflowSource } from '../../src/contract/workflow.ts';
import { openEngine } from '../../src/run/open-engine.ts';
import { writeReport } from '../../src/operations/report.ts';
import { bosun, eventsIn } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const FILES = { 'README.md': 'readme\n', 'src/a.ts': 'a\n', 'src/keep.txt': 'keep\n' };

/** Drives a workflow to its end, as `bosun run` does. */
async function drive(repository: TestRepository, source: WorkflowSource): Promise<void> {
  await using room = await openEngine(repository.path);
  const { head } = room.repository;
  const run = { workflow: workflow(source), source: 'test', inputs: {}, base: head, dirty: false };
  const { id, claim } = await createRun(room.store, run, Date.now());
  await (await room.drive(id, { claim })).run([]);
  await writeReport(room, id);
}

describe('a task with a scope and limits of its own', () => {
  it('gets these, and those of its agent where it says nothing', async () => {
    await using repository = await makeRepository({
      files: {
        'bosun.yaml': `
name: own
on-failure: continue
agents:
  dev:
    runtime: cli
    command: cat > /dev/null; echo "$A $B" > said.txt
    scope: { env: { A: agent, B: agent } }
tasks:
  agent: { agent: dev, prompt: x, scope: { env: { A: task } } }
  plain: { run: 'echo "$A" > plain.txt', scope: { env: { A: task } } }
  slow: { run: sleep 20, limits: { minutes: 0.005 } }
  loud: { run: yes | head -c 2000000, limits: { output: 1000 } }
`,
      },
    });
    const run = await bosun(repository.path, 'run', '--json');
    const events = eventsIn(run.stdout);
    const ended = events.flatMap((event) => (event.type === 'task.finished' ? [event] : []));
    expect(ended.find(({ task }) => task === 'slow')?.outcome).toMatchObject({ reason: 'timeout' });
    const dropped = events.some((event) => event.type === 'attempt.output' && event.droppedBytes);
    expect(dropped).toBe(true);
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await repository.git('show', 'HEAD:said.txt')).toBe('task ');
    expect(await repository.git('show', 'HEAD:plain.txt')).toBe('task');
  });

  it('is held to them also where it is a plain command', async () => {
    await using repository = await makeRepository({ files: FILES });
    await drive(repository, {
      name: 'plain',
      tasks: {
        work: { run: 'echo x >> src/a.ts; echo note > src/notes.txt', scope: { write: ['src/*.ts'] } },
      },
    });
    const { stdout } = await bosun(repository.path, 'diff', '--task', 'work', '--outside', '--stat');
    expect(stdout).toMatch(/notes\.txt.*\n1 file/);
  });
});

describe('a task that changes files outside its scope', () => {
  it('is done, with what it may change alone; the rest is told of and kept', async () => {
    await using repository = await makeRepository({ files: FILES });
    const command = 'cat; echo x >> src/a.ts; echo note > src/notes.txt; rm src/keep.txt';
    await drive(repository, {
      name: 'scoped',
      agents: { dev: { runtime: 'cli', command, scope: { write: ['src/*.ts'] } } },
      tasks: {
        work: { agent: 'dev', prompt: 'Work.' },
        after: { needs: ['work'], run: 'ls src > after.txt' },
      },
    });
    const out = async (...args: string[]): Promise<string> => (await bosun(repository.path, ...args)).stdout;
    expect(await out('status')).toMatch(/done +work .*2 files outside its scope left out/);
    expect(await out('logs')).toMatch(
      /1 file changed, 2 files outside the scope left out: src\/keep\.txt, src\/notes\.txt \(kept in [0-9a-f]{7,}\)/,
    );
    expect(await out('report')).toContain('Left out, not allowed by the scope\n  work  src/keep.txt:');
    expect(await out('diff', '--task', 'work', '--stat')).toMatch(/^ +src\/a\.ts .*\n1 file/);
    expect(await out('diff', '--task', 'work', '--outside', '--stat')).toMatch(/keep\.txt.*\n.*notes\.txt/);
    expect((await bosun(repository.path, 'diff', '--outside')).stderr).toContain('name it with --task');
    expect((await bosun(repository.path, 'diff', '--task', 'after', '--outside')).stderr).toBe(
      'nothing was changed\n',
    );
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    // Also the task after it saw only what was allowed.
    expect(await repository.git('show', 'HEAD:after.txt')).toBe('a.ts\nkeep.txt');
    expect(await repository.git('ls-files')).toBe('README.md\nafter.txt\nsrc/a.ts\nsrc/keep.txt');
  });

  it('hears of it with why its attempt was not enough', async () => {
    await using repository = await makeRepository({ files: FILES });
    const command = 'tee -a src/said.ts; echo note > src/notes.txt';
    await drive(repository, {
      name: 'told',
      agents: { dev: { runtime: 'cli', command, scope: { write: ['src/*.ts'] } } },
      tasks: { work: { agent: 'dev', prompt: 'Work.', check: 'test -e never', attempts: 2 } },
    });
    const { stdout } = await bosun(repository.path, 'diff', '--task', 'work');
    expect(stdout).toContain('your scope does not allow them: src/notes.txt (outside the scope).');
  });
});
