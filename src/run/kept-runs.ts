/**
 * The runs that have left something beside the journal: branches, snapshots, reports, workspaces. A journal may be
 * damaged or moved aside; what it knew of is still there and must not be written over. Reads names alone.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Home } from '../store/home.ts';
import { namesIn } from '../system/files/names-in.ts';

const BRANCHES = 'refs/heads/bosun/';
const SNAPSHOTS = 'refs/bosun/';

/** The runs whose branches are in the engine's git directory. */
export function keptBranches(home: Home): string[] {
  const packed = packedRefs(home).flatMap((ref) =>
    ref.startsWith(BRANCHES) ? [ref.slice(BRANCHES.length)] : [],
  );
  return [...new Set([...namesIn(path.join(home.git, BRANCHES)), ...packed])];
}

/** The highest number that a run of this workflow ever had, as far as anything tells. */
export function lastNumberOf(home: Home, workflow: string): number {
  const start = `${workflow}-`;
  const ids = [
    ...keptBranches(home),
    ...namesIn(path.join(home.git, SNAPSHOTS)),
    ...packedRefs(home).flatMap((ref) => (ref.startsWith(SNAPSHOTS) ? [ref.split('/')[2]!] : [])),
    ...namesIn(home.runs),
    // `<run>.<task>`, and with `agent-` in front of it
    ...namesIn(home.memories).map((name) => name.split('.')[0]!),
    ...[...namesIn(home.layers), ...namesIn(home.workspaces)].map(
      (name) => name.replace(/^agent-/, '').split('.')[0]!,
    ),
  ];
  let last = 0;
  for (const id of ids) {
    const number = id.startsWith(start) ? id.slice(start.length) : '';
    if (/^\d{1,15}$/.test(number)) last = Math.max(last, Number(number));
  }
  return last;
}

/** Ours are files; somebody may have packed them. */
function packedRefs(home: Home): string[] {
  try {
    const lines = readFileSync(path.join(home.git, 'packed-refs'), 'utf8').split('\n');
    return lines.map((line) => line.split(' ')[1] ?? '');
  } catch {
    return [];
  }
}
