/** What pruning asks of git: whether work is merged, how much a run takes, and freeing objects that no run needs. */
import path from 'node:path';
import { attemptRef, baseRef, squashedRef } from '../collect/collect.ts';
import type { RunView } from '../contract/run.ts';
import { eventsOf, runsOf } from '../store/events.ts';
import { forgetHeld } from '../system/git/hold-objects.ts';
import { isOnBranch } from '../system/git/on-branch.ts';
import { usedBytes } from '../workspace/used-bytes.ts';
import type { Engine } from '../run/open-engine.ts';

/** Holds what the journals of the runs that stay speak of, while objects are swept. */
const HELD = 'refs/bosun-held/';

/** What of a run's work no branch or tag of the user's has; undefined where they have all of it. */
export async function unmergedWork(engine: Engine, run: RunView): Promise<string | undefined> {
  if (run.headCommit !== run.baseCommit && !(await isMerged(engine, run))) return 'its branch is not merged';
  const tasks = (await engine.store.tasks(run.id)).filter(({ state }) => state !== 'done');
  const refs = new Map(tasks.map(({ id }) => [attemptRef(run.id, id, 0).slice(0, -'@0'.length), id]));
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', path.posix.dirname(baseRef(run.id))];
  for (const line of (await engine.stages.git.text(args)).split('\n')) {
    const [commit, ref] = line.split(' ') as [string, string?];
    const task = ref && refs.get(ref.slice(0, ref.lastIndexOf('@')));
    if (task !== undefined && !(await isOnBranch(engine.repository.top, commit)))
      return `what ${task} made is on no branch`;
  }
  return undefined;
}

/** Commit by commit, or as the one commit that a squash made. */
async function isMerged(engine: Engine, { id, headCommit }: RunView): Promise<boolean> {
  if (await isOnBranch(engine.repository.top, headCommit)) return true;
  const squashed = await engine.stages.git.revParse(squashedRef(id, headCommit));
  return squashed !== undefined && (await isOnBranch(engine.repository.top, squashed));
}

/** About what goes with it. */
export async function sizeOnDisk({ home, store, stages }: Engine, run: RunView): Promise<number> {
  // a glob without a wildcard means what is below it, and the branch is a ref itself
  const branch = (await stages.git.revParse(run.branch)) === undefined ? [] : [run.branch];
  const refs = [`--glob=refs/bosun/${run.id}`, ...branch];
  const args = ['rev-list', '--disk-usage', '--objects', ...refs, '--not', run.baseCommit];
  const objects = await stages.git.run(args, { codes: [0, 128] });
  const files = await usedBytes(home.run(run.id));
  return files + (await store.bytes(run.id)) + (Number(objects.stdout.toString().trim()) || 0);
}

/** Removes objects that no ref and no run of the journal needs. */
export async function sweepObjects({ store, stages: { git } }: Engine): Promise<void> {
  await git.removeRefs([HELD]); // of a sweep that was cut off
  const named = new Set<string>();
  const bases = new Set<string>();
  for await (const run of runsOf(store)) {
    bases.add(run.baseCommit);
    for await (const { event } of eventsOf(store, run.id, { withoutOutput: true, valueBytesMax: 0 }))
      if (event.type !== 'attempt.agent')
        for (const [hash] of JSON.stringify(event).matchAll(/\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/g))
          named.add(hash);
  }
  const asked = await git.run(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: [...named].map((hash) => `${hash}\n`).join(''),
  });
  const commits = asked.stdout.toString().matchAll(/^([0-9a-f]+) commit$/gm);
  const lines = Array.from(commits, ([, hash]) => `create ${HELD}${hash} ${hash}\n`);
  await git.run(['update-ref', '--stdin'], { input: lines.join('') });
  await forgetHeld(git, bases);
  // Left behind by a prune that is killed, they would take objects that the next engine has just come to need.
  await git.run(['repack', '-a', '-d', '-l', '-q'], { mortal: true });
  await git.run(['prune', '--expire=now'], { mortal: true });
  await git.removeRefs([HELD]);
}
