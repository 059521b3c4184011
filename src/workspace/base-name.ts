/** Names of bases, of the checkouts that they lie on, and of what is not yet one. */
import { createHash, randomBytes } from 'node:crypto';
import { isAlive } from '../system/process/is-alive.ts';

/** What is to be checked out: a commit, or what may be seen of it. */
export interface View {
  commit: string;
  hide: string[];
  name: string;
}

/** Neither the order of the globs nor one given twice makes another view. */
export function viewOf(commit: string, globs: readonly string[]): View {
  const hide = [...new Set(globs)].sort();
  return { commit, hide, name: hide.length === 0 ? commit : `${commit}+${hashOf(hide)}` };
}

/** The checkout that a base is, or lies on. */
export function checkoutOf(name: string): string {
  return name.split('-')[0]!;
}

export function commitOfBase(name: string): string {
  return name.split(/[-+]/)[0]!;
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

/** Names the process, so that what it left unfinished is known once it is gone. */
export function freshName(): string {
  return `.new-${process.pid}-${randomBytes(4).toString('hex')}`;
}

/** Whether a process that is gone left it unfinished. */
export function isLeftOver(name: string): boolean {
  return name.startsWith('.new-') && !isAlive(Number(name.split('-')[1]));
}
