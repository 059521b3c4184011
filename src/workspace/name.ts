/** Names of workspaces: `agent-{id}-{timestamp}`. */
import { fileName } from '../base/file-name.ts';

/** The timestamp is UTC to the millisecond, without punctuation: `20260102T030405678Z`. */
export function workspaceName(id: string, atMs: number): string {
  return `agent-${fileName(id)}-${new Date(atMs).toISOString().replace(/[-:.]/g, '')}`;
}

/** The newest of the names that were made for this id. */
export function newestOf(names: readonly string[], id: string): string | undefined {
  const start = `agent-${fileName(id)}-`;
  return names
    .filter((name) => name.startsWith(start) && name.length === start.length + 19 && isWorkspaceName(name))
    .toSorted()
    .at(-1);
}

/** Whether it may be one of this run: long names are cut. */
export function mayBeOf(name: string, run: string): boolean {
  return name.startsWith(`agent-${run}.`.slice(0, 70));
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
