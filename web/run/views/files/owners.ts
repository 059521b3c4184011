/** Who owns which files of a run: agents with a write scope, each with a letter and a hue. Pure. */
import { compileGlobs } from '../../../../src/base/globs.ts';
import type { TaskAt } from '../../../film/run-at.ts';

export interface Owner {
  /** `A` to `Z`, then `AA`. */
  letter: string;
  /** One of eight. */
  hue: number;
  /** What people call it: its agent, or its task. */
  name: string;
  globs: readonly string[];
  /** The tasks in which it works. */
  tasks: readonly string[];
  owns(path: string): boolean;
}

const HUES = 8;
const GLOBS_MAX = 200;

/** Of tasks that write the same files for the same agent, one. A scope that names no files owns none. */
export function ownersOf(tasks: readonly TaskAt[]): Owner[] {
  const groups = new Map<string, { name: string; globs: string[]; tasks: string[] }>();
  for (const { facts } of tasks) {
    const { write, shared = [] } = facts.scope ?? {};
    const globs = [...(write ?? []), ...shared].slice(0, GLOBS_MAX);
    if (globs.length === 0 || (facts.kind !== 'work' && facts.kind !== 'continuous')) continue;
    const key = JSON.stringify([facts.agent ?? facts.id, globs]);
    const known = groups.get(key);
    if (known) known.tasks.push(facts.id);
    else groups.set(key, { name: facts.agent ?? facts.label, globs, tasks: [facts.id] });
  }
  return [...groups.values()].map((group, n) => ({
    ...group,
    letter: letterOf(n),
    hue: n % HUES,
    owns: matcherOf(group.globs),
  }));
}

/** Of globs with expressions in them nobody knows what they stand for: they match nothing here. */
function matcherOf(globs: readonly string[]): (path: string) => boolean {
  try {
    return compileGlobs(globs.filter((glob) => !glob.includes('${{')));
  } catch {
    return () => false;
  }
}

function letterOf(n: number): string {
  const last = String.fromCodePoint(65 + (n % 26));
  return n < 26 ? last : letterOf(Math.floor(n / 26) - 1) + last;
}
