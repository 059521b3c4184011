/** What the user's repository is, seen without changing anything in it. */
import { constants, existsSync } from 'node:fs';
import { open, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { git, gitInRepository, IDENTITY, gitReason, splitNul, type Identity } from './git.ts';
import { openWorkTree } from './work-tree.ts';
import type { Captured } from '../process/process.ts';
import { assertRootsAlone } from '../files/owned.ts';
import { sandboxUid } from '../process/sandbox-user.ts';
import { findGit } from '../files/state-directory.ts';

const GIT_VERSION_MIN = [2, 38] as const;

/** The hash that names its objects. */
export type ObjectFormat = 'sha1' | 'sha256';

export interface Repository {
  /** The user's work tree. */
  top: string;
  /** The git directory of this work tree, and the one it shares with linked work trees. */
  gitDir: string;
  commonDir: string;
  head: string;
  /** Undefined on a detached HEAD. */
  branch: string | undefined;
  objectFormat: ObjectFormat;
  shallow: boolean;
  submodules: boolean;
  /** What differs from HEAD in the work tree, as paths. */
  changed(untracked: 'all' | 'no'): Promise<string[]>;
  /** What the user ignores beside .gitignore files, the weightiest first. */
  excludes(): Promise<string[]>;
  /** Who the user is, as git knows it; bosun itself where git does not know. */
  identity(): Promise<Identity>;
}

export async function inspectRepository(cwd: string): Promise<Repository> {
  const version = checkGitVersion();
  version.catch(() => {}); // it is awaited below, when there is a directory to ask in
  if (!existsSync(cwd)) {
    await version;
    throw new BosunError('no-repository', `${cwd} does not exist: name a directory inside a git repository`);
  }
  const found = sandboxUid === undefined ? undefined : findGit(cwd);
  if (found !== undefined) assertRootsAlone(found.top, found.commonDir);
  // All at once: every command that drives a run waits for them, and each is a process.
  const asked = ask(cwd);
  await version;
  const facts = await asked.facts;
  if (facts.code !== 0) throw notARepository(cwd, facts.stderr);
  // A path with a line break in it makes more lines.
  if (facts.stdout.toString().split('\n').length !== 6)
    throw new BosunError(
      'no-repository',
      `the path of the git directory of ${cwd} holds a line break; rename it, or move the repository`,
    );
  const [bare, objectFormat, shallow, gitDir, commonDir] = facts.stdout.toString().split('\n') as [
    string,
    ObjectFormat,
    string,
    string,
    string,
  ];
  const top = await asked.top;
  if (top.code !== 0) {
    throw new BosunError(
      'no-repository',
      bare === 'true'
        ? `${cwd} is a bare repository, which has no files to work on: clone it (git clone ${cwd} somewhere) and run bosun there`
        : `${cwd} is inside a git directory, not in its work tree: change to the work tree`,
    );
  }
  const directory = top.stdout.toString().replace(/\n$/, '');
  await refuseForeignTree(directory, gitDir);
  const head = await asked.head;
  if (head.code !== 0) {
    throw new BosunError(
      'no-repository',
      `${directory} has no commit yet, and agents start from one: git add -A && git commit -m "Start"`,
    );
  }
  const branch = await asked.branch;
  let excludes: Promise<string[]> | undefined; // read once: it is asked for at every collection
  let identity: Promise<Identity> | undefined;
  const place = { top: directory, gitDir, commonDir, objectFormat, head: head.stdout.toString().trim() };
  return {
    ...place,
    branch: branch.code === 0 ? branch.stdout.toString().trim() : undefined,
    shallow: shallow === 'true',
    submodules: existsSync(path.join(directory, '.gitmodules')),
    changed: async (untracked) => {
      await using tree = await openWorkTree(place);
      return await tree.changed(untracked);
    },
    excludes: () => (excludes ??= readExcludes(commonDir)),
    identity: () => (identity ??= readIdentity(directory)),
  };
}

/** What git says of a repository; whoever needs an answer awaits it. */
function ask(cwd: string): Record<'facts' | 'top' | 'head' | 'branch', Promise<Captured>> {
  const parse = (...args: string[]): Promise<Captured> =>
    gitInRepository(['rev-parse', ...args], { cwd, codes: [0, 1, 128] });
  const asked = {
    facts: parse(
      '--path-format=absolute',
      '--is-bare-repository',
      '--show-object-format',
      '--is-shallow-repository',
      '--git-dir',
      '--git-common-dir',
    ),
    top: parse('--path-format=absolute', '--show-toplevel'),
    head: parse('--verify', '--quiet', 'HEAD^{commit}'),
    branch: gitInRepository(['symbolic-ref', '--quiet', '--short', 'HEAD'], { cwd, codes: [0, 1] }),
  };
  for (const answer of Object.values(asked)) answer.catch(() => {}); // an earlier one may say why
  return asked;
}

/** A repository that came from elsewhere may name any directory as its work tree: that one has to agree. */
async function refuseForeignTree(top: string, gitDir: string): Promise<void> {
  const entry = path.join(top, '.git');
  const link = await readFile(entry, 'utf8').catch(() => undefined); // a file leads elsewhere, as in linked work trees
  const leads = link === undefined ? entry : path.resolve(top, link.replace(/^gitdir: /, '').trimEnd());
  const [found, own] = await Promise.all(
    [leads, gitDir].map((file) => realpath(file).catch(() => undefined)),
  );
  if (found !== undefined && found === own) return;
  throw new BosunError(
    'no-repository',
    `${gitDir}/config says that its files are in ${top}, which is not a work tree of it (core.worktree); bosun takes no such word of a repository: git config --file ${gitDir}/config --unset core.worktree`,
  );
}

/** The files of the last commit, as git lists them; undefined where there is none. */
export async function listCommitted(top: string): Promise<Buffer | undefined> {
  const repository = await inspectRepository(top).catch(() => undefined);
  if (repository === undefined) return undefined;
  await using tree = await openWorkTree(repository);
  return (await tree.run(['ls-tree', '-r', '-z', '--full-tree', repository.head])).stdout;
}

export function listedFiles(listing: Uint8Array): { path: string; isLink: boolean }[] {
  return splitNul(Buffer.from(listing.buffer, listing.byteOffset, listing.length)).map((line) => ({
    path: line.subarray(line.indexOf(9) + 1).toString(),
    isLink: line.subarray(0, 6).toString() === '120000',
  }));
}

/** The file that the user's own configuration names; the repository's could name any file of this machine. */
async function readExcludes(commonDir: string): Promise<string[]> {
  const configured = await gitInRepository(['config', '--type=path', '--get', 'core.excludesFile'], {
    cwd: '/',
    codes: [0, 1],
  });
  const home = process.env.XDG_CONFIG_HOME || path.join(process.env.HOME ?? '/nonexistent', '.config');
  const global = configured.stdout.toString().trim() || path.join(home, 'git', 'ignore');
  return [
    await readPlain(path.join(commonDir, 'info', 'exclude')),
    await readFile(path.resolve('/', global), 'utf8').catch(() => ''),
  ];
}

/** Follows no link: it could lead to a file that agents must not see. */
async function readPlain(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (handle === undefined) return '';
  try {
    return (await handle.stat()).isFile() ? await handle.readFile('utf8') : '';
  } finally {
    await handle.close();
  }
}

async function readIdentity(top: string): Promise<Identity> {
  const { GIT_AUTHOR_NAME: givenName, GIT_AUTHOR_EMAIL: givenEmail } = process.env;
  const setting = async (key: string): Promise<string> =>
    (await gitInRepository(['config', '--get', key], { cwd: top, codes: [0, 1] })).stdout.toString();
  // what git itself takes out of names
  const plain = (text: string): string => text.replace(/[\p{Cc}<>]+/gu, ' ').trim();
  const name = plain(givenName ?? (await setting('user.name')));
  const email = plain(givenEmail ?? (await setting('user.email')));
  return name === '' || email === '' ? IDENTITY : { name, email };
}

let versionChecked: Promise<void> | undefined;

function checkGitVersion(): Promise<void> {
  versionChecked ??= (async () => {
    const { stdout } = await git(['version']);
    const match = /(\d+)\.(\d+)/.exec(stdout.toString());
    const [major, minor] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
    const [majorMin, minorMin] = GIT_VERSION_MIN;
    if (major > majorMin || (major === majorMin && minor >= minorMin)) return;
    throw new BosunError(
      'system',
      `git ${major}.${minor} is too old: bosun needs git ${majorMin}.${minorMin} or newer to merge without a work tree`,
    );
  })();
  versionChecked.catch(() => (versionChecked = undefined));
  return versionChecked;
}

function notARepository(cwd: string, stderr: string): BosunError {
  if (/dubious ownership/.test(stderr)) {
    return new BosunError(
      'no-repository',
      `${cwd} belongs to another user, so git refuses it: git config --global --add safe.directory '${cwd}'`,
    );
  }
  if (/not a git repository/i.test(stderr)) {
    return new BosunError(
      'no-repository',
      `${cwd} is not inside a git repository: run bosun in one, or make one with git init`,
    );
  }
  return new BosunError('no-repository', `git cannot read the repository at ${cwd}: ${gitReason(stderr)}`);
}
