/** Whether a branch, a remote branch or a tag of the user's has a commit. */
import { gitInRepository } from './git.ts';

const EVERYWHERE = ['refs/heads', 'refs/remotes', 'refs/tags'];

/** On any of them, where no ref is named. */
export async function isOnBranch(top: string, commit: string, ref?: string): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', `--contains=${commit}`, '--format=%(refname)'];
  const found = await gitInRepository([...args, ...(ref === undefined ? EVERYWHERE : [ref])], {
    cwd: top,
    codes: [0, 1, 128, 129], // a commit that is not there is on no branch
  });
  return found.code === 0 && found.stdout.length > 0;
}
