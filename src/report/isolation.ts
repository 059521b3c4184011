/** What held a run's commands, in words that a person takes in at a glance. What did not hold is said loudly. */
import type { HeldLimits, Isolation } from '../contract/isolation.ts';
import { HISTORY_LIMITS } from '../schedule/history/limits.ts';
import { cutAndCount } from '../base/cut-text.ts';

/** A line or two, and a note for each thing that is weaker than it could be. */
export function isolationLines(isolations: readonly Isolation[], hasStarted: boolean): string[] {
  const last = isolations.at(-1);
  if (last === undefined)
    return hasStarted ? ['NOT FENCED, as far as is known: what held was not written down'] : [];
  const earlier = isolations.slice(0, -1).toReversed();
  // What was not fenced comes first, whenever it was.
  const lines = [
    ...[last].map(describeIsolation),
    ...earlier.map((each) => `before it was resumed: ${describeIsolation(each)}`),
  ].sort((a, b) => Number(b.includes('NOT FENCED')) - Number(a.includes('NOT FENCED')));
  return [...lines, ...last.notes].map((line) => cutAndCount(line, HISTORY_LIMITS.messageChars));
}

export function describeIsolation(isolation: Isolation): string {
  const { kind, uid, limits, lacks } = isolation;
  if (kind === 'fences') {
    const parts = ['bubblewrap', 'own network', ...(uid === undefined ? [] : [`user ${uid}`])];
    return `fenced: ${parts.join(', ')}${limits === undefined ? '' : `; ${describeLimits(limits)}`}`;
  }
  if (kind === 'macos') return 'fenced by sandbox-exec, untested; no limits are held';
  const all = `commands can read, write and reach all that ${uid === undefined ? 'you' : `user ${uid}`} can, and no limits are held`;
  const tree = kind === 'namespaces' ? '; process trees are held' : '';
  return `NOT FENCED: ${lacks ?? 'it is not known why'}; ${all}${tree}`;
}

const HOLDERS = {
  cgroup: 'held by a cgroup',
  prlimit: 'held by the kernel',
  watchdog: 'watched every 50 ms',
};

/** Such as "memory and cpu watched every 50 ms, processes and open files held by the kernel, disk watched". */
export function describeLimits(limits: HeldLimits): string {
  const by = new Map<keyof typeof HOLDERS, string[]>();
  for (const limit of ['memory', 'cpu', 'processes', 'open files'] as const)
    by.set(limits[limit], [...(by.get(limits[limit]) ?? []), limit]);
  const parts = [...by].map(([holder, names]) => `${inWords(names)} ${HOLDERS[holder]}`);
  return [...parts, 'disk watched'].join(', ');
}

function inWords(names: string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
