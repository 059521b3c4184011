/** Fetching a remote's branches, and sending one of the user's own: `operations/push.ts` sends a run's. */
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { Fetched, PushedBranch } from '../contract/outputs.ts';
import { fetchRemote } from '../remote/fetch.ts';
import { findRemote } from '../remote/find-remote.ts';
import { pushCommit, requireBranchName } from '../remote/push.ts';
import { openEngineGit } from '../system/git/engine-git.ts';
import { gitInRepository } from '../system/git/git.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { reachRemote, type ReachOptions } from './reach-remote.ts';

export async function fetchBranches(options: Reading<'fetch'> & ReachOptions): Promise<Fetched> {
  const { branch } = options;
  const repository = await inspectRepository(options.cwd);
  const remote = await findRemote(repository, options.remote, 'fetch');
  const { name } = remote;
  if (name === undefined)
    throw new BosunError(
      'usage',
      'what is fetched is kept under the name of its remote: git remote add <name> <address>, then fetch that',
    );
  if (branch !== undefined) await requireBranchName(branch);
  const reach = await reachRemote(remote, options);
  return { remote: name, branches: await fetchRemote(reach, { repository, name, branch }) };
}

/** The current branch where none is named. */
export async function pushBranch(options: Reading<'gitPush'> & ReachOptions): Promise<PushedBranch> {
  const repository = await inspectRepository(options.cwd);
  const { top, commonDir } = repository;
  const { branch = repository.branch } = options;
  if (branch === undefined) throw new BosunError('usage', `${top} is on no branch: name the one to push`);
  await requireBranchName(branch);
  const found = await gitInRepository(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`], {
    cwd: top,
    codes: [0, 1],
  });
  if (found.code !== 0) throw new BosunError('not-found', `${top} has no branch ${branch}`);
  const commit = found.stdout.toString().trim();
  const remote = await findRemote(repository, options.remote, 'push');
  const { name, address } = remote;
  const git = await openEngineGit(repository); // it borrows the user's objects
  const reach = await reachRemote(remote, options);
  const to = name ?? address.host;
  const request = { gitDir: git.directory, commonDir, commit, branch, what: branch, to };
  const kind = await pushCommit(reach, request);
  // as git does it, so that a status knows
  if (name !== undefined)
    await gitInRepository(['update-ref', '-m', 'bosun push', `refs/remotes/${name}/${branch}`, commit], {
      cwd: top,
    });
  return { remote: name ?? address.url, branch, commit, kind };
}
