/**
 * The workspaces of a run's tasks, known for as long as an attempt may go on in them. One is removed only after the
 * journal says that its task has ended, and its layer is a commit.
 */
import type { Stages } from '../attempt/attempt.ts';
import { canGoOn } from '../schedule/fold/session.ts';
import type { Node } from '../schedule/state.ts';
import { tryRemoveTree } from '../system/files/remove-tree.ts';

/** A workspace of a task that an attempt may go on in. */
export interface KnownWorkspace {
  name: string;
  base: string;
  attempt: number;
  /** Its layer is a commit; until then it must not go. */
  isCollected?: boolean;
}

export class TaskWorkspaces {
  readonly #run: string;
  readonly #stages: Pick<Stages, 'workspaces' | 'home'>;
  readonly #byTask = new Map<string, KnownWorkspace[]>();

  constructor(run: string, stages: Pick<Stages, 'workspaces' | 'home'>) {
    this.#run = run;
    this.#stages = stages;
  }

  know(task: string, workspace: KnownWorkspace): void {
    const known = this.#byTask.get(task);
    if (known) known.push(workspace);
    else this.#byTask.set(task, [workspace]);
  }

  /** That of an attempt, where it made one. */
  of(task: string, attempt: number | undefined): KnownWorkspace | undefined {
    return this.#byTask.get(task)?.find((known) => known.attempt === attempt);
  }

  /** The journal says that the task has ended, and its work is a commit: its workspaces can go. */
  async clean(node: Node): Promise<void> {
    const workspaces = this.#byTask.get(node.id) ?? [];
    this.#byTask.delete(node.id);
    if (canGoOn(node)) return;
    // An attempt may go on in the workspace of an earlier one: what counts is how the last of them ended.
    const last = new Map(workspaces.map((workspace) => [workspace.name, workspace]));
    for (const { name, isCollected } of last.values()) {
      if (isCollected) await this.#stages.workspaces.remove(name);
    }
    // What did not succeed may be tried again, and then remembers.
    if (node.session && node.state === 'done')
      await tryRemoveTree(this.#stages.home.memory(this.#run, node.id));
  }
}
