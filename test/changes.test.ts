import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Bosun, workflow } from '../src/index.ts';
import { changesOf, streamDiff } from '../src/operations/changes.ts';
import { findProgram } from '../src/system/process.ts';
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
