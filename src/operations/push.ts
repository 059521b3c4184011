/** Sending a run's work to a remote as a branch. Nothing is forced, and nothing of the user's changes here. */
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { Pushed } from '../contract/outputs.ts';
import { isOpen, type RunView } from '../contract/run.ts';
import { forgeOf, newRequestPage } from '../remote/forge.ts';
import { findRemote, type Remote } from '../remote/find-remote.ts';
import { pushCommit } from '../remote/push.ts';
import { findRun, openJournal, shownState } from '../run/journal.ts';
import { openEngineGit, type EngineGit } from '../system/git/engine-git.ts';
import { requireObjects } from '../system/git/hold-objects.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { reachRemote, remoteConfig, type ReachOptions } from './reach-remote.ts';

export type PushOptions = Reading<'push'> & ReachOptions;

export interface PushedWork extends Pushed {
  at: Remote;
  view: RunView;
  git: EngineGit;
}

export async function pushRun(options: PushOptions): Promise<Pushed> {
  const { at: _, view: __, git: ___, ...pushed } = await pushWork(options);
  return pushed;
}

/** The same, with what a pull request of it is made of. */
export async function pushWork(options: PushOptions): Promise<PushedWork> {
  await using journal = await openJournal(options.cwd);
  const run = await findRun(journal, options.run);
  const state = await shownState(journal, run);
  if (isOpen({ state }))
    throw new BosunError(
      'wrong-state',
      `run ${run.id} is still ${state}; wait for it, or cancel it: bosun cancel ${run.id}`,
    );
  if (run.headCommit === run.baseCommit)
    throw new BosunError('wrong-state', `run ${run.id} changed nothing, so there is nothing to push`);
  const repository = await inspectRepository(journal.home.top);
  const at = await findRemote(repository, options.remote, 'push');
  const git = await openEngineGit(repository);
  await requireObjects(git, run.baseCommit, `run ${run.id}`);
  options.signal?.throwIfAborted();
  const { branch = run.branch } = options;
  const to = at.name ?? at.address.host;
  const kind = await pushCommit(await reachRemote(at, options), {
    gitDir: git.directory,
    commonDir: repository.commonDir,
    commit: run.headCommit,
    branch,
    what: `run ${run.id}`,
    to,
  });
  const forge = forgeOf(at.address, remoteConfig(at.address)?.forge);
  const link = forge && newRequestPage(forge, at.address, branch);
  return {
    run: run.id,
    remote: at.name ?? at.address.url,
    branch,
    commit: run.headCommit,
    kind,
    ...(link !== undefined && { link }),
    at,
    view: run,
    git,
  };
}
