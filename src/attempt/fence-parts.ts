/**
 * Which parts of a workspace an attempt may write, which are covered, and what it may read beside it: from scopes and
 * from what is in the tree. The fence around them is drawn in `surroundings.ts`.
 */
import { BosunError } from '../contract/errors.ts';
import type { Agent, Scope } from '../contract/workflow.ts';
import { readPath, showsHidden } from '../definition/check/reads.ts';
import type { RuntimeDescriptor } from '../runtime/descriptor.ts';
import { directoriesOf, writableParts } from '../sandbox/policy.ts';
import type { Fence } from '../system/process/fence.ts';
import type { Workspace } from '../workspace/workspace.ts';

export type WorkspaceParts = Pick<Fence, 'write' | 'keep' | 'grantable' | 'mask' | 'empty'>;

export interface AskedParts {
  scope: Scope;
  /** Beyond the scope, by asking for it. */
  granted: readonly string[];
  runtime: RuntimeDescriptor;
  agent: Agent | undefined;
  isFenced: boolean;
}

export const NO_PARTS: WorkspaceParts = { write: [], keep: [], grantable: [], mask: [] };
export const ALL_PARTS: WorkspaceParts = { ...NO_PARTS, write: [''] };

/** What of the workspace may be written, and what may become so. */
export async function partsOf(workspace: Workspace, asked: AskedParts): Promise<WorkspaceParts> {
  const { write, shared = [], grant } = asked.scope;
  const settings = await coveredSettings(workspace, asked);
  const mask = [...(await maskOf(workspace)), ...settings.mask];
  const covered = { mask, empty: settings.empty };
  if (write === undefined) return { ...ALL_PARTS, ...covered };
  const tree = await workspace.tree();
  const grantable = Array.isArray(grant)
    ? directoriesOf(grant, tree).filter((path) => path !== '' && tree.kindOf(path) === 'directory')
    : [];
  return { ...writableParts([...write, ...shared, ...asked.granted], tree), grantable, ...covered };
}

/** What is there of what is hidden: an agent may have removed some. */
export async function maskOf(workspace: Workspace): Promise<string[]> {
  const { mask } = workspace.base;
  if (mask.length === 0) return [];
  const tree = await workspace.tree();
  return mask.flatMap((file) => {
    const kind = tree.kindOf(file);
    return kind === undefined ? [] : [kind === 'directory' ? `${file}/` : file];
  });
}

/** The task may hide what its agent may read: only here are both known. */
export function readableAt(entry: string, scope: Scope, top: string): string {
  const file = readPath(entry, top);
  const why = showsHidden(file, scope, top);
  if (why !== undefined) throw new BosunError('invalid-workflow', `"${entry}" in "scope.read" ${why}`);
  return file;
}

/** A link could not be covered, and would lead to settings elsewhere. Some programs fail at a directory that they cannot enter. */
async function coveredSettings(
  workspace: Workspace,
  { runtime, agent, isFenced }: AskedParts,
): Promise<{ mask: string[]; empty: string[] }> {
  const names = runtime.obeys(agent);
  const mask: string[] = [];
  const empty: string[] = [];
  if (names.length === 0 || !isFenced) return { mask, empty };
  const tree = await workspace.tree();
  for (const name of names) {
    const kind = tree.kindOf(name);
    if (kind === 'link')
      throw new BosunError(
        'system',
        `${name} of the repository is a symbolic link, and ${runtime.name} would obey the settings that it leads to; make it a file or a directory, which can be covered, or take it away`,
      );
    if (kind !== undefined) (kind === 'directory' ? empty : mask).push(name);
  }
  return { mask, empty };
}
