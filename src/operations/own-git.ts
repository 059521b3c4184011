/** The user's own repository, at the user's word: its branch, a commit of its files, and what differs. */
import type { Asked, Reading } from '../contract/operations.ts';
import { BosunError } from '../contract/errors.ts';
import type { Branch, Changes, Committed, GitStatus } from '../contract/outputs.ts';
import { commitFiles, treeOfFiles } from '../system/git/commit-files.ts';
import { openEngineGit } from '../system/git/engine-git.ts';
import { gitInRepository } from '../system/git/git.ts';
import { inspectRepository, type Repository } from '../system/git/repository.ts';
import { openWorkTree, readSettings } from '../system/git/work-tree.ts';
import { requireBranchName } from '../remote/push.ts';

export async function branch({ cwd, name }: Asked<'branch'>): Promise<Branch> {
  const repository = await inspectRepository(cwd);
  const { top, head } = repository;
  if (name === undefined)
    return { head, made: false, ...(repository.branch !== undefined && { name: repository.branch }) };
  await requireBranchName(name);
  const ref = `refs/heads/${name}`;
  const isThere = await gitInRepository(['rev-parse', '--verify', '--quiet', ref], {
    cwd: top,
    codes: [0, 1],
  });
  if (isThere.code === 0)
    throw new BosunError(
      'wrong-state',
      `${top} has a branch ${name} already: take another name, or switch to it with git switch ${name}`,
    );
  // only where it is still not there
  await gitInRepository(['update-ref', '-m', 'bosun branch', ref, head, ''], { cwd: top });
  await gitInRepository(['symbolic-ref', '-m', `bosun: moving to ${name}`, 'HEAD', ref], { cwd: top });
  return { name, head, made: true };
}

export async function commit({ cwd, message, signal }: Reading<'commit'>): Promise<Committed> {
  if (message.trim() === '') throw new BosunError('usage', 'a commit needs a message that says something');
  const made = await commitFiles(cwd, message, signal);
  if (made === undefined) return null;
  const { branch: on, ...rest } = made;
  return { ...rest, ...(on !== undefined && { branch: on }) };
}

export async function gitStatus({ cwd, signal }: Reading<'gitStatus'>): Promise<GitStatus> {
  const repository = await inspectRepository(cwd);
  await using tree = await openWorkTree(repository);
  const files = await tree.status(signal);
  const upstream = await upstreamOf(repository);
  return {
    ...(repository.branch !== undefined && { branch: repository.branch }),
    head: repository.head,
    ...(upstream !== undefined && { upstream }),
    files,
  };
}

export async function gitDiff({
  cwd,
  stat,
  signal,
  write,
}: Reading<'gitDiff'> & { write(piece: Buffer): Promise<void> | void }): Promise<Changes> {
  const repository = await inspectRepository(cwd);
  const git = await openEngineGit(repository);
  const to = await treeOfFiles(git, repository, signal);
  const files = (await git.numstat(repository.head, to)).map(({ path, added, deleted }) => ({
    path: path.toString(),
    added: added ?? null,
    deleted: deleted ?? null,
  }));
  if (!stat && files.length > 0) await git.streamDiff(repository.head, to, write, signal);
  return { from: repository.head, to, files };
}

/** As the branch's own configuration names it; undefined where it was never fetched. */
async function upstreamOf(repository: Repository): Promise<GitStatus['upstream']> {
  const { top, branch: current, head } = repository;
  if (current === undefined) return undefined;
  const settings = new Map(await readSettings(repository));
  const remote = settings.get(`branch.${current}.remote`) ?? 'origin';
  const there = (settings.get(`branch.${current}.merge`) ?? `refs/heads/${current}`).replace(
    'refs/heads/',
    '',
  );
  const name = `${remote}/${there}`;
  const found = await gitInRepository(['rev-parse', '--verify', '--quiet', `refs/remotes/${name}^{commit}`], {
    cwd: top,
    codes: [0, 1, 128],
  });
  if (found.code !== 0) return undefined;
  await using tree = await openWorkTree(repository);
  const counted = await tree.run([
    'rev-list',
    '--left-right',
    '--count',
    `${head}...${found.stdout.toString().trim()}`,
  ]);
  const [ahead = 0, behind = 0] = counted.stdout.toString().trim().split('\t').map(Number);
  return { name, ahead, behind };
}
