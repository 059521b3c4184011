import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { changesOf, streamDiff } from '../src/operations/changes.ts';
import { workspaces } from '../src/operations/workspaces.ts';
import { findProgram } from '../src/system/process/process.ts';
import { makeRepository } from './fixtures/repository.ts';

const LINES = 200_000;

it('counts lines without making a patch, and hands a large patch on in pieces', async () => {
  await using repository = await makeRepository();
  const bosun = new Bosun(repository.path);
  const run = `seq ${LINES} > numbers.txt`;
  const { finished } = await bosun.run(workflow({ name: 'w', tasks: { a: { run } } }));
  expect((await finished).state).toBe('done');

  // A git that writes down what it is asked.
  const tools = path.join(repository.path, '..', 'tools');
  await mkdir(tools);
  await writeFile(
    path.join(tools, 'git'),
    `#!/bin/sh\necho "$@" >> ${tools}/asked\nexec ${findProgram('git')} "$@"\n`,
  );
  await chmod(path.join(tools, 'git'), 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${tools}:${before}`;
  try {
    const { files } = await changesOf({ cwd: repository.path });
    expect(files).toEqual([{ path: 'numbers.txt', added: LINES, deleted: 0 }]);
    const asked = (await readFile(path.join(tools, 'asked'), 'utf8')).split('\n');
    expect(asked.filter((line) => / diff /.test(line))).toEqual([]);
  } finally {
    process.env.PATH = before;
  }

  const pieces: Buffer[] = [];
  await streamDiff({ cwd: repository.path }, (piece) => void pieces.push(piece));
  expect(pieces.length).toBeGreaterThan(10);
  expect(Buffer.concat(pieces).equals((await bosun.diff()).patch)).toBe(true);
});

/** Costs some 20 ms for each of these files; the second line, more than any file may. */
const COSTLY = `yes '*${'a'.repeat(60)}[bc]' | head -n 40 > .gitignore`;
const TOO_COSTLY = `yes '*${'a'.repeat(60)}[bc]' | head -n 400 > .gitignore`;
const files = (count: number): string => `for n in $(seq ${count}); do : > ${'a'.repeat(220)}$n; done`;

it('fails an attempt whose ignore rules take too long, and keeps its workspace', async () => {
  await using repository = await makeRepository();
  const bosun = new Bosun(repository.path);
  const run = `${TOO_COSTLY}; ${files(1)}`;
  const { finished } = await bosun.run(workflow({ name: 'w', tasks: { a: { run } } }));
  expect((await finished).state).toBe('failed');
  const { tasks } = await bosun.status();
  expect(tasks[0]?.message).toMatch(/the \.gitignore rules .*take too long to apply .*the workspace stays/);
  expect(await workspaces({ cwd: repository.path })).toHaveLength(1);
});

it('does not keep somebody waiting who cancels while ignore rules are applied', async () => {
  await using repository = await makeRepository();
  const bosun = new Bosun(repository.path);
  const run = `${COSTLY}; ${files(90)}; echo made`;
  const live = await bosun.run(workflow({ name: 'w', tasks: { a: { run } } }));
  for await (const batch of bosun.events(live.id, { follow: true }))
    if (batch.some(({ event }) => event.type === 'attempt.output')) break;
  await setTimeout(100); // it is being collected by now
  live.cancel('now');
  expect((await live.finished).state).toBe('cancelled');
  for await (const batch of bosun.events(live.id))
    for (const { event } of batch)
      if (event.type === 'attempt.finished') expect(event).toMatchObject({ outcome: { kind: 'cancelled' } });
  expect(await workspaces({ cwd: repository.path })).toHaveLength(1);
});
