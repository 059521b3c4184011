/** Writes a first workflow that runs as it is, with no key. Never overwrites one. */
import { existsSync, realpathSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { machineError } from '../base/machine-failure.ts';
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { Initialised } from '../contract/outputs.ts';
import { WORKFLOW_FILES } from '../base/settings-path.ts';
import { gitInRepository } from '../system/git/git.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { openWorkTree } from '../system/git/work-tree.ts';
import { findGit } from '../system/files/state-directory.ts';
import { trust } from './trust.ts';

/** One with more is older than a first look can tell. */
const COMMITS_MAX = 10_000;

const FIRST = `# A workflow for bosun. Check it with "bosun check", run it with "bosun run".
name: hello

# Tasks start when what they need is done; these two run side by side, each in a workspace of its own.
tasks:
  notes:
    run: |
      echo "# Notes" > NOTES.md
      git log --oneline -5 >> NOTES.md

  count:
    run: git ls-files | wc -l > FILES.txt

  # Starts from what both of them did.
  summary:
    needs: [notes, count]
    run: |
      echo "" >> NOTES.md
      echo "$(cat FILES.txt) files" >> NOTES.md
    # Must pass before the work counts.
    check: grep -q files NOTES.md

# An agent is a program that gets a prompt on stdin and changes files:
#
# agents:
#   developer:
#     runtime: cli
#     command: my-agent
#
# tasks:
#   implement:
#     agent: developer
#     prompt: Fix the typos in README.md.
#     check: npm test
#     attempts: 3
`;

export async function initialise(options: Reading<'init'>): Promise<Initialised> {
  const there = WORKFLOW_FILES.find((name) => existsSync(path.join(options.cwd, name)));
  if (there !== undefined) return { file: there, written: false, trusted: false };
  const file = WORKFLOW_FILES[0];
  try {
    await writeFile(path.join(options.cwd, file), FIRST, { flag: 'wx' });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return { file, written: false, trusted: false };
    const what = `cannot write ${path.join(options.cwd, file)}`;
    throw machineError(cause, what) ?? new BosunError('system', `${what}: ${message}`, { cause });
  }
  return { file, written: true, trusted: await trustAll(options.cwd) };
}

/**
 * Only at the top of a repository that seems to be the user's own: no remote that may bring anything, no settings of
 * others, no commit by somebody else. Elsewhere a run asks, should it have to; the workflow written here never does.
 */
async function trustAll(cwd: string): Promise<boolean> {
  const top = findGit(cwd)?.top;
  if (top === undefined || realpathSync(top) !== realpathSync(cwd)) return false;
  if (['.bosun', '.claude'].some((name) => existsSync(path.join(top, name)))) return false;
  try {
    if ((await hasRemote(top)) || (await hasCommitsByOthers(top))) return false;
    trust({ cwd, everything: true });
    return true;
  } catch (error) {
    if (error instanceof BosunError) return false;
    throw error;
  }
}

async function hasRemote(top: string): Promise<boolean> {
  const remotes = ['config', '--get-regexp', String.raw`^remote\.`];
  return (await gitInRepository(remotes, { cwd: top, codes: [0, 1] })).code === 0;
}

async function hasCommitsByOthers(top: string): Promise<boolean> {
  const head = ['rev-parse', '--verify', '--quiet', 'HEAD'];
  if ((await gitInRepository(head, { cwd: top, codes: [0, 1] })).code !== 0) return false; // there is none
  const repository = await inspectRepository(top);
  await using tree = await openWorkTree(repository);
  const log = await tree.run(['log', `--max-count=${COMMITS_MAX}`, '--format=%ae', repository.head]);
  const own = await ownEmail(top);
  const emails = log.stdout.toString().trim().split('\n');
  return emails.length >= COMMITS_MAX || emails.some((email) => email !== own);
}

/** As the user says it outside of the repository, whose own settings may have come with its commits. */
async function ownEmail(top: string): Promise<string | undefined> {
  const { GIT_AUTHOR_EMAIL: given } = process.env;
  if (given !== undefined) return given.trim();
  const args = ['config', '--null', '--show-scope', '--get-all', 'user.email'];
  const { stdout } = await gitInRepository(args, { cwd: top, codes: [0, 1] });
  const said = stdout.toString().split('\0');
  let own: string | undefined;
  for (let n = 0; n + 1 < said.length; n += 2)
    if (said[n] !== 'local' && said[n] !== 'worktree') own = said[n + 1]!.trim();
  return own;
}
