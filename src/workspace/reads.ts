/** Lets a command read more of the machine, behind a fence or without one. */
import type { Launch } from '../system/process.ts';

export function withReads<T extends Pick<Launch, 'fence' | 'reads'>>(launch: T, more: readonly string[]): T {
  const { fence, reads = [] } = launch;
  if (fence === undefined) return { ...launch, reads: [...reads, ...more] };
  return { ...launch, fence: { ...fence, read: [...fence.read, ...more] } };
}
