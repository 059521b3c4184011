/**
 * What a workspace costs, against what git offers for the same: ready to run a command (against `git worktree
 * add`), and its changes collected as a commit (against `git add -A && git commit` in a checkout).
 *
 * Ready is: made, completed to a launch, and `true` run in it to its end; for git's side the checkout alone. The
 * base is there, as it is for every workspace but the first of a commit. Collecting is: the changes found, the
 * commit made, its ref set.
 */
import path from 'node:path';
import { collect } from '../src/collect/collect.ts';
import { chooseSandbox } from '../src/sandbox/choose.ts';
import { openEngineGit, type EngineGit } from '../src/system/git/engine-git.ts';
import type { Launcher } from '../src/system/process/process.ts';
import { inspectRepository } from '../src/system/git/repository.ts';
import { OverlayWorkspaces } from '../src/workspace/overlay.ts';
import type { Base, Workspaces } from '../src/workspace/workspace.ts';
import { run, spawnMs } from './command.ts';
import {
  atLeast,
  atMost,
  interleave,
  progress,
  roundsOr,
  timed,
  type Bench,
  type Figure,
} from './measure.ts';
import { git, GIT_ENVIRONMENT, repositoryOf, tenChanges } from './repository.ts';
import { runToEnd } from './run-to-end.ts';
import { scratch } from './scratch.ts';

const FEW_FILES = 5000;
const MANY_FILES = 50_000;
const ROUNDS = 9;
const WORKTREE_ROUNDS = 5;
const READY_RATIO_MIN = 20;
const FLAT_RATIO_MAX = 1.2;
const COLLECT_RATIO_MIN = { few: 5, many: 20 };
const ENVIRONMENT = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: process.env.HOME ?? '/' };

export const bench: Bench = {
  name: 'workspace',
  about: `workspaces on ${FEW_FILES} and ${MANY_FILES} files, against git worktree and git commit`,
  async *figures(): AsyncIterable<Figure> {
    progress(`making repositories of ${FEW_FILES} and ${MANY_FILES} files`);
    const few = await Side.open(FEW_FILES);
    const many = await Side.open(MANY_FILES);

    const ready = await interleave('workspace ready', roundsOr(WORKTREE_ROUNDS), {
      bosun: () => few.readyMs(),
      worktree: () => few.worktreeMs(),
    });
    yield atLeast(READY_RATIO_MIN, {
      name: `workspace ready at ${FEW_FILES} files`,
      value: ready.bosun,
      baseline: ready.worktree,
    });

    const flat = await interleave('workspace ready', roundsOr(ROUNDS), {
      few: () => few.readyMs(),
      many: () => many.readyMs(),
    });
    const name = `workspace ready at ${MANY_FILES} files, against ${FEW_FILES}`;
    yield atMost(FLAT_RATIO_MAX, { name, value: flat.many, baseline: flat.few });

    for (const [side, ratio] of [
      [few, COLLECT_RATIO_MIN.few],
      [many, COLLECT_RATIO_MIN.many],
    ] as const) {
      // Both once before they count: git's first one reads all files anew, and our own code is new, too.
      await side.commitMs();
      await side.collectMs();
      const label = `ten changes collected at ${side.fileCount} files`;
      const taken = await interleave(label, roundsOr(ROUNDS), {
        bosun: () => side.collectMs(),
        commit: () => side.commitMs(),
      });
      yield atLeast(ratio, { name: label, value: taken.bosun, baseline: taken.commit });
    }
  },
};

interface Parts {
  repo: string;
  engineGit: EngineGit;
  launcher: Launcher;
  workspaces: Workspaces;
  base: Base;
  /** Where git commits: a checkout of its own, so that the repository stays as it is. */
  checkout: string;
}

/** One repository, ready for both ways. */
class Side {
  readonly fileCount: number;
  readonly #parts: Parts;
  #count = 0;

  static async open(fileCount: number): Promise<Side> {
    const repo = await repositoryOf(fileCount);
    const engineGit = await openEngineGit(await inspectRepository(repo));
    const { launcher, overlay, notes } = await chooseSandbox(engineGit.sandbox);
    if (!overlay) throw new Error(`no overlays on this machine: ${notes.join('; ')}`);
    const workspaces = new OverlayWorkspaces(engineGit, launcher);
    const base = await workspaces.base(engineGit.repository.head);
    const checkout = path.join(scratch('checkout'), 'tree');
    await git(repo, 'worktree', 'add', '-q', '--detach', checkout);
    return new Side(fileCount, { repo, engineGit, launcher, workspaces, base, checkout });
  }

  private constructor(fileCount: number, parts: Parts) {
    this.fileCount = fileCount;
    this.#parts = parts;
  }

  async readyMs(): Promise<number> {
    const { workspaces, launcher, base } = this.#parts;
    let name = '';
    const ms = await timed(async () => {
      const workspace = await workspaces.create(base, this.#nextName());
      name = workspace.name;
      await runToEnd(launcher, { argv: ['true'], env: ENVIRONMENT, ...(await workspace.inside({})) });
    });
    await workspaces.remove(name);
    return ms;
  }

  async worktreeMs(): Promise<number> {
    const tree = path.join(scratch('worktree'), 'tree');
    const ms = await spawnMs(['git', 'worktree', 'add', '-q', '--detach', tree], {
      cwd: this.#parts.repo,
      env: GIT_ENVIRONMENT,
    });
    await git(this.#parts.repo, 'worktree', 'remove', '--force', tree);
    return ms;
  }

  async collectMs(): Promise<number> {
    const { workspaces, launcher, base, engineGit } = this.#parts;
    const mark = this.#nextName();
    const workspace = await workspaces.create(base, mark);
    const change = tenChanges(this.fileCount, this.#count);
    await runToEnd(launcher, {
      argv: ['sh', '-c', change],
      env: ENVIRONMENT,
      ...(await workspace.inside({})),
    });
    let changedCount = 0;
    const ms = await timed(async () => {
      const collected = await collect({
        git: engineGit,
        changes: await workspace.changes(),
        scope: {},
        parent: base.commit,
        ref: `refs/bosun/bench/${mark}`,
        message: `${mark}\n`,
        atMs: Date.now(),
      });
      changedCount = collected.changedCount;
    });
    if (changedCount !== 10) throw new Error(`${changedCount} changes were collected, not 10`);
    await workspaces.remove(workspace.name);
    return ms;
  }

  async commitMs(): Promise<number> {
    this.#count += 1;
    await run(['sh', '-c', tenChanges(this.fileCount, this.#count)], { cwd: this.#parts.checkout });
    const ms = await spawnMs(['sh', '-c', 'git add -A && git commit -q -m change'], {
      cwd: this.#parts.checkout,
      env: GIT_ENVIRONMENT,
    });
    const changed = await git(
      this.#parts.checkout,
      'diff-tree',
      '--no-commit-id',
      '--name-only',
      '-r',
      'HEAD',
    );
    if (changed.trim().split('\n').length !== 10) throw new Error(`git committed not 10 changes: ${changed}`);
    return ms;
  }

  #nextName(): string {
    this.#count += 1;
    return `change-${this.#count}`;
  }
}
