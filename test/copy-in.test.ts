import { mkdir, readdir, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { copyIn, matchCopy } from '../src/workspace/copy-in.ts';
import { makeRepository } from './fixtures/repository.ts';

test('copy brings links as links and goes through none', async () => {
  await using repository = await makeRepository({ files: { 'tracked.md': 'x\n', 'deep/tracked.md': 'x\n' } });
  const { path: top } = repository;
  const outside = path.join(path.dirname(top), 'outside');
  await mkdir(path.join(outside, 'keys'), { recursive: true });
  await writeFile(path.join(outside, 'keys/secret'), 'secret');
  await symlink(outside, path.join(top, 'out'));
  await mkdir(path.join(top, 'deep/inner'), { mode: 0o750 });
  await writeFile(path.join(top, 'deep/inner/own'), 'own');
  await symlink(outside, path.join(top, 'deep/inner/out'));

  for (const glob of ['out/keys', 'out/keys/secret', 'out/keys/*', 'deep/inner/out/keys/**'])
    await expect(matchCopy(top, [glob]), glob).rejects.toThrow(
      'out is a symbolic link, which is not followed',
    );
  await expect(matchCopy(top, ['../outside'])).rejects.toThrow('leads out');
  await expect(matchCopy(top, ['missing'])).rejects.toThrow('has no such file');
  expect(await matchCopy(top, ['**/secret', 'o*/keys/*', 'out/*'])).toEqual([]);

  const matches = await matchCopy(top, ['out', 'deep/inner', 'dee?/*.md']);
  expect(matches).toEqual(['deep/inner', 'deep/tracked.md', 'out']);
  const target = path.join(path.dirname(top), 'target');
  await mkdir(target);
  await copyIn(top, matches, target);
  expect(await readlink(path.join(target, 'out'))).toBe(outside);
  expect(await readdir(path.join(target, 'deep'))).toEqual(['inner']);
  expect((await readdir(path.join(target, 'deep/inner'))).sort()).toEqual(['out', 'own']);
  expect((await stat(path.join(target, 'deep/inner'))).mode & 0o777).toBe(0o750);

  // between the search and the copy, a directory becomes a link
  await repository.git('mv', 'deep/tracked.md', 'elsewhere.md');
  await symlink(outside, path.join(top, 'swapped'));
  await expect(copyIn(top, ['swapped/keys'], target)).rejects.toThrow('swapped is a symbolic link');
});

test("copy never brings what is git's or bosun's own, in any spelling and however deep", async () => {
  await using repository = await makeRepository();
  const { path: top } = repository;
  const names = ['.Bosun/config.yaml', 'sub/.bosun/agent.md', 'sub/.GIT/config', 'sub/plain', '.env'];
  for (const name of names) {
    await mkdir(path.dirname(path.join(top, name)), { recursive: true });
    await writeFile(path.join(top, name), 'x');
  }
  expect(await matchCopy(top, ['.Bosun', 'sub/.bosun/agent.md', '.env'])).toEqual(['.env']);
  expect(await matchCopy(top, ['sub/*', 'sub/.[gG]*/*', '**/config*'])).toEqual(['sub/plain']);
});

test('copy brings more names at once than a command line takes', async () => {
  await using repository = await makeRepository();
  const { path: top } = repository;
  const deep = Array.from({ length: 12 }, () => 'd'.repeat(250)).join('/');
  await mkdir(path.join(top, deep), { recursive: true });
  const matches = Array.from({ length: 750 }, (_, n) => `${deep}/${n}`);
  for (const match of matches) writeFileSync(path.join(top, match), '');
  const target = path.join(path.dirname(top), 'target');
  await mkdir(target);
  await copyIn(top, matches, target);
  expect(await readdir(path.join(target, deep))).toHaveLength(matches.length);
});
