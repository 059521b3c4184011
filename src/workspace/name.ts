/** Names of workspaces: `agent-{id}-{timestamp}`. */
import { createHash } from 'node:crypto';

const ID_CHARS_MAX = 80;

/** The timestamp is UTC to the millisecond, without punctuation: `20260102T030405678Z`. */
export function workspaceName(id: string, atMs: number): string {
  return `agent-${tame(id)}-${new Date(atMs).toISOString().replace(/[-:.]/g, '')}`;
}

/** The newest of the names that were made for this id. */
export function newestOf(names: readonly string[], id: string): string | undefined {
  const start = `agent-${tame(id)}-`;
  return names
    .filter((name) => isWorkspaceName(name) && name.startsWith(start) && name.length === start.length + 19)
    .toSorted()
    .at(-1);
}

/** Different ids stay different: what a file name cannot hold, or not in full, is told apart by a hash. */
function tame(id: string): string {
  const plain = id.replace(/[^A-Za-z0-9._-]+/g, '-');
  if (plain === id && id.length <= ID_CHARS_MAX) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 8);
  return `${plain.slice(0, ID_CHARS_MAX - 9)}-${hash}`;
}

export function isWorkspaceName(name: string): boolean {
  return /^agent-[A-Za-z0-9._-]*-\d{8}T\d{9}Z$/.test(name);
}

export function createdAtMs(name: string): number {
  const match = /-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/.exec(name);
  if (match === null) return 0;
  const [year, month, day, hour, minute, second, ms] = match.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return Date.UTC(year, month - 1, day, hour, minute, second, ms);
}
