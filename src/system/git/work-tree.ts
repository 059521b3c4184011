/**
 * git on the user's files and index. The git directory is one of ours, made for the occasion: of the repository's own
 * configuration it has a short list of settings that say how files look, and nothing that names a command. Filters
 * (git-lfs for instance) run where the user's own configuration defines them, as with `git add` and `git checkout`.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { git, gitOnFiles, splitNul, type GitOptions } from './git.ts';
import type { Captured } from '../process/process.ts';
import { removeTree } from '../files/remove-tree.ts';
import type { Repository } from './repository.ts';
import { makeScratch } from '../files/scratch.ts';

/** How files look in the work tree. A setting that is not here does not count. */
const SETTINGS = new Set([
  'core.autocrlf',
  'core.bigfilethreshold',
  'core.checkstat',
  'core.eol',
  'core.filemode',
  'core.ignorecase',
  'core.precomposeunicode',
  'core.protecthfs',
  'core.protectntfs',
  'core.safecrlf',
  'core.sparsecheckout',
  'core.sparsecheckoutcone',
  'core.symlinks',
  'core.trustctime',
]);
const INFO = ['attributes', 'exclude', 'sparse-checkout'];
const FILTER = /^filter\.(.+)\.(clean|smudge|process)$/;

export type RepositoryPlace = Pick<Repository, 'top' | 'gitDir' | 'commonDir' | 'objectFormat' | 'head'>;

export async function openWorkTree(place: RepositoryPlace): Promise<WorkTree> {
  const { commonDir, gitDir, objectFormat, head } = place;
  const settings = await readSettings(place);
  const directory = await makeScratch(commonDir);
  try {
    const version = objectFormat === 'sha1' ? 0 : 1;
    const format = version === 0 ? '' : `[extensions]\n\tobjectFormat = ${objectFormat}\n`;
    await Promise.all(['objects', 'refs', 'info'].map((name) => mkdir(path.join(directory, name))));
    await writeFile(
      path.join(directory, 'config'),
      `[core]\n\trepositoryFormatVersion = ${version}\n\tbare = false\n${format}`,
    );
    await writeFile(path.join(directory, 'HEAD'), `${head}\n`);
    const copy = (from: string, name: string): Promise<void> =>
      copyFile(path.join(from, name), path.join(directory, name)).catch(ignoreMissing);
    await Promise.all([
      ...INFO.map((name) => copy(name === 'sparse-checkout' ? gitDir : commonDir, path.join('info', name))),
      copy(commonDir, 'shallow'),
      ...(await readdir(gitDir))
        .filter((name) => /^sharedindex\.\w+$/.test(name))
        .map((name) => copy(gitDir, name)),
    ]);
  } catch (error) {
    await removeTree(directory);
    throw error;
  }
  return new WorkTree(place, directory, settings);
}

export class WorkTree implements AsyncDisposable {
  readonly #place: RepositoryPlace;
  readonly #directory: string;
  readonly #settings: [string, string][];

  constructor(place: RepositoryPlace, directory: string, settings: [string, string][]) {
    this.#place = place;
    this.#directory = directory;
    this.#settings = settings;
  }

  get index(): string {
    return path.join(this.#place.gitDir, 'index');
  }

  /** `tree` is another directory in place of the user's work tree, `index` another index, `objects` where objects go. */
  run(
    args: readonly string[],
    { tree = this.#place.top, index = this.index, objects, ...options }: WorkTreeOptions = {},
  ): Promise<Captured> {
    const kept = this.#settings.filter(([key]) => SETTINGS.has(key));
    return gitOnFiles(
      [
        `--git-dir=${this.#directory}`,
        `--work-tree=${tree}`,
        ...kept.flatMap(([key, value]) => ['-c', `${key}=${value}`]),
        '-c',
        'core.splitIndex=false',
        '-c',
        'core.untrackedCache=false',
        ...args,
      ],
      {
        ...options,
        cwd: tree,
        env: {
          ...options.env,
          GIT_INDEX_FILE: index,
          GIT_OBJECT_DIRECTORY: objects ?? path.join(this.#place.commonDir, 'objects'),
        },
      },
    );
  }

  /** What differs from HEAD, as paths; the user's index is not even refreshed. */
  async changed(untracked: 'all' | 'no'): Promise<string[]> {
    return (await this.#status(untracked)).map(({ path: file }) => file);
  }

  /** The same, files that git does not track included, with git's two letters for each. */
  status(signal?: AbortSignal): Promise<{ path: string; state: string }[]> {
    return this.#status('all', signal);
  }

  async #status(untracked: 'all' | 'no', signal?: AbortSignal): Promise<{ path: string; state: string }[]> {
    const status = await this.run(
      [
        '--no-optional-locks',
        'status',
        '--porcelain=v1',
        '-z',
        '--no-renames',
        `--untracked-files=${untracked === 'all' ? 'normal' : 'no'}`,
        '--ignore-submodules=dirty',
      ],
      { ...(signal && { signal }) },
    );
    return splitNul(status.stdout).map((line) => ({
      path: line.subarray(3).toString(),
      state: line.subarray(0, 2).toString(),
    }));
  }

  /**
   * Refuses paths that need a filter which only the repository's own configuration defines: without it files would
   * come out wrong, and with it a stranger's command would run.
   */
  async refuseForeignFilters(paths: readonly string[], index: string, what: string): Promise<void> {
    const foreign = await this.#foreignFilters();
    if (foreign.size === 0 || paths.length === 0) return;
    const input = paths.map((file) => `${file}\0`).join('');
    const fields = splitNul(
      (await this.run(['check-attr', '--cached', '-z', '--stdin', 'filter'], { index, input })).stdout,
    ).map(String);
    for (let n = 0; n + 2 < fields.length; n += 3) {
      const [file, , filter] = fields.slice(n, n + 3) as [string, string, string];
      if (!foreign.has(filter)) continue;
      throw new BosunError(
        'wrong-state',
        `${what} needs the filter "${filter}" for ${file}, which only ${this.#place.commonDir}/config defines, and bosun runs no command of a repository; if you trust it, define it in your own configuration (git config --global filter.${filter}.clean … and .smudge …) and try again`,
        { data: { files: [file] } },
      );
    }
  }

  async #foreignFilters(): Promise<Set<string>> {
    const local = this.#settings.flatMap(([key]) => FILTER.exec(key)?.[1] ?? []);
    if (local.length === 0) return new Set();
    const own = await this.run(['config', '--list', '--name-only', '-z']);
    const known = new Set(splitNul(own.stdout).flatMap((key) => FILTER.exec(key.toString())?.[1] ?? []));
    return new Set(local.filter((name) => !known.has(name)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeTree(this.#directory);
  }
}

export interface WorkTreeOptions extends Omit<GitOptions, 'cwd'> {
  tree?: string;
  index?: string;
  objects?: string;
}

/** As written in the repository's own files, without what these include. */
export async function readSettings({
  commonDir,
  gitDir,
}: Pick<RepositoryPlace, 'commonDir' | 'gitDir'>): Promise<[string, string][]> {
  const files = [path.join(commonDir, 'config'), path.join(gitDir, 'config.worktree')].filter(existsSync);
  const lists = await Promise.all(
    files.map((file) =>
      git(['config', '--file', file, '--no-includes', '--list', '-z'], { cwd: '/', codes: [0, 1, 128] }),
    ),
  );
  return lists.flatMap(({ stdout }) =>
    splitNul(stdout).map((line): [string, string] => {
      const [key, ...value] = line.toString().split('\n');
      return [key!, value.length === 0 ? 'true' : value.join('\n')];
    }),
  );
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
