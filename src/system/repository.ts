/** What the user's repository is, seen without changing anything in it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { git, reasonOf, splitNul, userGit } from './git.ts';

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
  /** Whether the work tree differs from HEAD, untracked files included. */
  dirty(): Promise<boolean>;
  /** What the user ignores beside .gitignore files, the weightiest first. */
  excludes(): Promise<string[]>;
}

export async function inspectRepository(cwd: string): Promise<Repository> {
  await checkGitVersion();
  if (!existsSync(cwd))
    throw new BosunError('no-repository', `${cwd} does not exist: name a directory inside a git repository`);
  const facts = await userGit(
    [
      'rev-parse',
      '--path-format=absolute',
      '--is-bare-repository',
      '--show-object-format',
      '--is-shallow-repository',
      '--git-dir',
      '--git-common-dir',
    ],
    { cwd, codes: [0, 128] },
  );
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
  const top = await userGit(['rev-parse', '--path-format=absolute', '--show-toplevel'], {
    cwd,
    codes: [0, 128],
  });
  if (top.code !== 0) {
    throw new BosunError(
      'no-repository',
      bare === 'true'
        ? `${cwd} is a bare repository, which has no files to work on: clone it (git clone ${cwd} somewhere) and run bosun there`
        : `${cwd} is inside a git directory, not in its work tree: change to the work tree`,
    );
  }
  const directory = top.stdout.toString().replace(/\n$/, '');
  const head = await userGit(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], {
    cwd: directory,
    codes: [0, 1, 128],
  });
  if (head.code !== 0) {
    throw new BosunError(
      'no-repository',
      `${directory} has no commit yet, and agents start from one: git add -A && git commit -m "Start"`,
    );
  }
  let excludes: Promise<string[]> | undefined; // read once: it is asked for at every collection
  const branch = await userGit(['symbolic-ref', '--quiet', '--short', 'HEAD'], {
    cwd: directory,
    codes: [0, 1],
  });
  return {
    top: directory,
    gitDir,
    commonDir,
    head: head.stdout.toString().trim(),
    branch: branch.code === 0 ? branch.stdout.toString().trim() : undefined,
    objectFormat,
    shallow: shallow === 'true',
    submodules: existsSync(path.join(directory, '.gitmodules')),
    dirty: async () => (await changedFiles(directory, 'all')).length > 0,
    excludes: () => (excludes ??= readExcludes(directory, commonDir)),
  };
}

/** The files of the last commit; undefined where there is none. */
export async function committedFiles(top: string): Promise<{ path: string; isLink: boolean }[] | undefined> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', 'HEAD'];
  const listed = await userGit(args, { cwd: top, codes: [0, 128] });
  if (listed.code !== 0) return undefined;
  return splitNul(listed.stdout).map((line) => ({
    path: line.subarray(line.indexOf(9) + 1).toString(),
    isLink: line.subarray(0, 6).toString() === '120000',
  }));
}

/** What differs from HEAD, as paths; the user's index is not even refreshed. */
export async function changedFiles(top: string, untracked: 'all' | 'no'): Promise<string[]> {
  const status = await userGit(
    [
      '--no-optional-locks',
      'status',
      '--porcelain=v1',
      '-z',
      '--no-renames',
      `--untracked-files=${untracked === 'all' ? 'normal' : 'no'}`,
      '--ignore-submodules=dirty',
    ],
    { cwd: top },
  );
  return splitNul(status.stdout).map((line) => line.subarray(3).toString());
}

async function readExcludes(top: string, commonDir: string): Promise<string[]> {
  const configured = await userGit(['config', '--type=path', '--get', 'core.excludesFile'], {
    cwd: top,
    codes: [0, 1],
  });
  const home = process.env.XDG_CONFIG_HOME || path.join(process.env.HOME ?? '/nonexistent', '.config');
  const global = configured.stdout.toString().trim() || path.join(home, 'git', 'ignore');
  const files = [path.join(commonDir, 'info', 'exclude'), path.resolve(top, global)];
  return Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
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
  return new BosunError('no-repository', `git cannot read the repository at ${cwd}: ${reasonOf(stderr)}`);
}
