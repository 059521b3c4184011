/** Whoever takes more of the machine than he may is stopped or held; the others, and the engine, go on. */
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bosun } from '../fixtures/cli.ts';
import { runFenced, type Told } from '../fixtures/fenced-run.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const HOGS = path.resolve('test/fixtures/hogs');

let repository: TestRepository;
beforeAll(async () => {
  const names = (await readdir(HOGS)).filter((name) => !name.endsWith('.ts'));
  const files = await Promise.all(
    names.map(async (name) => [`hogs/${name}`, await readFile(path.join(HOGS, name))] as const),
  );
  repository = await makeRepository({ files: Object.fromEntries(files) });
});
afterAll(() => repository[Symbol.asyncDispose]());

/** Each leaves something behind first: it must not be lost. */
function hogs(tasks: Record<string, [command: string, limits: string]>): string {
  const lines = Object.entries(tasks).map(
    ([name, [command, limits]]) =>
      `  ${name}: { run: ${JSON.stringify(`echo ${name} > ${name}.txt; ${command}`)}, limits: ${limits} }`,
  );
  return `concurrency: 20\ntasks:\n${lines.join('\n')}\n`;
}

describe('a hog', () => {
  let run: Told;
  beforeAll(async () => {
    run = await runFenced(
      repository,
      hogs({
        memory: ['sh hogs/memory.sh 200', '{ memory: 64MB }'],
        family: ['sh hogs/memory-children.sh 30 8', '{ memory: 100MB }'],
        tables: ['perl hogs/memory-tables.pl 150', '{ memory: 100MB }'],
        forks: ['perl hogs/forks.pl 150', '{ processes: 40 }'],
        bomb: ["perl -e 'my $end = time + 10; fork while time < $end'", '{ processes: 40 }'],
        disk: ['sh hogs/disk-file.sh . 100', '{ disk: 16MB }'],
        deleted: ['perl hogs/disk-deleted.pl . 100', '{ disk: 16MB }'],
        entries: ['mkdir many; perl hogs/disk-entries.pl many 20000', '{ disk: 2MB }'],
        slow: ["trap '' TERM; sleep 60; sleep 60", '{ minutes: 0.03 }'],
        neighbour: [
          'n=0; while [ $n -lt 25 ]; do sleep 0.1; n=$((n + 1)); done',
          '{ memory: 64MB, processes: 40, disk: 16MB }',
        ],
      }),
    );
  });

  it.each([
    ['memory', /^used (\d+) MB of memory; 64 MB are allowed$/],
    ['family', /^used (\d+) MB of memory; 100 MB are allowed$/],
    ['tables', /^used (\d+) MB of memory; 100 MB are allowed$/],
    ['forks', /^ran (\d+) processes and threads; 40 are allowed$/],
    ['bomb', /^ran (\d+) processes and threads; 40 are allowed$/],
    ['disk', /^wrote (\d+) MB to disk; 16 MB are allowed$/],
    ['deleted', /^wrote (\d+) MB to disk; 16 MB are allowed$/],
    ['entries', /^made (\d+) files and directories; \d+ are allowed with 2 MB of disk$/],
  ])('of %s is stopped; the outcome says what was allowed and what was seen', (task, message) => {
    expect(run.ended(task).outcome).toEqual({
      kind: 'failed',
      reason: 'limit',
      message: expect.stringMatching(message),
    });
    expect(run.changed(task)).toContain(`A ${task}.txt`);
  });

  it('of time is stopped, whatever it does about signals', () => {
    const { outcome, durationMs } = run.ended('slow');
    expect(outcome).toEqual({ kind: 'failed', reason: 'timeout', message: 'it did not end within 1.8s' });
    expect(durationMs).toBeLessThan(30_000); // it would take two minutes, and the bomb beside it slows all down
    expect(run.changed('slow')).toEqual(['A slow.txt']);
  });

  it('leaves its neighbours alone, and the engine, which goes on to the end', async () => {
    expect(run.ended('neighbour').outcome).toEqual({ kind: 'done' });
    expect(run.events.at(-1)).toMatchObject({ type: 'run.finished', state: 'failed' });
    expect(run.code).toBe(1);
    expect((await bosun(repository.path, 'report')).stdout).toMatch(
      /memory +went past a limit: used \d+ MB of memory; 64 MB are allowed/,
    );
  });
});

