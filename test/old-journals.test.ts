/**
 * Journals that earlier versions wrote: whole repositories, in which the engine was killed in the middle of a run. Never
 * make one anew: what matters is that it was written by the code of its time.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { Bosun } from '../src/index.ts';
import { removeTree } from '../src/system/files/remove-tree.ts';

test('a run of November 2026 is shown, goes on, and has all that it had', async () => {
  await using repository = await unpacked('november-2026');
  const bosun = new Bosun(repository.path);
  const before = await bosun.status();
  expect(before.run).toMatchObject({ id: 'old-1', state: 'interrupted' });
  expect(before.tasks.map(({ id, state }) => `${id} ${state}`).join(', ')).toBe(
    'plan done, plan/first done, plan/then done, left done, right done, checked done, flaky failed, each done, ' +
      'each.1 done, each.2 done, each.3 done, never skipped, slow ready, ask waiting, last waiting',
  );
  expect(await bosun.report()).toMatchObject({ run: { state: 'interrupted' } });

  const live = await bosun.resume();
  await expect.poll(async () => (await bosun.status()).run.questions, { timeout: 20_000 }).toHaveLength(1);
  expect((await bosun.status()).run.questions[0]?.text).toBe('Ship it, a?');
  await bosun.answer('yes');
  expect((await live.finished).state).toBe('done'); // the task that failed says: continue
  const { files } = await bosun.diff();
  expect(files.map((file) => file.path).join(' ')).toBe(
    'again.txt each-0.txt each-1.txt each-2.txt first.txt last.txt said.txt second shared.txt slow.txt then.txt',
  );
});

async function unpacked(name: string): Promise<{ path: string } & AsyncDisposable> {
  const directory = await mkdtemp(path.join(tmpdir(), 'bosun-old-'));
  const archive = path.resolve(`test/fixtures/journals/${name}.tar.gz`);
  execFileSync('tar', ['-xzf', archive, '--no-same-owner', '-C', directory]);
  return {
    path: path.join(directory, 'repository'),
    [Symbol.asyncDispose]: () => removeTree(directory),
  };
}
