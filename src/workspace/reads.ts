/** Lets a command read more of the machine, behind a fence or without one. */
import type { EngineGit } from '../system/git/engine-git.ts';
import type { Launch } from '../system/process/process.ts';
import type { Base } from './workspace.ts';

export function withReads<T extends Pick<Launch, 'fence' | 'reads'>>(launch: T, more: readonly string[]): T {
  const { fence, reads = [] } = launch;
  if (fence === undefined) return { ...launch, reads: [...reads, ...more] };
  return { ...launch, fence: { ...fence, read: [...fence.read, ...more] } };
}

/** What the git directory of a workspace borrows; nothing where something is hidden, for it could be found there. */
export function objectsFor({ hide }: Base, engine: EngineGit): string[] {
  return hide.length > 0 ? [] : engine.objectDirectories;
}
