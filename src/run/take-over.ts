/**
 * Takes over a run from an engine that ended before the run did: what its attempts left becomes snapshots, workspaces
 * that are still of use are made known, and the others go.
 */
import type { Stages } from '../attempt/attempt.ts';
import { attemptRef, collect } from '../collect/collect.ts';
import { BosunError } from '../contract/errors.ts';
import type { Fact } from '../contract/event.ts';
import type { Collected } from '../contract/run.ts';
import { workspaceId } from '../attempt/run-attempt.ts';
import { joinBases } from '../merge/merge.ts';
import { agentScope, globsOfPeople } from '../schedule/workflow/agent-of.ts';
import { canGoOn } from '../schedule/fold/session.ts';
import { withGranted } from '../schedule/workflow/scope-of.ts';
import { hasEnded, type Node, type State } from '../schedule/state.ts';
import { newestOf } from '../workspace/name.ts';
import type { BaseOptions } from '../workspace/workspace.ts';
import type { KnownWorkspace } from './task-workspaces.ts';

interface Heir {
  know(task: string, workspace: KnownWorkspace): void;
  /** Takes work that goes on in the background. */
  follow(work: Promise<void>): void;
}

/** Gives the ends of attempts that the earlier engine began and did not end. */
export async function takeOver(state: State, stages: Stages, atMs: number, heir: Heir): Promise<Fact[]> {
  const names = await stages.workspaces.names();
  const lost: Promise<Fact>[] = [];
  for (const node of state.nodes.values()) {
    const { workspace, workspaceBase } = node;
    const isThere = workspace !== undefined && names.includes(workspace);
    if (node.state === 'running') lost.push(snapshotLost(state, stages, node, names, atMs, heir));
    else if (isThere && hasEnded(node) && node.isCollected && !canGoOn(node))
      heir.follow(stages.workspaces.remove(workspace));
    else if (isThere && (!hasEnded(node) || canGoOn(node))) {
      const attempt = node.next?.continues ?? node.started?.continues ?? node.attempt;
      const isCollected = node.isCollected ?? false;
      heir.know(node.id, { name: workspace, base: workspaceBase!, attempt, isCollected });
    }
    removeOlder(state, stages, node, names, heir);
  }
  return Promise.all(lost);
}

/** Workspaces of earlier attempts whose snapshots are there: the engine died before it took them away. */
function removeOlder(
  state: State,
  { git, workspaces }: Stages,
  node: Node,
  names: string[],
  heir: Heir,
): void {
  // One that was made ahead of its attempt is empty.
  const unused = node.attempt === 0 && newestOf(names, workspaceId(state.id, node.id, 1));
  if (unused) heir.follow(workspaces.remove(unused));
  for (let attempt = 1; attempt < node.attempt; attempt++) {
    const name = newestOf(names, workspaceId(state.id, node.id, attempt));
    if (name === undefined || name === node.workspace || attempt === node.next?.continues) continue;
    if (git.hasRef(attemptRef(state.id, node.id, attempt))) heir.follow(workspaces.remove(name));
  }
}

async function snapshotLost(
  state: State,
  { workspaces, git }: Stages,
  node: Node,
  names: string[],
  atMs: number,
  heir: Heir,
): Promise<Fact> {
  const lost: Fact = {
    type: 'attempt.finished',
    task: node.id,
    attempt: node.attempt,
    outcome: { kind: 'lost' },
    durationMs: Math.max(0, state.lastAtMs - (node.attemptAtMs ?? state.lastAtMs)),
  };
  // The engine may have died before the journal knew of the workspace: then it is found by its name.
  const name = node.workspace ?? newestOf(names, workspaceId(state.id, node.id, node.attempt));
  if (name === undefined) return lost;
  const commit =
    node.workspaceBase ?? (await joinBases(git, node.started!.from, state.shadow)) ?? state.shadow;
  const { purpose } = node.started!;
  let collected: Omit<Collected, 'artifacts'>;
  try {
    const workspace = await workspaces.open(name, await workspaces.base(commit, workspaceOptions(node)));
    if (!workspace) return lost;
    collected = await collect({
      git,
      changes: await workspace.changes(),
      scope: {
        ...withGranted(agentScope(node, purpose), node.granted),
        named: globsOfPeople(node, purpose),
      },
      parent: commit,
      published: node.published,
      ref: attemptRef(state.id, node.id, node.attempt),
      message: `${node.id}: attempt ${node.attempt} (lost)\n`,
      atMs,
    });
  } catch (error) {
    // A run must be able to go on, or to end, also where this work cannot be read now; its workspace stays.
    if (error instanceof BosunError) return lost;
    throw error;
  }
  // One that went on in the workspace of an earlier attempt will do so again.
  const attempt = node.started!.continues ?? node.attempt;
  heir.know(node.id, { name, base: commit, attempt, isCollected: true });
  return { ...lost, collected: { ...collected, artifacts: [] } };
}

function workspaceOptions(node: Node): BaseOptions {
  const options = node.task.workspace ?? node.workflow.workspace ?? {};
  const { hide = [] } = agentScope(node, node.started?.purpose ?? 'work');
  return options === 'none' ? {} : { ...options, hide };
}
