import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeScratch, sweepScratch } from '../src/system/files/scratch.ts';

const HOUR_MS = 3_600_000;
/** No machine gives a process such a number. */
const NOBODY = 2 ** 30;

test('scratch is swept once it is old and nobody has it, never what a process out of sight may be using', async () => {
  const git = mkdtempSync(path.join(tmpdir(), 'bosun-scratch-'));
  onTestFinished(() => rmSync(git, { recursive: true }));
  const state = path.join(git, 'bosun');
  mkdirSync(state, { mode: 0o700 });
  const made = async (name: string | undefined, hours: number): Promise<string> => {
    const directory = name === undefined ? await makeScratch(git) : path.join(state, 'tmp', name);
    mkdirSync(directory, { recursive: true });
    const atMs = Date.now() - hours * HOUR_MS;
    utimesSync(directory, atMs / 1000, atMs / 1000);
    return directory;
  };
  const own = await made(undefined, 2);
  // a container's process has a number that means nothing here
  const elsewhere = await made(`${NOBODY}-fresh`, 0.5);
  const left = await made(`${NOBODY}-left`, 2);
  // another process has got the number since
  const reused = await made(`${process.pid}-reused`, 24 * 8);
  await sweepScratch(state);
  expect([own, elsewhere, left, reused].map((file) => existsSync(file))).toEqual([true, true, false, false]);
});
