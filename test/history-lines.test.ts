/** What a list of runs and the status of one say of merging, and what an exec was asked, in the directory it was typed in. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { bosun } from './fixtures/cli.ts';
import { makeRepository } from './fixtures/repository.ts';

const FLOW = `name: pair
tasks:
  one: { run: echo one > one.txt }
`;

test('history and status say what is merged', async () => {
  await using repository = await makeRepository({ files: { 'bosun.yaml': FLOW } });
  const { path: top } = repository;
  await bosun(top, 'run');
  expect(await linesOf(top)).toEqual([
    expect.stringMatching(/^✓ done +pair-1 .* 1 done · not merged · echo one > one\.txt$/),
  ]);
  const status = async (): Promise<string> => (await bosun(top, 'status', 'pair-1')).stdout;
  expect(await status()).toContain('  not merged with bosun: bosun merge pair-1\n');
  await bosun(top, 'merge');
  expect(await linesOf(top)).toEqual([expect.stringMatching(/1 done · merged · /)]);
  expect(await status()).toMatch(/^ {2}merged into main by \S+, \S+ ago$/m);
});

test('history says what an exec was asked, and finds what was merged by hand', async () => {
  await using repository = await makeRepository({ files: { 'sub/a.txt': 'a\n' } });
  const { path: top, git } = repository;
  const sub = path.join(top, 'sub');
  const first = await bosun(sub, 'exec', '--', 'sh', '-c', 'pwd; cat a.txt > two.txt');
  expect(first.stderr).toMatch(/│ \S+\/sub$/m);
  await git('fetch', '-q', '.git/bosun/git', 'bosun/exec-1');
  await git('merge', '-q', 'FETCH_HEAD');
  expect(await git('show', 'HEAD:sub/two.txt')).toBe('a');
  const command = "cd sub && sh -c 'pwd; cat a.txt > two.txt'";
  await bosun(top, 'exec', '--', 'true');
  expect(await linesOf(top)).toEqual([
    expect.stringMatching(/ exec-2 .* 1 done · true$/),
    expect.stringMatching(/ exec-1 .* 1 done · merged · cd sub && sh -c 'pwd; /),
  ]);
  const [, last] = (await bosun(top, 'history', '--json')).stdout.trimEnd().split('\n');
  expect(JSON.parse(last!)).toMatchObject({ about: command, isMerged: true });
});

async function linesOf(top: string): Promise<string[]> {
  return (await bosun(top, 'history')).stdout.trimEnd().split('\n');
}