describe('a hog that is not the command itself', () => {
  let run: Told;
  beforeAll(async () => {
    const memory = 'limits: { memory: 64MB }';
    run = await runFenced(
      repository,
      `concurrency: 8
tasks:
  check: { run: echo x > check.txt, check: sh hogs/memory.sh 200, ${memory} }
  setup: { run: 'true', workspace: { setup: sh hogs/memory.sh 200 }, ${memory} }
  threads: { run: "perl -Mthreads -e 'threads->create(sub { sleep 9 }) for 1 .. 100; sleep 9'", limits: { processes: 30 } }
  still: { run: "perl -e 'my $x = q(x) x 209715200; kill 19, $$'; sleep 9", ${memory} }
  git: { scope: { write: [] }, run: dd if=/dev/zero of=.git/big bs=1M count=100; sleep 9, limits: { disk: 16MB } }
  output: { run: dd if=/dev/zero of=$BOSUN_OUTPUT bs=1M count=100; sleep 9, limits: { disk: 16MB } }
  holes: { run: truncate -s 100G holes, limits: { disk: 16MB } }
`,
    );
  });

  it.each([
    [
      'check',
      'check',
      /^the check `sh hogs\/memory\.sh 200` failed: used \d+ MB of memory; 64 MB are allowed$/,
    ],
    ['setup', 'setup', /^cannot run the setup command .*: it used \d+ MB of memory; 64 MB are allowed$/],
    ['threads', 'limit', /^ran \d+ processes and threads; 30 are allowed$/],
    ['still', 'limit', /^used \d+ MB of memory; 64 MB are allowed$/],
    ['git', 'limit', /^wrote \d+ MB to disk; 16 MB are allowed$/],
    ['output', 'limit', /^wrote \d+ MB to disk; 16 MB are allowed$/],
  ])('is stopped and named, too: %s', (task, reason, message) => {
    expect(run.ended(task).outcome).toMatchObject({ reason, message: expect.stringMatching(message) });
  });

  it('is left out of the result where it is one file, larger than any result may be', () => {
    expect(run.ended('holes')).toMatchObject({
      outcome: { kind: 'done' },
      collected: { changed: [], refused: ['holes: larger than 4 GB'] },
    });
  });
});

describe('a hog that is held', () => {
  let run: Told;
  beforeAll(async () => {
    const fill = 'dd if=/dev/zero bs=1M count=60 of=';
    const spin = `perl -e 'use Time::HiRes q(time); my $end = time + 1.5; 1 while time < $end; printf qq(%.2f\\n), (times)[0] + (times)[1]'`;
    run = await runFenced(
      repository,
      hogs({
        cpu: [`sleep 1; ${spin}`, '{ cpu: 0.2 }'],
        files: ['perl hogs/descriptors.pl 500', '{ files: 64 }'],
        output: ['yes | head -c 30000000; echo the end', '{ output: 100KB }'],
        tmp: [`${fill}/tmp/big || ${fill}/var/tmp/big`, '{ disk: 16MB }'],
        home: [`${fill}$HOME/big`, '{ disk: 16MB }'],
        memory: [`${fill}/tmp/big; ${fill}/dev/shm/big`, '{ memory: 16MB }'],
        neighbour: ['sleep 2', '{ files: 64, disk: 16MB }'],
      }),
    );
  });

  it('gets no more of the processors than it may', () => {
    expect(run.ended('cpu').outcome).toEqual({ kind: 'done' });
    expect(Number(run.printed('cpu'))).toBeLessThan(0.8);
  });

  it('cannot open more files than it may', () => {
    expect(run.ended('files').outcome).toEqual({ kind: 'done' });
    const opened = Number(run.printed('files'));
    expect(opened).toBeGreaterThan(50);
    expect(opened).toBeLessThan(64);
  });

  it('prints as much as it likes, of which the beginning and the end are kept', async () => {
    expect(run.ended('output').outcome).toEqual({ kind: 'done' });
    const printed = run.printed('output');
    expect(printed.length).toBeLessThan(200_000);
    expect(printed).toMatch(/^y\ny\n[^]*\nthe end\n$/);
    const dropped = run.events.flatMap(
      (event) => (event.type === 'attempt.output' && event.droppedBytes) || 0,
    );
    expect(Math.max(...dropped)).toBeGreaterThan(29_000_000);
    expect((await bosun(repository.path, 'logs', '--task', 'output')).stdout).toMatch(/left out/);
  });

  it.each(['tmp', 'home'])('finds no more room than it may use: %s', (task) => {
    expect(run.ended(task).outcome).toMatchObject({ reason: 'exit', exitCode: 1 });
    expect(run.printed(task).match(/No space left on device/g)).toHaveLength(task === 'home' ? 1 : 2);
    expect(run.changed(task)).toEqual([`A ${task}.txt`]);
  });

  it('finds no more room in memory than it may use, or is ended where it was seen to have filled it', () => {
    const { outcome } = run.ended('memory');
    expect(run.changed('memory')).toEqual(['A memory.txt']);
    if (outcome.kind === 'failed' && outcome.reason === 'limit') {
      const [, usedMb] = /^used (\d+) MB of memory; 16 MB are allowed$/.exec(outcome.message) ?? [];
      // both places full, and what the command itself takes
      return expect(Number(usedMb)).toBeLessThan(16 + 16 + 16);
    }
    expect(outcome).toMatchObject({ reason: 'exit', exitCode: 1 });
    return expect(run.printed('memory').match(/No space left on device/g)).toHaveLength(2);
  });

  it('leaves its neighbours alone', () => {
    expect(run.ended('neighbour').outcome).toEqual({ kind: 'done' });
  });
});
