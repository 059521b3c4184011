/** Sends one commit to one branch of a remote. It never forces: what somebody else pushed there stays. */
import { BosunError } from '../contract/errors.ts';
import { git } from '../system/git/git.ts';
import type { Captured } from '../system/process/process.ts';
import { plainWords, serverWords, withoutToken } from './failure.ts';
import { talk, type RemoteReach } from './transfer.ts';

export interface PushRequest {
  /** A git directory of ours that has the commit. */
  gitDir: string;
  commonDir: string;
  commit: string;
  branch: string;
  /** What is pushed and where to, in words. */
  what: string;
  to: string;
}

export type PushKind = 'created' | 'updated' | 'nothing';

const FLAGS = ['--porcelain', '--no-verify', '--no-signed', '--no-follow-tags', '--no-recurse-submodules'];
const KINDS: Partial<Record<string, PushKind>> = { '*': 'created', ' ': 'updated', '=': 'nothing' };

export async function pushCommit(reach: RemoteReach, request: PushRequest): Promise<PushKind> {
  const { gitDir, commonDir, commit, branch, what, to } = request;
  await requireBranchName(branch);
  const result = await talk(reach, {
    doing: `cannot push ${what} to ${to}`,
    commonDir,
    args: (url) => [`--git-dir=${gitDir}`, 'push', ...FLAGS, '--', url, `${commit}:refs/heads/${branch}`],
    isAnswer: (answer) => answerOf(answer) !== undefined,
  });
  const [flag, told] = answerOf(result) ?? [];
  const kind = flag === undefined ? undefined : KINDS[flag];
  if (kind !== undefined && result.code === 0) return kind;
  throw rejected(request, told ?? '', withoutToken(result.stderr, reach.token));
}

export async function requireBranchName(branch: string): Promise<void> {
  const isName =
    !branch.startsWith('-') &&
    branch !== 'HEAD' &&
    (await git(['check-ref-format', `refs/heads/${branch}`], { codes: [0, 1] })).code === 0;
  if (!isName)
    throw new BosunError(
      'usage',
      `${JSON.stringify(branch.slice(0, 100))} is not a name that a branch can have: no blanks, no .., no leading dash, none of ~^:?*[\\`,
    );
}

/** What git says of the one branch: how it went, and why. */
function answerOf({ stdout }: Captured): [string, string] | undefined {
  for (const line of stdout.toString().split('\n')) {
    const [, flag, told] = /^([ +\-*=!])\t[^\t]*\t(.*)$/.exec(line) ?? [];
    if (flag !== undefined && told !== undefined) return [flag, told];
  }
  return undefined;
}

function rejected({ branch, to, what }: PushRequest, told: string, stderr: string): BosunError {
  const words = plainWords(serverWords(stderr));
  const says = words === '' ? '' : ` (it says: ${words})`;
  const data = { stderr: plainWords(stderr) };
  if (/^\[rejected\] \((fetch first|non-fast-forward|stale info|needs force)\)/.test(told))
    return new BosunError(
      'rejected',
      `${to} has commits on ${branch} that ${what} does not have: somebody pushed there; nothing was overwritten: push to another branch with --branch`,
      { data },
    );
  const why = plainWords(told.replace(/^\[[\w ]+\] \(?|\)$/g, '')) || 'it gives no reason';
  return new BosunError(
    'rejected',
    `${to} refused the branch ${branch}: ${why}${says}; nothing was pushed: the branch may be protected, so push to another with --branch`,
    { data },
  );
}
